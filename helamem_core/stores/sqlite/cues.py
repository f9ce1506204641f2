"""The cues of a space that are no turns, kept in memory as one matrix: one slot a cue, only ever added to."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

import numpy as np

from helamem_core.stores.sqlite.columns import Mask, grown
from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.statements import statements
from helamem_core.types import Vector

SQL = statements("columns")
_FIRST = 64  # slots of a new buffer
_SPARE_DEAD = 1024  # dead slots that are never worth a fresh start


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues with a vector in one state, as columns over slots, of which only those `alive` count.

    Attributes:
        numbers: by slot; shared with later snapshots, so it may be longer. `ids` likewise.
        vectors: float32 of shape (slots, dimension).
    """

    numbers: list[int]
    ids: list[str]
    vectors: Vector
    alive: Mask


@dataclass(slots=True)
class CueColumns:
    """The buffers behind the snapshots of one space; its owner's lock must be held for all it does."""

    numbers: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    vectors: Vector = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    alive: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    slot_of: dict[int, int] = field(default_factory=dict)

    @property
    def worn(self) -> bool:
        """Whether so many slots are dead that reading all anew is better."""
        return len(self.numbers) - len(self.slot_of) > max(_SPARE_DEAD, len(self.slot_of))

    def change(self, db: sqlite3.Connection, here: SpaceRow, since: int) -> Cues:
        """Bring the cues from a version of the space to the present one."""
        asked = {"space": here.key, "version": since}
        self.alive = self.alive.copy()
        if since >= 0:
            for (number,) in db.execute(SQL["erased"], asked):
                self._drop(number)
        for number, id, data in db.execute(SQL["cues"], asked):
            self._drop(number)
            if data is not None:
                self._append(number, id, np.frombuffer(data, dtype="<f4"))
        size = len(self.numbers)
        return Cues(self.numbers, self.ids, self.vectors[:size], self.alive[:size])

    def _drop(self, number: int) -> None:
        slot = self.slot_of.pop(number, None)
        if slot is not None:
            self.alive[slot] = False

    def _append(self, number: int, id: str, vector: Vector) -> None:
        slot = len(self.numbers)
        width = self.vectors.shape[1] or len(vector)
        if len(vector) != width:
            return
        if slot == len(self.vectors) or not self.vectors.shape[1]:
            capacity = max(_FIRST, slot + slot // 2)
            self.vectors = grown(self.vectors if slot else None, (capacity, width), "f4", slot)
            self.alive = grown(self.alive if slot else None, (capacity,), "?", slot)
        self.vectors[slot], self.alive[slot] = vector, True
        self.numbers.append(number)
        self.ids.append(id)
        self.slot_of[number] = slot
