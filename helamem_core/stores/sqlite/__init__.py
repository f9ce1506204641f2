"""The SQLite engine: one file, no server, several processes at once.

Every verb is one transaction. What a recall reads of a space is kept in memory as columns (`cache`, `columns`) and
checked against the file inside the recall's own transaction, so that it is never stale. Statements are in
`stores/statements`, formulas in `dynamics`. Erasing ends with the file written anew (`purge`): about a second for
100,000 memories, while readers go on and writers wait. What could not be purged at once is purged at the next erasure,
close or open.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from helamem_core.config import Config
from helamem_core.errors import InvalidInput, StoreError
from helamem_core.records import Embedded, Listing, Node, Patch, Pending, Recalled, RecallQuery, Reinforcement
from helamem_core.showing import shown
from helamem_core.stores.sqlite import content, embedding, erase, look, schema, spaces, transfer, upkeep
from helamem_core.stores.sqlite.cache import Cache
from helamem_core.stores.sqlite.connections import Connections, Pool, Single, Synchronous
from helamem_core.stores.sqlite.failures import translated
from helamem_core.stores.sqlite.purge import due, purge
from helamem_core.stores.sqlite.recall import recall
from helamem_core.stores.sqlite.reinforce import reinforce
from helamem_core.stores.statements import statements
from helamem_core.types import (
    EmbedderIdentity,
    FadeReport,
    ForgetReport,
    Neighbour,
    ReinforceReport,
    Stats,
)

MEMORY = ":memory:"
CACHE_BYTES = 1 << 29
_LONGEST = 2_000_000  # seconds: SQLite counts milliseconds in 32 bits
_LARGEST = 2**63
_LENT = "of the connection lent"
_AT_CLOSE = 1.0  # seconds that closing waits for others before it leaves a purge to the next open
_CONNECTION = statements("connection")


class SQLiteStore:
    """A store in one SQLite file. See `helamem_core.protocols.Store` for each verb.

    Args:
        path: the file, made if it is missing; `":memory:"` for one that ends with the store.
        connection: use this connection instead; it stays open, and must be in no transaction at any call.
        timeout: seconds to wait for another process's or thread's lock.
        synchronous: `"full"`: what is stored outlives a power failure; `"normal"`: it outlives the process; `"extra"`
            is `"full"` for odd file systems. What reinforcement learns is always written as `"normal"`.
        cache_bytes: spaces are kept in memory up to about so many bytes; the one in use always is.

    Raises:
        StoreUnavailable: the file cannot be opened.
        ForeignStore: the file holds something else.
        SchemaTooNew: a newer version of this library wrote it.
        StoreBusy: another process held its lock for too long.
    """

    def __init__(
        self,
        path: str | Path = MEMORY,
        *,
        connection: sqlite3.Connection | None = None,
        timeout: float = 30.0,
        synchronous: Synchronous = "full",
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        if synchronous not in ("normal", "full", "extra"):
            raise InvalidInput(f"synchronous is {shown(synchronous)}; use 'normal', 'full' or 'extra'")
        _check(path, timeout, cache_bytes)
        self._cache = Cache(cache_bytes)
        if connection is not None:
            self._connections: Connections = _borrowed(connection, timeout)
        elif str(path) == MEMORY:
            self._connections = _in_memory(timeout)
        else:
            self._connections = _file(Path(path).absolute(), timeout, synchronous)  # wherever the process goes
        self._connections.after_fork = self._cache.reset
        self._tidy(wait=_AT_CLOSE)

    def close(self) -> None:
        """Release what the store itself opened, after a last try to purge what was erased."""
        if not self._connections.closed:
            with suppress(StoreError):  # what cannot be purged now is purged at the next open
                self._tidy(wait=_AT_CLOSE)
            self._connections.close()

    def spaces(self) -> list[str]:
        """Return the names of all spaces."""
        with self._connections.read() as db:
            return [name for (name,) in db.execute(statements("spaces")["names"])]

    def drop_space(self, space: str) -> ForgetReport:
        """Erase a space."""
        with self._connections.write() as db:
            report = erase.drop_space(db, space)
        self._cache.discard(space)
        return replace(report, purged=self._tidy())

    def identity(self, space: str) -> EmbedderIdentity | None:
        """Return the model of the vectors."""
        with self._connections.read() as db:
            here = spaces.find(db, space)
            return None if here is None else here.embedder

    def present(self, space: str, ids: Sequence[str], now: float) -> dict[str, Node]:
        """Return those that exist, by id."""
        with self._connections.read() as db:
            return content.present(db, space, ids, now)

    def remember(
        self, space: str, nodes: Sequence[Node], *, embedder: EmbedderIdentity | None, config: Config
    ) -> list[bool]:
        """Store new memories."""
        with self._connections.write() as db:
            return content.remember(db, space, nodes, embedder, config)

    def recall(self, space: str, query: RecallQuery) -> Recalled:
        """Return the best memories for a query."""
        with self._connections.read() as db:
            return recall(db, self._cache, space, query)

    def reinforce(self, space: str, event: Reinforcement) -> ReinforceReport:
        """Apply one Hebbian event."""
        with self._connections.write(durable=False) as db:
            return reinforce(db, self._cache, space, event)

    def select(self, space: str, listing: Listing) -> list[Node]:
        """Return memories of a view in order."""
        with self._connections.read() as db:
            return content.select(db, space, listing)

    def update(self, space: str, id: str, patch: Patch, now: float) -> Node:
        """Change a memory's content; the bytes of what was replaced are purged when the store is closed."""
        with self._connections.write() as db:
            return content.update(db, space, id, patch, now)

    def forget(self, space: str, ids: Sequence[str]) -> ForgetReport:
        """Erase memories and cues, bytes included."""
        with self._connections.write() as db:
            report = erase.forget(db, space, ids)
        return replace(report, purged=self._tidy())

    def archive(self, space: str, ids: Sequence[str], now: float) -> list[str]:
        """Take memories out of the active graph."""
        with self._connections.write() as db:
            return upkeep.archive(db, space, ids, now)

    def restore(self, space: str, ids: Sequence[str]) -> list[str]:
        """Bring archived memories back."""
        with self._connections.write() as db:
            return upkeep.restore(db, space, ids)

    def fade(self, space: str, now: float, config: Config) -> FadeReport:
        """Erase expired, archive weak, old, unused memories, remove dead links and idle cues."""
        with self._connections.write() as db:
            report = upkeep.fade(db, space, now, config)
        self._tidy()
        return report

    def link_similar(self, space: str, now: float, config: Config) -> int:
        """Make similarity links; they are found outside the lock, which may take minutes in a large space."""
        with self._connections.read() as db:
            found = upkeep.similar(db, self._cache, space, now, config)
        if found is None:
            return 0
        with self._connections.write() as db:
            return upkeep.link_similar(db, space, *found, now)

    def neighbours(self, space: str, id: str, now: float, config: Config) -> list[Neighbour]:
        """Return a memory's or cue's living links."""
        with self._connections.read() as db:
            return look.neighbours(db, space, id, now, config)

    def stats(self, space: str, now: float, config: Config) -> Stats:
        """Return counts of the space."""
        with self._connections.read() as db:
            return look.stats(db, space, now, config)

    def pending(self, space: str, limit: int, offset: int = 0) -> list[Pending]:
        """Return texts that wait for a vector."""
        with self._connections.read() as db:
            return embedding.pending(db, space, limit, offset)

    def embed(self, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> int:
        """Give vectors to texts that wait for one."""
        with self._connections.write() as db:
            return embedding.embed(db, space, embedder, rows)

    def stage(self, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> None:
        """Keep vectors of a new model beside the present ones."""
        with self._connections.write() as db:
            embedding.stage(db, space, embedder, rows)

    def unstaged(self, space: str, embedder: EmbedderIdentity, limit: int, offset: int = 0) -> list[Pending]:
        """Return texts that have no staged vector of this model."""
        with self._connections.read() as db:
            return embedding.unstaged(db, space, embedder, limit, offset)

    def adopt(self, space: str, embedder: EmbedderIdentity) -> int:
        """Swap the staged vectors in."""
        with self._connections.write() as db:
            return embedding.adopt(db, space, embedder)

    def dump(self, space: str) -> Iterator[dict[str, Any]]:
        """Yield the space as records; a file is read while they are taken, by a connection of its own."""
        if isinstance(self._connections, Single):
            with self._connections.read() as db:
                records = list(transfer.dump(db, space))
            yield from records
            return
        with self._connections.read() as db:
            yield from transfer.dump(db, space)

    def load(self, space: str, records: Iterable[dict[str, Any]]) -> int:
        """Fill an empty space from records."""
        with self._connections.write() as db:
            return transfer.load(db, space, records)

    def files(self) -> list[Path]:
        """Return the database and what SQLite keeps beside it."""
        with self._connections.read() as db:
            return transfer.owned(db)

    def backup(self, path: Path) -> None:
        """Write a copy of the file."""
        with translated(self._connections.where), self._connections.alone():
            if isinstance(self._connections, Single):
                transfer.backup(self._connections.connect(), path)
            else:
                with closing(self._connections.connect()) as db:
                    transfer.backup(db, path)

    def check(self) -> list[str]:
        """Return what is inconsistent."""
        with self._connections.read() as db:
            return look.check(db)

    def _tidy(self, **wait: float) -> bool:
        """Purge if anything was erased; return whether no erased byte is left."""
        if isinstance(self._connections, Pool):
            with self._connections.read() as db:
                todo = due(db)
            return purge(self._connections, **wait) if todo else True
        return True


def _check(path: object, timeout: object, cache_bytes: object) -> None:
    if not isinstance(path, (str, Path)) or "\0" in str(path):
        raise InvalidInput(f"path is {shown(path)}; it must be a path")
    for name, value, most in (("timeout", timeout, _LONGEST), ("cache_bytes", cache_bytes, _LARGEST)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
            raise InvalidInput(f"{name} is {shown(value)}; it must be a number in [0, {most}]")


def _file(path: Path, timeout: float, synchronous: Synchronous) -> Pool:
    schema.examine(path)
    pool = Pool(path, timeout, synchronous)
    with translated(pool.where), closing(pool.connect()) as db:
        if not path.stat().st_size:
            db.execute(_CONNECTION["page_size"])
        schema.prepare(db, pool.where, timeout)
    pool.settle()
    return pool


def _in_memory(timeout: float) -> Single:
    db = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
    with translated(MEMORY):
        schema.prepare(db, MEMORY, None)
    return Single(db, MEMORY, timeout, borrowed=False)


def _borrowed(db: sqlite3.Connection, timeout: float) -> Single:
    with translated(_LENT):
        if db.in_transaction:
            raise InvalidInput(
                "the connection lent is in a transaction; commit it first, and leave it in autocommit between calls"
            )
        db.execute(_CONNECTION["secure"])
        schema.prepare(db, _LENT, None)
    return Single(db, _LENT, timeout, borrowed=True)
