"""The spaces in memory: checked against the file within each reader's transaction, least recently used first out."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from helamem_core.stores.sqlite import spaces
from helamem_core.stores.sqlite.columns import Columns, Rows
from helamem_core.stores.sqlite.cues import CueColumns, Cues
from helamem_core.stores.sqlite.details import Details
from helamem_core.stores.sqlite.links import LinkTable
from helamem_core.stores.sqlite.spaces import SpaceRow

_UNREAD = -1


@dataclass(slots=True)
class Entry:
    """One space in memory. Its lock is taken before the reader's first statement, so no reader is behind it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    key: int = 0
    rows_version: int = _UNREAD
    cues_version: int = _UNREAD
    columns: Columns = field(default_factory=Columns)
    cue_columns: CueColumns = field(default_factory=CueColumns)
    details: Details = field(default_factory=Details)
    links: LinkTable = field(default_factory=LinkTable)
    rows: Rows | None = None
    cues: Cues | None = None

    @property
    def nbytes(self) -> int:
        """Memory in use, roughly."""
        cues = 0 if self.cues is None else self.cue_columns.vectors.nbytes
        return self.columns.nbytes + self.details.nbytes + self.links.nbytes + cues

    @contextmanager
    def followed(self, here: SpaceRow) -> Iterator[None]:
        """Start anew if the name belongs to another space now, or if an error leaves the columns half changed."""
        if self.key != here.key:
            self._start_anew(here.key)
        try:
            yield
        except BaseException:
            self._start_anew(here.key)
            raise

    def rows_at(self, db: sqlite3.Connection, here: SpaceRow) -> Rows:
        """Return the memories as this transaction sees them."""
        if self.rows is None or self.rows_version < here.version:
            if self.rows_version < here.horizon or self.columns.worn:
                self.columns, self.details, self.rows_version = Columns(), Details(), _UNREAD
            self.rows = self.columns.change(db, here, self.rows_version) or self.rows
            self.rows_version = here.version
        assert self.rows is not None
        return self.rows

    def cues_at(self, db: sqlite3.Connection, here: SpaceRow) -> Cues:
        """Return the cues as this transaction sees them."""
        if self.cues is None or self.cues_version < here.version:
            if self.cues_version < here.horizon or self.cue_columns.worn:
                self.cue_columns, self.cues_version = CueColumns(), _UNREAD
            self.cues = self.cue_columns.change(db, here, self.cues_version)
            self.cues_version = here.version
        return self.cues

    def _start_anew(self, key: int) -> None:
        self.key, self.rows, self.cues = key, None, None
        self.columns, self.cue_columns, self.details = Columns(), CueColumns(), Details()
        self.links = LinkTable()
        self.rows_version = self.cues_version = _UNREAD


class Seen(NamedTuple):
    """A space as one transaction sees it; what was not asked for is empty."""

    here: SpaceRow
    rows: Rows
    cues: Cues
    details: Details
    links: LinkTable


class Cache:
    """The spaces in memory, within a budget that only a single space may exceed.

    Args:
        budget: bytes.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._guard = threading.Lock()

    def see(self, db: sqlite3.Connection, space: str) -> Seen | None:
        """Return a space as a transaction sees it; None if there is none.

        Args:
            db: in a transaction that has read and written nothing yet.
            space: its name.
        """
        entry = self._entry(space)
        with entry.lock:
            here = spaces.find(db, space)
            if here is None:
                self.discard(space)
                return None
            with entry.followed(here):
                seen = Seen(here, entry.rows_at(db, here), entry.cues_at(db, here), entry.details, entry.links)
        self._evict()
        return seen

    def cues(self, db: sqlite3.Connection, space: str) -> tuple[SpaceRow | None, Cues | None]:
        """Return a space and its cues as a transaction sees them that has read and written nothing yet."""
        entry = self._entry(space)
        with entry.lock:
            here = spaces.find(db, space)
            if here is None:
                return None, None
            with entry.followed(here):
                return here, entry.cues_at(db, here)

    def discard(self, space: str) -> None:
        """Forget a space that was dropped."""
        with self._guard:
            self._entries.pop(space, None)

    def reset(self) -> None:
        """Forget everything, locks included: after a fork nobody may be left to release them."""
        self._guard = threading.Lock()
        self._entries = OrderedDict()

    def _entry(self, space: str) -> Entry:
        with self._guard:
            entry = self._entries.setdefault(space, Entry())
            self._entries.move_to_end(space)
            return entry

    def _evict(self) -> None:
        with self._guard:
            total = sum(entry.nbytes for entry in self._entries.values())
            while total > self._budget and len(self._entries) > 1:
                total -= self._entries.popitem(last=False)[1].nbytes
