"""One Hebbian event: clocks advance, links between what fired are strengthened, degrees are held."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from helamem_core.dynamics import plasticity
from helamem_core.dynamics.scoring import ranked
from helamem_core.records import CueRecord, Reinforcement
from helamem_core.stores.sqlite import casts, degrees, erase, links, spaces, weights
from helamem_core.stores.sqlite.cache import Cache
from helamem_core.stores.sqlite.cues import Cues
from helamem_core.stores.sqlite.scores import best, product
from helamem_core.stores.sqlite.spaces import Held, SpaceRow
from helamem_core.stores.statements import statements
from helamem_core.types import ReinforceReport

SQL, REMEMBER, UPDATE = statements("reinforce"), statements("remember"), statements("update")
Key = tuple[str, int, int]


class CueRow(NamedTuple):
    """What called for the memories: a cue of its own, or one of the turns."""

    number: int
    id: str
    text: str | None
    embedded: int
    fires: int


class Touched(NamedTuple):
    """A link that is there already: the weight it brings, how often it was strengthened, since when."""

    weight: float
    times: int
    since: float


def reinforce(db: sqlite3.Connection, cache: Cache, space: str, event: Reinforcement) -> ReinforceReport:
    """Apply one event, unless it was applied before."""
    cue = event.cue
    here, cues = cache.cues(db, space) if isinstance(cue, CueRecord) else (spaces.find(db, space), None)
    asked = [*event.ids, cue] if isinstance(cue, str) else event.ids
    there = {item.id: item for item in spaces.need(db, space, here, asked, event.now)}
    event = event.for_model(None if here is None else here.embedder)
    cue = event.cue
    if here is None:
        return ReinforceReport(True, cue=cue.id if isinstance(cue, CueRecord) else None)
    if _applied(db, here, event):
        return ReinforceReport(applied=False)
    used = [there[id] for id in event.ids]
    caller: Held | CueRow | None
    if isinstance(cue, CueRecord):
        assert cues is not None
        caller = _cue(db, here, cue, cues, event)
    else:
        caller = there[cue] if cue is not None else None
    return _fire(db, here, used, caller, event)


def _applied(db: sqlite3.Connection, here: SpaceRow, event: Reinforcement) -> bool:
    horizon = event.now - event.config.limits.event_retention
    if db.execute(SQL["forget_events"], {"space": here.key, "horizon": horizon}).rowcount:
        erase.note(db)
    if event.event is None:
        return False
    noted = db.execute(SQL["event"], {"space": here.key, "id": event.event, "now": event.now})
    return noted.rowcount == 0


def _fire(
    db: sqlite3.Connection, here: SpaceRow, used: Sequence[Held], caller: Held | CueRow | None, event: Reinforcement
) -> ReinforceReport:
    settings = event.config.plasticity
    db.execute(SQL["step"], {"space": here.key})
    numbers = {item.id: item.number for item in used}
    paired: list[Key] = [("ASSOCIATED", numbers[a], numbers[b]) for a, b in plasticity.pairs(event.ids)]
    cued: list[Key] = []
    if caller is not None:
        cued = [("CUED", caller.number, item.number) for item in used if item.number != caller.number]
    fires = {item.number: item.fires for item in ([*used, caller] if caller is not None else used)}
    held = _held(db, here, fires, list(numbers.values()), caller, event)
    _count(db, here, list(numbers.values()), caller, event, asking=bool(cued))
    fired = [number for number in fires if not (isinstance(caller, CueRow) and number == caller.number)]
    rows = []
    for key in paired + cued:
        kind, source, target = key
        touched = held.get(key, Touched(0.0, 0, event.now))
        rate = settings.rate if kind == "ASSOCIATED" else settings.cue_rate
        weight = float(plasticity.strengthened(touched.weight, rate, settings))
        clocks = (here.steps + 1, fires[source] + 1, fires[target] + 1)
        rows.append((here.key, *key, weight, *clocks, touched.times + 1, touched.since, event.now))
    db.executemany(REMEMBER["link"], rows)
    cut = degrees.hold(db, here, fires, here.steps + 1, event.config)
    links.changing(db, here, {*fired, *cut})
    return ReinforceReport(True, len(paired), len(cued), None if caller is None else caller.id)


def _held(
    db: sqlite3.Connection,
    here: SpaceRow,
    fires: dict[int, int],
    numbers: list[int],
    caller: Held | CueRow | None,
    event: Reinforcement,
) -> dict[Key, Touched]:
    """Return the living links among what fires, as they stand before it fires."""
    cue = -1 if caller is None else caller.number
    asked = {"space": here.key, "numbers": json.dumps(numbers), "cue": cue}
    rows = db.execute(SQL["held"], asked).fetchall()
    clocks = [(kind, *row, fires[source], fires[target]) for kind, source, target, *row, _, _ in rows]
    now = weights.carried(clocks, here.steps + 1, event.config)
    return {
        (row[0], row[1], row[2]): Touched(weight, row[7], row[8])
        for row, weight in zip(rows, now, strict=True)
        if weight > 0
    }


def _count(
    db: sqlite3.Connection,
    here: SpaceRow,
    numbers: list[int],
    caller: Held | CueRow | None,
    event: Reinforcement,
    *,
    asking: bool,
) -> None:
    """Advance the clock of everything that fired, once."""
    db.execute(SQL["use"], {"space": here.key, "numbers": json.dumps(numbers), "now": event.now})
    if isinstance(caller, CueRow):
        db.execute(SQL["fire_cue"], {"number": caller.number, "now": event.now})
    elif caller is not None:
        if caller.number not in numbers:
            db.execute(SQL["fire_turn"], {"number": caller.number})
        if asking and not db.execute(SQL["is_asking"], {"number": caller.number}).fetchone()[0]:
            spaces.advance(db, here)
            db.execute(SQL["asks"], {"space": here.key, "number": caller.number})


def _cue(db: sqlite3.Connection, here: SpaceRow, cue: CueRecord, cues: Cues, event: Reinforcement) -> CueRow:
    """Return the cue's row: its own, that of a near-identical one, or a new one in place of the longest unused."""
    row = db.execute(SQL["cue"], {"space": here.key, "id": cue.id}).fetchone()
    if row is not None:
        return _renewed(db, here, CueRow(*row), cue)
    near = _nearest(cues, cue, event)
    if near is not None:
        return CueRow(*db.execute(SQL["cue_by_number"], {"space": here.key, "number": near}).fetchone())
    spaces.advance(db, here)
    (number,) = spaces.take_numbers(db, 1)
    fresh = CueRow(number, cue.id, cue.text, int(cue.vector is not None), 0)
    asked = {"number": number, "space": here.key, "id": cue.id, "text": cue.text, "now": event.now}
    db.execute(SQL["new_cue"], asked | {"embedded": fresh.embedded})
    if cue.vector is not None:
        db.execute(REMEMBER["vector"], (number, casts.blob(cue.vector)))
    if db.execute(SQL["count_cues"], {"space": here.key}).fetchone()[0] > event.config.limits.max_cues:
        oldest = db.execute(SQL["oldest_cue"], {"space": here.key, "number": number}).fetchone()[0]
        erase.drop_cues(db, here, [oldest])
    return fresh


def _renewed(db: sqlite3.Connection, here: SpaceRow, held: CueRow, cue: CueRecord) -> CueRow:
    vector = None if held.embedded else cue.vector
    if held.text not in (None, cue.text):
        erase.note(db)
    if held.text != cue.text or vector is not None:
        spaces.advance(db, here)
        embedded = int(held.embedded or vector is not None)
        asked = {"space": here.key, "number": held.number, "text": cue.text, "embedded": embedded}
        db.execute(SQL["renew_cue"], asked)
    if vector is not None:
        db.execute(REMEMBER["vector"], (held.number, casts.blob(vector)))
    return held


def _nearest(cues: Cues, cue: CueRecord, event: Reinforcement) -> int | None:
    """Return the number of the earlier cue that this one is taken for."""
    if cue.vector is None or cues.vectors.shape[1] != len(cue.vector) or not cues.alive.any():
        return None
    likeness = cues.vectors @ cue.vector.astype(np.float32)
    near = best(likeness, cues.alive, 1).tolist()
    exact = {at: product(cues.vectors[at], cue.vector) for at in near}
    nearest = min(near, key=lambda at: ranked(exact[at], cues.ids[at]))
    return cues.numbers[nearest] if exact[nearest] >= event.config.limits.cue_merge else None
