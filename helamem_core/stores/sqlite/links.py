"""The memory-memory links that recalls have walked, kept in memory as columns.

Recall divides by how many living links a neighbour has, so that it reads the links of every neighbour of a seed. What a
link weighs now follows from the clocks, which every reinforcement advances: kept are the links as they were touched and
how often their ends fired, and `relinked` names the nodes at which either has changed since.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from helamem_core.config import Config
from helamem_core.dynamics.spreading import rate
from helamem_core.stores.sqlite.columns import Floats, Ints, grown
from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.sqlite.weights import Clock, standing
from helamem_core.stores.statements import statements
from helamem_core.types import LinkKind

SQL = statements("links")
KINDS: tuple[LinkKind, ...] = ("ASSOCIATED", "SIMILAR")
"""By their code in these columns."""
SIMILAR = KINDS.index("SIMILAR")

_KEPT = 1024  # changes noted for caches
_FIRST = 1024  # places of a new column, and links read in vain that are never worth a fresh start
_PLACE_BYTES = 100  # of the dictionary, roughly
_LINKS = {"other": "i8", "kind": "i8", "weight": "f8", "step": "i8", "fires": "i8"}
_NODES = {"number": "i8", "now": "i8", "start": "i8", "end": "i8"}
_UNREAD = -1


def changing(db: sqlite3.Connection, here: SpaceRow, numbers: Iterable[int] | None) -> None:
    """Note that memory-memory links or clocks are about to change.

    Args:
        db: the transaction that changes them.
        here: the space.
        numbers: both ends of each such link, and each memory that fires; None: any.
    """
    asked = {"space": here.key}
    db.execute(SQL["count"], asked)
    if numbers is None:
        db.execute(SQL["start_anew"], asked)
    else:
        db.execute(SQL["note"], asked | {"numbers": json.dumps(list(numbers))})
        db.execute(SQL["drop_old"], asked | {"kept": _KEPT})


class Living(NamedTuple):
    """Living links of some memories as columns; `owner` is the position of the memory among those asked for."""

    owner: Ints
    other: Ints
    kind: Ints
    weight: Floats

    def at(self, places: Ints) -> Living:
        """Return those at some positions."""
        return Living(self.owner[places], self.other[places], self.kind[places], self.weight[places])

    def degrees(self, count: int) -> Ints:
        """Return how many links of each kind each of `count` memories has, shape (count, kinds)."""
        return np.bincount(self.owner * len(KINDS) + self.kind, minlength=count * len(KINDS)).reshape(count, len(KINDS))


_NO_INTS: Ints = np.zeros(0, dtype=np.int64)
_NONE = Living(_NO_INTS, _NO_INTS, _NO_INTS, np.zeros(0, dtype=np.float64))


@dataclass(slots=True)
class LinkTable:
    """Links by node, as far as they were read, in one version of the space; its lock is held for all that it does.

    A node has a place, in the order in which nodes were met. Its links lie together in their columns, from `start` to
    `end`; read again, they go to the end of the columns.

    Attributes:
        size: of the links; `dead` of them were read again since.
        places: by number; of those in `read` the links are here, others are ends of these.
        nodes: by place: number, fires now, and where its links are.
        links: place of the other end, code of the kind, and what was written when it was touched: weight, step, and
            the sum of the fires of its ends.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    version: int = _UNREAD
    size: int = 0
    dead: int = 0
    places: dict[int, int] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)
    nodes: dict[str, NDArray[Any]] = field(default_factory=lambda: _empty(_NODES))
    links: dict[str, NDArray[Any]] = field(default_factory=lambda: _empty(_LINKS))

    @property
    def nbytes(self) -> int:
        """Memory in use, roughly."""
        columns = [*self.nodes.values(), *self.links.values()]
        return sum(column.nbytes for column in columns) + _PLACE_BYTES * len(self.places)

    @contextmanager
    def at(self, db: sqlite3.Connection, here: SpaceRow) -> Iterator[LinkTable]:
        """Yield the links as a transaction sees them; a reader that is behind another gets a table of its own."""
        with self.lock:
            if self.version > here.links:
                yield LinkTable(version=here.links)
                return
            try:
                self._follow(db, here)
                yield self
            except BaseException:
                self._clear(_UNREAD)
                raise

    def living(self, db: sqlite3.Connection, here: SpaceRow, numbers: Sequence[int], config: Config) -> Living:
        """Return the living links of these memories, of the kinds that spread."""
        self._read(db, here, [number for number in numbers if number not in self.read])
        asked = np.array([self.places[number] for number in numbers], dtype=np.int64)
        start, end, now = self.nodes["start"][asked], self.nodes["end"][asked], self.nodes["now"]
        if not (end > start).any():
            return _NONE
        owner = np.repeat(np.arange(len(asked)), end - start)
        at = np.arange(len(owner)) + np.repeat(end - np.cumsum(end - start), end - start)
        other, kind, weight, step, fires = (self.links[name][at] for name in _LINKS)
        touched, clock = Clock(step, fires), Clock(here.steps, now[asked][owner] + now[other])
        weight = standing(weight, touched, clock, kind == SIMILAR, config)
        rates = np.array([rate(kind, config.spreading) for kind in KINDS])
        kept = (weight > 0) & (rates[kind] > 0)
        return Living(owner[kept], self.nodes["number"][other[kept]], kind[kept], weight[kept])

    def _follow(self, db: sqlite3.Connection, here: SpaceRow) -> None:
        """Bring the table to the version of a transaction."""
        if self.version < max(here.links_horizon, here.links - _KEPT) or self.dead > max(self.size - self.dead, _FIRST):
            self._clear(here.links)
        elif self.version < here.links:
            found = db.execute(SQL["changed"], {"space": here.key, "version": self.version})
            changed = [number for (number,) in found if number in self.places]
            at = np.array([self.places[number] for number in changed], dtype=np.int64)
            self.nodes["now"][at] = _clocks(db, changed)
            self.dead += int((self.nodes["end"][at] - self.nodes["start"][at]).sum())
            self.nodes["end"][at] = self.nodes["start"][at]
            self.read.difference_update(changed)
            self.version = here.links

    def _clear(self, version: int) -> None:
        self.version, self.size, self.dead = version, 0, 0
        self.places.clear()
        self.read.clear()

    def _read(self, db: sqlite3.Connection, here: SpaceRow, numbers: Sequence[int]) -> None:
        """Read the links of memories that have none here yet."""
        if not numbers:
            return
        found = db.execute(SQL["of_memories"], {"space": here.key, "numbers": json.dumps(numbers)}).fetchall()
        rows = np.array(found, dtype=np.float64).reshape(len(found), 1 + len(_LINKS))
        self._meet(db, [*numbers, *rows[:, 1].astype(np.int64).tolist()])
        owners = self._placed(rows[:, 0])
        rows = rows[np.argsort(owners, kind="stable")]
        size = self.size + len(rows)
        for name, kind, column in zip(_LINKS, _LINKS.values(), rows[:, 1:].T, strict=True):
            self.links[name] = _roomy(self.links[name], size, kind, self.size)
            self.links[name][self.size : size] = self._placed(column) if name == "other" else column
        places = np.sort(self._placed(np.array(numbers)))
        counts = np.bincount(owners, minlength=len(self.places))[places]
        ends = self.size + np.cumsum(counts)
        self.nodes["start"][places], self.nodes["end"][places] = ends - counts, ends
        self.size = size
        self.read.update(numbers)

    def _meet(self, db: sqlite3.Connection, numbers: Iterable[int]) -> None:
        """Give a place to each memory that has none."""
        new = [number for number in dict.fromkeys(numbers) if number not in self.places]
        first, last = len(self.places), len(self.places) + len(new)
        self.places.update(zip(new, range(first, last), strict=True))
        values = {"number": new, "now": _clocks(db, new), "start": 0, "end": 0}
        for name, kind in _NODES.items():
            self.nodes[name] = _roomy(self.nodes[name], last, kind, first)
            self.nodes[name][first:last] = values[name]

    def _placed(self, numbers: NDArray[Any]) -> Ints:
        places = self.places
        return np.array([places[number] for number in numbers.astype(np.int64).tolist()], dtype=np.int64)


def _clocks(db: sqlite3.Connection, numbers: Sequence[int]) -> list[int]:
    """Return how often memories fired."""
    found = dict(db.execute(SQL["clocks"], {"numbers": json.dumps(numbers)}).fetchall())
    return [found.get(number, 0) for number in numbers]


def _empty(kinds: dict[str, str]) -> dict[str, NDArray[Any]]:
    return {name: np.zeros(0, dtype=kind) for name, kind in kinds.items()}


def _roomy(held: NDArray[Any], size: int, kind: str, used: int) -> NDArray[Any]:
    """Return a column with room for so many."""
    return held if len(held) >= size else grown(held, (max(_FIRST, size + size // 2),), kind, used)
