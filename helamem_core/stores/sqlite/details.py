"""What only some queries read of a memory, fetched when it is first needed: fields for filters, and keywords."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from helamem_core.dynamics import scoring
from helamem_core.filters import Node as Filter
from helamem_core.filters import matches
from helamem_core.stores.sqlite.columns import Ints, Mask, Rows
from helamem_core.stores.statements import statements

SQL = statements("columns")
_FILTERS = 16  # answers to so many filters are kept
_RECORD_BYTES = 700


@dataclass(slots=True)
class Answers:
    """A filter's answers by slot, as far as they are known."""

    known: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    holds: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def grow(self, size: int) -> None:
        """Make room for more slots."""
        if len(self.known) < size:
            more = np.zeros(size - len(self.known), dtype=np.bool_)
            self.known, self.holds = np.concatenate([self.known, more]), np.concatenate([self.holds, more])


@dataclass(slots=True)
class Details:
    """By slot of the columns; a slot never changes, so neither does what is known of it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    records: dict[int, dict[str, Any]] = field(default_factory=dict)
    keywords: dict[int, frozenset[str]] = field(default_factory=dict)
    answers: OrderedDict[str, Answers] = field(default_factory=OrderedDict)

    @property
    def nbytes(self) -> int:
        """Memory in use, roughly."""
        return (len(self.records) + len(self.keywords)) * _RECORD_BYTES

    def matching(self, db: sqlite3.Connection, space: int, rows: Rows, among: Mask, filter: Filter) -> Mask:
        """Return which of the slots `among` fulfil a filter."""
        with self.lock:
            key = repr(filter)  # 1, 1.0 and True are equal, but ask for different things
            known = self.answers.setdefault(key, Answers())
            self.answers.move_to_end(key)
            if len(self.answers) > _FILTERS:
                self.answers.popitem(last=False)
            known.grow(len(rows.alive))
            size = len(rows.alive)
            missing = np.flatnonzero(among & ~known.known[:size])
            self._read_records(db, space, rows, missing)
            for slot in missing.tolist():
                known.holds[slot] = matches(filter, self.records[slot])
            known.known[missing] = True
            return among & known.holds[:size]

    def overlap(self, db: sqlite3.Connection, space: int, rows: Rows, asked: tuple[str, ...]) -> list[float]:
        """Return the share of the asked keywords that each alive slot has, 0 for the others."""
        with self.lock:
            alive = np.flatnonzero(rows.alive)
            self._read_keywords(db, space, rows, alive)
            shares = [0.0] * len(rows.alive)
            for slot in alive.tolist():
                shares[slot] = scoring.overlap(asked, self.keywords[slot])
            return shares

    def _read_records(self, db: sqlite3.Connection, space: int, rows: Rows, slots: Ints) -> None:
        for slot, (role, speaker, session, metadata) in _fetch(db, "filterable", space, rows, slots, self.records):
            self.records[slot] = {
                "id": rows.ids[slot],
                "role": role,
                "speaker": speaker,
                "session": session,
                "at": float(rows.at[slot]),
                "metadata": json.loads(metadata),
            }

    def _read_keywords(self, db: sqlite3.Connection, space: int, rows: Rows, slots: Ints) -> None:
        for slot, (keywords,) in _fetch(db, "keywords", space, rows, slots, self.keywords):
            self.keywords[slot] = frozenset(json.loads(keywords))


def _fetch(
    db: sqlite3.Connection, statement: str, space: int, rows: Rows, slots: Ints, held: dict[int, Any]
) -> list[tuple[int, tuple[Any, ...]]]:
    """Return those rows of slots that are not held yet."""
    missing = {int(rows.numbers[slot]): slot for slot in slots.tolist() if slot not in held}
    if not missing:
        return []
    found = db.execute(SQL[statement], {"space": space, "numbers": json.dumps(list(missing))})
    return [(missing[number], tuple(values)) for number, *values in found]
