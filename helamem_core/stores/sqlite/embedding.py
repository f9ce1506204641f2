"""Vectors that come later than their texts, and the change to another model."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from helamem_core.records import Embedded, Pending
from helamem_core.stores.sqlite import casts, erase, links, spaces
from helamem_core.stores.statements import statements
from helamem_core.types import EmbedderIdentity

SQL, REMEMBER, SPACES = statements("embed"), statements("remember"), statements("spaces")
SIMILAR = statements("link_similar")
_ALL = 2**61


def pending(db: sqlite3.Connection, space: str, limit: int, offset: int) -> list[Pending]:
    """Return texts that wait for a vector."""
    here = spaces.find(db, space)
    return [] if here is None else _texts(db, "pending", {"space": here.key}, limit, offset)


def unstaged(db: sqlite3.Connection, space: str, embedder: EmbedderIdentity, limit: int, offset: int) -> list[Pending]:
    """Return texts that have no staged vector of this model."""
    here = spaces.find(db, space)
    asked = spaces.model_of(embedder)
    return [] if here is None else _texts(db, "unstaged", asked | {"space": here.key}, limit, offset)


def _texts(
    db: sqlite3.Connection, which: str, asked: dict[str, str | int | None], limit: int, offset: int
) -> list[Pending]:
    """Return a page of the memories and then the cues that wait."""
    page = {"limit": min(limit, _ALL), "offset": min(offset, _ALL)}
    found = [Pending("episode", *row) for row in db.execute(SQL[f"{which}_episodes"], asked | page)]
    passed = offset - int(db.execute(SQL[f"count_{which}"], asked).fetchone()[0]) if offset and not found else 0
    rest = {"limit": page["limit"] - len(found), "offset": min(max(0, passed), _ALL)}
    return found + [Pending("cue", *row) for row in db.execute(SQL[f"{which}_cues"], asked | rest)]


def embed(db: sqlite3.Connection, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> int:
    """Give vectors to texts that wait for one."""
    here = spaces.find(db, space)
    if here is None or not rows:
        return 0
    spaces.bind(db, here, embedder)
    spaces.advance(db, here)
    taken = 0
    for row in rows:
        held = db.execute(SQL[row.kind], {"space": here.key, "id": row.id}).fetchone()
        if held is None or held[2] or held[1] != row.text:
            continue
        db.execute(REMEMBER["vector"], (held[0], casts.blob(row.vector)))
        db.execute(SQL[f"{row.kind}_embedded"], {"space": here.key, "number": held[0]})
        taken += 1
    return taken


def stage(db: sqlite3.Connection, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> None:
    """Keep vectors of a new model beside the present ones."""
    here = spaces.find(db, space)
    if here is None:
        return
    model = tuple(spaces.model_of(embedder).values())
    for row in rows:
        held = db.execute(SQL[row.kind], {"space": here.key, "id": row.id}).fetchone()
        if held is not None and held[1] == row.text:
            db.execute(SQL["stage"], (held[0], here.key, *model, casts.blob(row.vector)))


def adopt(db: sqlite3.Connection, space: str, embedder: EmbedderIdentity) -> int:
    """Swap the staged vectors in; no cache survives it."""
    here = spaces.make(db, space)
    asked = {"space": here.key}
    db.execute(SPACES["start_anew"], asked)
    db.execute(SQL["drop_staged_others"], asked | spaces.model_of(embedder))
    erase.note(db)
    staged = int(db.execute(SQL["count_staged"], asked).fetchone()[0])
    mute = [number for (number,) in db.execute(SQL["textless_cues"], asked)]
    erase.drop_cues(db, here, mute)
    for statement in ("drop_episode_vectors", "drop_cue_vectors", "adopt", "mark_episodes", "mark_cues", "unstage"):
        db.execute(SQL[statement], asked)
    links.changing(db, here, None)
    db.execute(SIMILAR["clear"], asked)
    spaces.set_embedder(db, here, embedder)
    return staged
