"""Connections to one SQLite file: many readers, one writer, every transaction closed again."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from helamem_core import forks
from helamem_core.errors import StoreBusy, StoreError, StoreUnavailable
from helamem_core.stores.sqlite.failures import translated
from helamem_core.stores.statements import statements

Synchronous = Literal["normal", "full", "extra"]
SQL = statements("connection")
FORK_PATIENCE = 5.0
"""Seconds that a fork waits at least for the verbs of other threads; longer if the store was opened so."""
_IDLE = 8  # connections kept open for the next reader
_left: list[sqlite3.Connection] = []  # of a parent's transaction: closing them here would undo it there


class Pool:
    """Connections to a file. Readers take one each; writers share one, in turn.

    A fork waits for the verbs of other threads and closes all connections first, since SQLite's locks do not survive
    it: the child opens its own. It cannot wait for a verb of its own thread (an export or import that calls back), and
    waits for others only as long as for any lock: the child of such a fork is refused.
    """

    def __init__(self, path: Path, timeout: float, synchronous: Synchronous) -> None:
        self.where = str(path)
        self.after_fork: Callable[[], None] = lambda: None
        self.timeout, self._path, self._synchronous = timeout, path, synchronous
        self._idle: list[sqlite3.Connection] = []
        self._takers: Counter[int] = Counter()  # connections in use, by thread
        self._writer: int | None = None
        self._forking = self._held = self._orphaned = self._closed = False
        self._file: tuple[int, int] | None = None
        self._guard, self._turn = threading.Condition(), threading.Lock()
        forks.watch(self)

    def settle(self) -> None:
        """Note which file this is: from now on another one under its name is refused."""
        self._file = self._present()

    def connect(self, timeout: float | None = None) -> sqlite3.Connection:
        """Open another connection, set up as all are.

        Raises:
            StoreUnavailable: the file is gone, or is another one.
        """
        self._check_file()
        wait = self.timeout if timeout is None else timeout
        db = sqlite3.connect(self._path, timeout=wait, isolation_level=None, check_same_thread=False)
        try:
            for setting in ("secure", "memory_temp", "wal_limit"):
                db.execute(SQL[setting])
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a transaction that sees one state of the file from its first statement on."""
        with translated(self.where), self._taken() as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a transaction that is committed at the end, or undone by an error.

        Args:
            durable: whether the commit must outlive a power failure, as far as the store was opened for that.

        Raises:
            StoreUnavailable: the file is gone, or is another one.
        """
        with translated(self.where), self.alone(), self._taken() as db:
            db.execute(SQL[f"synchronous_{self._synchronous if durable else 'normal'}"])
            db.execute("BEGIN IMMEDIATE")
            self._check_file()
            yield db
            self._check()
            db.execute("COMMIT")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep this process's other writers out."""
        self._let_fork_pass(threading.get_ident())
        turn = self._turn
        if not turn.acquire(timeout=self.timeout):
            raise StoreBusy(
                f"store {self.where!r}: other threads wrote for {self.timeout:g} s; try again, "
                "or open with a larger `timeout`"
            )
        self._writer = threading.get_ident()
        try:
            yield
        finally:
            self._writer = None
            turn.release()

    def close(self) -> None:
        """Close all connections as they come back."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @contextmanager
    def _taken(self) -> Iterator[sqlite3.Connection]:
        thread = threading.get_ident()
        db = self._take(thread)
        try:
            yield db
        finally:
            if self._orphaned:
                _left.append(db)
            else:
                self._give_back(db, thread)

    def _take(self, thread: int) -> sqlite3.Connection:
        with self._guard:
            self._let_fork_pass(thread)
            self._check()
            self._takers[thread] += 1
            db = self._idle.pop() if self._idle else None
        try:
            return self.connect() if db is None else db
        except BaseException:
            self._leave(thread)
            raise

    def _give_back(self, db: sqlite3.Connection, thread: int) -> None:
        keep = False
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        finally:
            with self._guard:
                keep = not (db.in_transaction or self._closed) and len(self._idle) < _IDLE
                if keep:
                    self._idle.append(db)
            if not keep:
                db.close()
            self._leave(thread)

    def _leave(self, thread: int) -> None:
        with self._guard:
            self._takers[thread] -= 1
            if not self._takers[thread]:
                del self._takers[thread]
            self._guard.notify_all()

    def _let_fork_pass(self, thread: int) -> None:
        """Wait while a fork waits, but for a thread that it waits for itself."""
        with self._guard:
            self._guard.wait_for(lambda: not self._forking or self._takers[thread] or self._writer == thread)

    def _check(self) -> None:
        if self._orphaned:
            raise StoreUnavailable(
                f"store {self.where!r}: this process was forked in the middle of a verb of this store; "
                "fork between verbs, or start the process another way (spawn)"
            )
        if self._closed:
            raise StoreUnavailable(f"store {self.where!r} is closed; open it again")

    def _check_file(self) -> None:
        if self._file is not None and self._present() != self._file:
            raise StoreUnavailable(
                f"store {self.where!r}: its file was deleted or replaced while it was open, so nothing more can be "
                "kept there; open it again"
            )

    def _present(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def before_fork(self) -> None:
        """Wait until no verb of another thread is under way, and close all connections."""
        me, patience = threading.get_ident(), max(self.timeout, FORK_PATIENCE)
        until = time.monotonic() + patience
        with self._guard:
            self._forking = True
        mine = self._writer == me or self._takers[me] > 0
        self._held = not mine and self._turn.acquire(timeout=patience)
        self._guard.acquire()
        if self._held:
            self._guard.wait_for(lambda: not self._takers, timeout=max(0.0, until - time.monotonic()))
        while self._idle:
            self._idle.pop().close()

    def after_fork_in_parent(self) -> None:
        """Let the others go on."""
        self._forking = False
        if self._held:
            self._turn.release()
        self._guard.notify_all()
        self._guard.release()

    def after_fork_in_child(self) -> None:
        """Begin anew, unless a verb was under way."""
        self._orphaned = self._orphaned or not self._held or bool(self._takers)
        self._forking, self._writer = False, None
        self._takers.clear()
        self._guard, self._turn = threading.Condition(), threading.Lock()
        self.after_fork()


class Single:
    """One connection for everything, in turn: a database in memory, or a connection that someone lent."""

    def __init__(self, db: sqlite3.Connection, where: str, timeout: float, *, borrowed: bool) -> None:
        self.where = where
        self.closed = False
        self.after_fork: Callable[[], None] = lambda: None
        self._db, self._timeout, self._borrowed = db, timeout, borrowed
        self._process = os.getpid()
        self._turn, self._held = threading.RLock(), False
        self._orphaned = False
        forks.watch(self)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction."""
        with self._transaction("BEGIN") as db:
            yield db

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction that is committed at the end, or undone by an error."""
        del durable  # as the lender has set it
        with self._transaction("BEGIN IMMEDIATE") as db:
            yield db
            db.execute("COMMIT")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out."""
        turn = self._turn
        if not turn.acquire(timeout=self._timeout):
            raise StoreBusy(f"store {self.where!r}: other threads used it for {self._timeout:g} s; try again")
        try:
            yield
        finally:
            turn.release()

    def connect(self, timeout: float | None = None) -> sqlite3.Connection:
        """Return the one connection."""
        del timeout
        return self._db

    def close(self) -> None:
        """Close the connection unless it was lent."""
        if not self.closed and not self._borrowed:
            self._db.close()
        self.closed = True

    def before_fork(self) -> None:
        """Wait until no verb of another thread is under way."""
        self._held = self._turn.acquire(timeout=max(self._timeout, FORK_PATIENCE))

    def after_fork_in_parent(self) -> None:
        """Let the others go on."""
        if self._held:
            self._turn.release()

    def after_fork_in_child(self) -> None:
        """Go on with a copy of what is in memory, unless a verb was under way; a connection lent stays behind."""
        self._orphaned = self._orphaned or not self._held
        self._turn = threading.RLock()
        self.after_fork()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with translated(self.where), self.alone():
            self._check()
            self._db.execute(begin)
            try:
                yield self._db
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _check(self) -> None:
        if self.closed:
            raise StoreUnavailable(f"store {self.where!r} is closed; open it again")
        if self._orphaned:
            raise StoreUnavailable(
                f"store {self.where!r}: this process was forked in the middle of a verb of this store; "
                "fork between verbs"
            )
        if self._borrowed and self._process != os.getpid():
            raise StoreUnavailable(f"store {self.where!r}: its connection was made in another process; open its own")
        if self._db.in_transaction:
            raise StoreError(f"store {self.where!r}: the connection lent is in a transaction; commit it first")


Connections = Pool | Single
