"""Looking at a space: a memory's neighbours, counts, and whether all is consistent."""

from __future__ import annotations

import sqlite3
from typing import Any

from helamem_core.config import Config
from helamem_core.dynamics.scoring import ranked
from helamem_core.stores import rows
from helamem_core.stores.sqlite import spaces, weights
from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.statements import statements
from helamem_core.types import Neighbour, Stats

SQL, STATS, CHECK, CONNECTION = (statements(stem) for stem in ("neighbours", "stats", "check", "connection"))
REINFORCE, FADE = statements("reinforce"), statements("fade")

_SENTENCES = {
    "lost_links": "{} links have a dead end",
    "lost_previous": "{} memories follow one that is gone",
    "words": "{} memories are not indexed by their words",
    "lost_words": "{} index entries belong to no memory",
    "vectors": "{} memories or cues lack their vector, or have one of another width than the model's",
    "lost_vectors": "{} vectors belong to nothing",
}


def neighbours(db: sqlite3.Connection, space: str, id: str, now: float, config: Config) -> list[Neighbour]:
    """Return a memory's or cue's living links, the strongest first."""
    here = spaces.find(db, space)
    cue = None if here is None else db.execute(REINFORCE["cue"], {"space": here.key, "id": id}).fetchone()
    number = cue[0] if cue is not None else spaces.need(db, space, here, [id], now)[0].number
    assert here is not None
    found = _links(db, here, number, now, config) + _sequence(db, number, now)
    return sorted(found, key=lambda item: (*ranked(item.weight, item.kind), item.id))


def _links(db: sqlite3.Connection, here: SpaceRow, number: int, now: float, config: Config) -> list[Neighbour]:
    found: list[Any] = db.execute(SQL["links"], {"space": here.key, "number": number}).fetchall()
    living = weights.current([row[4:11] for row in found], here.steps, config)
    return [
        Neighbour(
            id=row[0],
            text=row[1] or "",
            kind=row[4],
            outgoing=bool(row[3]),
            weight=weight,
            count=row[11],
            since=rows.moment(row[12]),
            last_at=rows.moment(row[13]),
        )
        for row, weight in zip(found, living, strict=True)
        if weight > 0 and (row[2] is None or row[2] > now)
    ]


def _sequence(db: sqlite3.Connection, number: int, now: float) -> list[Neighbour]:
    return [
        Neighbour(id, text, "NEXT", bool(outgoing), 1.0, 0, rows.moment(since), None)
        for id, text, expires_at, outgoing, since in db.execute(SQL["sequence"], {"number": number})
        if expires_at is None or expires_at > now
    ]


def stats(db: sqlite3.Connection, space: str, now: float, config: Config) -> Stats:
    """Return counts of the space."""
    here = spaces.find(db, space)
    if here is None:
        return Stats(0, 0, 0, dict.fromkeys(("NEXT", "ASSOCIATED", "CUED", "SIMILAR"), 0), 0, 0, 0, 0, None)
    asked = {"space": here.key, "now": now}
    memories, archived, sessions, following, pending = db.execute(STATS["episodes"], asked).fetchone()
    cues, pending_cues = db.execute(STATS["cues"], {"space": here.key}).fetchone()
    links = {"NEXT": following, "ASSOCIATED": 0, "CUED": 0, "SIMILAR": 0}
    found: list[Any] = db.execute(FADE["links"], {"space": here.key}).fetchall()
    for row, weight in zip(found, weights.current([row[2:] for row in found], here.steps, config), strict=True):
        links[row[2]] += weight > 0
    return Stats(
        memories=memories,
        archived=archived,
        unembedded=pending + pending_cues,
        links=links,
        cues=cues,
        sessions=sessions,
        terms=db.execute(STATS["terms"], asked).fetchone()[0],
        steps=here.steps,
        embedder=here.embedder,
    )


def check(db: sqlite3.Connection) -> list[str]:
    """Return what is inconsistent, one sentence each."""
    damage = [str(line) for (line,) in db.execute(CONNECTION["integrity"]) if line != "ok"]
    found = [f"the file is damaged: {line}" for line in damage]
    for name, fault in _SENTENCES.items():
        found += [f"space {space!r}: {fault.format(count)}" for space, count in db.execute(CHECK[name])]
    return found
