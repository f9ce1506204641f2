"""Erasing: memories with all that belonged to them, cues, whole spaces, and at last their bytes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from helamem_core.stores.sqlite import links, spaces
from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.statements import statements
from helamem_core.types import ForgetReport

SQL, DROP, SPACES = statements("forget"), statements("drop_space"), statements("spaces")
_MOST_NOTES = 4096  # erased numbers kept for other processes' caches


def forget(db: sqlite3.Connection, space: str, ids: Sequence[str]) -> ForgetReport:
    """Remove memories, and cues that are named themselves."""
    here = spaces.find(db, space)
    if here is None:
        return ForgetReport(())
    report = erase(db, here, ids)
    wanted = dict.fromkeys(ids)
    asked = {"space": here.key, "ids": json.dumps(list(wanted))}
    # SQLite's JSON cuts a text at a NUL: what comes back must be what was asked.
    named = [number for number, id in db.execute(SQL["named_cues"], asked) if id in wanted]
    if not named:
        return report
    spaces.advance(db, spaces.make(db, space))
    dropped = drop_cues(db, here, named)
    return replace(report, links=report.links + dropped, cues=report.cues + len(named))


def erase(db: sqlite3.Connection, here: SpaceRow, ids: Iterable[str]) -> ForgetReport:
    """Remove memories, their links and index entries, and cues that led only to them."""
    gone = spaces.held(db, here, ids)
    if not gone:
        return ForgetReport(())
    spaces.advance(db, here)
    numbers = [item.number for item in gone.values()]
    asked = {"space": here.key, "numbers": json.dumps(numbers)}
    led = [number for (number,) in db.execute(SQL["sources"], asked)]
    each = [{"number": number, "space": here.key} for number in numbers]
    db.executemany(SQL["bridge"], each)
    dropped = _drop_links(db, asked)
    if dropped:
        links.changing(db, here, None)
    db.executemany(SQL["postings"], each)
    _drop_rows(db, here, "episodes", numbers)
    silent = {"space": here.key, "numbers": json.dumps(led)}
    db.execute(SQL["silence"], silent)
    orphans = [number for (number,) in db.execute(SQL["orphans"], silent)]
    drop_cues(db, here, orphans)
    return ForgetReport(tuple(gone), dropped, len(orphans))


def drop_cues(db: sqlite3.Connection, here: SpaceRow, numbers: Sequence[int]) -> int:
    """Remove cues with their links, and return how many links; the space's version must have been advanced."""
    if not numbers:
        return 0
    dropped = _drop_links(db, {"space": here.key, "numbers": json.dumps(numbers)})
    _drop_rows(db, here, "cues", numbers)
    return dropped


def note(db: sqlite3.Connection) -> None:
    """Note that content was erased or replaced: its bytes are to be purged."""
    db.execute(SPACES["erased"])


def drop_space(db: sqlite3.Connection, space: str) -> ForgetReport:
    """Remove a space with everything in it."""
    here = spaces.find(db, space)
    if here is None:
        return ForgetReport(())
    asked = {"space": here.key}
    ids = tuple(id for (id,) in db.execute(DROP["ids"], asked))
    dropped, cues = db.execute(DROP["counts"], asked).fetchone()
    clear(db, here)
    db.execute(SPACES["drop"], asked)
    return ForgetReport(ids, dropped, cues)


def clear(db: sqlite3.Connection, here: SpaceRow) -> None:
    """Empty a space."""
    note(db)
    for name, statement in DROP.items():
        if name.startswith("delete_"):
            db.execute(statement, {"space": here.key})


def _drop_links(db: sqlite3.Connection, asked: dict[str, Any]) -> int:
    return db.execute(SQL["links_from"], asked).rowcount + db.execute(SQL["links_to"], asked).rowcount


def _drop_rows(db: sqlite3.Connection, here: SpaceRow, table: str, numbers: Sequence[int]) -> None:
    note(db)
    asked = {"space": here.key, "numbers": json.dumps(numbers)}
    db.execute(SQL["vectors"], {"numbers": asked["numbers"]})
    db.execute(SQL["staged"], {"numbers": asked["numbers"]})
    db.execute(SQL[table], asked)
    db.execute(SQL["note"], asked)
    if db.execute(SQL["count_notes"], {"space": here.key}).fetchone()[0] > _MOST_NOTES:
        db.execute(SQL["drop_notes"], {"space": here.key})
        db.execute(SPACES["start_anew"], {"space": here.key})
