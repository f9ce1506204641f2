"""What every recall reads, kept in memory as columns: one slot a memory, only ever added to.

A changed memory gets a new slot and its old one dies, so that a snapshot handed to a reader stays whole while later
ones are made beside it in the same buffers.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.statements import statements
from helamem_core.types import Vector

SQL = statements("columns")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_FIRST = 256  # slots of a new buffer
_CHUNK = 4096  # rows read at once
_SPARE_DEAD = 1024  # dead slots that are never worth a fresh start
_SPREAD = 8  # numbers per memory, from which on a table by number is a waste
_SLOT_BYTES = 400  # of ids, numbers and dictionaries, roughly
NOTHING = -1


@dataclass(frozen=True, slots=True)
class Rows:
    """The active memories of a space in one state: columns over slots, of which only those `alive` count.

    Attributes:
        ids: by slot; shared with later snapshots, so it may be longer.
        vectors: float32 of shape (slots, dimension); zeros where not `embedded`.
        expires: seconds since the epoch, infinite where never.
        speakers: index into `speaker_terms`.
        asks: whether it may have led to memories as a cue.
        before: slot of the turn before, -1 where that is not active; `after` likewise.
        lookup: slot by number less `first`; empty where the numbers are too far apart for that.
        memories: how many are alive; `length` is their number of terms.
        everlasting: whether none of them expires.
    """

    ids: list[str]
    numbers: Ints
    vectors: Vector
    at: Floats
    expires: Floats
    lengths: Ints
    speakers: Ints
    embedded: Mask
    asks: Mask
    alive: Mask
    before: Ints
    after: Ints
    sorted_numbers: Ints
    sorted_slots: Ints
    lookup: Ints
    first: int
    speaker_terms: list[tuple[str, ...]]
    memories: int
    length: int
    everlasting: bool

    def slots(self, numbers: Ints) -> Ints:
        """Return the slots of memories by number, -1 for those that are not active."""
        if not self.memories:
            return np.full(len(numbers), NOTHING)
        at = np.searchsorted(self.sorted_numbers, numbers)
        at[at == len(self.sorted_numbers)] = 0
        return np.where(self.sorted_numbers[at] == numbers, self.sorted_slots[at], NOTHING)

    def active_slots(self, numbers: Ints) -> Ints:
        """Return the slots of memories by number that are all active."""
        return self.lookup[numbers - self.first] if len(self.lookup) else self.slots(numbers)


@dataclass(slots=True)
class Columns:
    """The buffers behind the snapshots of one space; its owner's lock must be held for all it does."""

    dimension: int = 0
    size: int = 0
    capacity: int = 0
    ids: list[str] = field(default_factory=list)
    buffers: dict[str, NDArray[Any]] = field(default_factory=dict)
    alive: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    before: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    after: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    slot_of: dict[int, int] = field(default_factory=dict)
    follower: dict[int, int] = field(default_factory=dict)
    speaker_codes: dict[str, int] = field(default_factory=dict)
    speaker_terms: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """Memory in use, roughly."""
        return sum(buffer.nbytes for buffer in self.buffers.values()) + self.capacity * _SLOT_BYTES

    @property
    def worn(self) -> bool:
        """Whether so many slots are dead that reading all anew is better."""
        return self.size - len(self.slot_of) > max(_SPARE_DEAD, len(self.slot_of))

    def change(self, db: sqlite3.Connection, here: SpaceRow, since: int) -> Rows | None:
        """Bring the columns from a version of the space to the present one; None if nothing of them has changed."""
        asked = {"space": here.key, "version": since}
        gone = [number for (number,) in db.execute(SQL["erased"], asked)] if since >= 0 else []
        found = db.execute(SQL["episodes"], asked)
        chunk = found.fetchmany(_CHUNK)
        if since >= 0 and not chunk and self.slot_of.keys().isdisjoint(gone):
            return None
        self._copy()
        self._drop(gone)
        while chunk:
            self._drop(row[0] for row in chunk)
            self._append([row for row in chunk if not row[8]], here)
            chunk = found.fetchmany(_CHUNK)
        return self._snapshot()

    def _copy(self) -> None:
        """Leave what changes in place to the snapshots that have it."""
        self.alive, self.before, self.after = self.alive.copy(), self.before.copy(), self.after.copy()

    def _drop(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            slot = self.slot_of.pop(number, None)
            if slot is None:
                continue
            self.alive[slot] = False
            for near, back in ((self.before[slot], self.after), (self.after[slot], self.before)):
                if near != NOTHING:
                    back[near] = NOTHING

    def _append(self, rows: Sequence[Sequence[Any]], here: SpaceRow) -> None:
        if not rows:
            return
        numbers, ids, at, expires, lengths, previous, speakers, asks, _, blobs = zip(*rows, strict=True)
        self._reserve(self.size + len(rows), here, blobs)
        new = slice(self.size, self.size + len(rows))
        embedded = [blob is not None and len(blob) == 4 * self.dimension for blob in blobs]
        empty = bytes(4 * self.dimension)
        data = b"".join(blob if there else empty for blob, there in zip(blobs, embedded, strict=True))
        values = {
            "numbers": numbers,
            "at": at,
            "expires": [np.inf if value is None else value for value in expires],
            "lengths": lengths,
            "speakers": [self._speaker(value) for value in speakers],
            "asks": asks,
            "embedded": embedded,
            "vectors": np.frombuffer(data, dtype="<f4").reshape(len(rows), self.dimension),
        }
        for name, column in values.items():
            self.buffers[name][new] = column
        self.alive[new] = True
        self.ids.extend(ids)
        self.slot_of.update(zip(numbers, range(new.start, new.stop), strict=True))
        self.size = new.stop
        self._connect(numbers, previous)

    def _connect(self, numbers: Sequence[int], previous: Sequence[int | None]) -> None:
        """Link the new slots to those of the turns before and after them."""
        self.follower.update((back, number) for number, back in zip(numbers, previous, strict=True) if back is not None)
        for number, back in zip(numbers, previous, strict=True):
            slot = self.slot_of[number]
            before = NOTHING if back is None else self.slot_of.get(back, NOTHING)
            after = self.slot_of.get(self.follower.get(number, NOTHING), NOTHING)
            self.before[slot], self.after[slot] = before, after
            if before != NOTHING:
                self.after[before] = slot
            if after != NOTHING:
                self.before[after] = slot

    def _speaker(self, terms: str) -> int:
        code = self.speaker_codes.get(terms)
        if code is None:
            code = self.speaker_codes[terms] = len(self.speaker_terms)
            self.speaker_terms.append(tuple(json.loads(terms)))
        return code

    def _reserve(self, size: int, here: SpaceRow, blobs: Sequence[bytes | None]) -> None:
        if not self.dimension:
            first = next((len(blob) // 4 for blob in blobs if blob is not None), 0)
            self.dimension = here.embedder.dimension if here.embedder is not None else first
            self.buffers.pop("vectors", None)
        if size > self.capacity:
            self.capacity = max(size, _FIRST, self.capacity + self.capacity // 2)
        kinds = {"numbers": "i8", "at": "f8", "expires": "f8", "lengths": "i8", "speakers": "i8"}
        for name, kind in {**kinds, "embedded": "?", "asks": "?"}.items():
            self.buffers[name] = grown(self.buffers.get(name), (self.capacity,), kind, self.size)
        self.buffers["vectors"] = grown(self.buffers.get("vectors"), (self.capacity, self.dimension), "f4", self.size)
        self.alive = grown(self.alive, (self.capacity,), "?", self.size)
        self.before = grown(self.before, (self.capacity,), "i8", self.size)
        self.after = grown(self.after, (self.capacity,), "i8", self.size)

    def _snapshot(self) -> Rows:
        if not self.buffers:
            self._reserve(0, _NOWHERE, ())
        view = {name: buffer[: self.size] for name, buffer in self.buffers.items()}
        alive = self.alive[: self.size]
        slots = np.flatnonzero(alive)
        numbers = view["numbers"][slots]
        if len(numbers) and (np.diff(numbers) < 0).any():
            order = np.argsort(numbers, kind="stable")
            slots, numbers = slots[order], numbers[order]
        first, last = (int(numbers[0]), int(numbers[-1])) if len(numbers) else (0, 0)
        lookup = np.full(last - first + 1 if last - first < _SPREAD * len(numbers) else 0, NOTHING)
        if len(lookup):
            lookup[numbers - first] = slots
        return Rows(
            ids=self.ids,
            lookup=lookup,
            first=first,
            everlasting=not np.isfinite(view["expires"][slots]).any(),
            **view,
            alive=alive,
            before=self.before[: self.size],
            after=self.after[: self.size],
            sorted_numbers=numbers,
            sorted_slots=slots,
            speaker_terms=self.speaker_terms,
            memories=len(slots),
            length=int(view["lengths"][slots].sum()),
        )


_NOWHERE = SpaceRow(0, "", 0, 0, 0, None)


def grown(held: NDArray[Any] | None, shape: tuple[int, ...], kind: str, size: int) -> NDArray[Any]:
    """Return the same buffer, or a larger one with its first `size` entries."""
    if held is not None and held.shape == shape:
        return held
    larger = np.zeros(shape, dtype=kind)
    if held is not None:
        larger[:size] = held[:size]
    return larger
