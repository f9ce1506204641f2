"""The driver behind the store: urls and credentials, one managed transaction a verb, the time of each statement."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import neo4j
from neo4j import GraphDatabase, ManagedTransaction

from helamem_core.errors import InvalidInput, StoreError
from helamem_core.showing import shown
from helamem_core.stores.neo4j.address import Address
from helamem_core.stores.neo4j.failures import translated
from helamem_core.stores.statements import cypher

log = logging.getLogger("helamem_core.neo4j")
T = TypeVar("T")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StatementTime:
    """How long one statement took, for logs and traces.

    Attributes:
        name: `<stem>.<block>` of its file.
        seconds: from sending it until its last row came.
        rows: how many came.
        server_ms: milliseconds that the server says it took, None if it does not say.
    """

    name: str
    seconds: float
    rows: int
    server_ms: int | None


Observer = Callable[[StatementTime], None]
"""Called after each statement; it must not raise."""


class Transaction:
    """One transaction; statements are named after their files."""

    def __init__(self, tx: ManagedTransaction | neo4j.Session, version: str, observer: Observer | None) -> None:
        self._tx, self._version, self._observer = tx, version, observer

    def run(self, name: str, *, width: int | None = None, **parameters: Any) -> list[dict[str, Any]]:
        """Run the statement `<stem>.<block>` and return its rows.

        Args:
            name: of the statement.
            width: of the vectors that it is about.
            parameters: of the statement.
        """
        stem, _, block = name.partition(".")
        text = cypher(stem, block, self._version, width)
        began = time.perf_counter()
        result = self._tx.run(text, parameters)
        rows = [dict(record) for record in result]
        summary = result.consume()
        self._tell(StatementTime(name, time.perf_counter() - began, len(rows), summary.result_available_after))
        return rows

    def one(self, name: str, *, width: int | None = None, **parameters: Any) -> dict[str, Any]:
        """Run a statement that returns exactly one row."""
        (row,) = self.run(name, width=width, **parameters)
        return row

    def _tell(self, spent: StatementTime) -> None:
        log.debug("%s: %.1f ms, %d rows", spent.name, 1e3 * spent.seconds, spent.rows)
        if self._observer is not None:
            self._observer(spent)


class Connection:
    """A driver with its settings; safe for threads and, if the driver is its own, for forks.

    Args:
        address: where to, and as whom.
        driver: use this one instead; it is never closed here.
        observer: told of each statement.
        retry_seconds: how long a transaction that lost a race, or its server, is tried again.

    Raises:
        InvalidInput: the driver is none.
    """

    def __init__(
        self,
        address: Address,
        driver: neo4j.Driver | None = None,
        *,
        observer: Observer | None = None,
        retry_seconds: float = 5.0,
    ) -> None:
        if driver is not None and not isinstance(driver, neo4j.Driver):
            raise InvalidInput(f"driver is {shown(driver)}; it must be a `neo4j.Driver`")
        self.address, self.observer = address, observer
        self._borrowed, self._retry_seconds = driver, retry_seconds
        # By process: a parent's is kept, since dropped it would say goodbye on the parent's connections.
        self._own: dict[int, neo4j.Driver] = {}
        self.closed = False
        self.version = "5"
        """Of Cypher, known once the server was asked."""

    @property
    def driver(self) -> neo4j.Driver:
        """The driver; a process that was forked gets one of its own."""
        if self.closed:
            raise StoreError("the store is closed; open it again")
        if self._borrowed is not None:
            return self._borrowed
        own = self._own.get(os.getpid())
        if own is None:
            opened = self._open()
            own = self._own.setdefault(os.getpid(), opened)
            if own is not opened:
                opened.close()  # another thread was faster
        return own

    def _open(self) -> neo4j.Driver:
        with translated(self.address):
            return GraphDatabase.driver(
                self.address.url,
                auth=self.address.auth,
                max_transaction_retry_time=self._retry_seconds,
                connection_timeout=4.0,
                connection_acquisition_timeout=5.0,
                notifications_min_severity="OFF",
                user_agent="helamem",
            )

    def close(self) -> None:
        """Close the driver if it was opened here; again is a no-op."""
        self.closed = True
        own = self._own.pop(os.getpid(), None)
        if own is not None:
            own.close()

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Do something in one transaction that changes nothing; it may be tried again."""
        with translated(self.address), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(lambda tx: work(self._transaction(tx)))

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Do something in one transaction; it may be tried again, so all that it does must be in the transaction."""
        with translated(self.address), self._session(neo4j.WRITE_ACCESS) as session:
            return session.execute_write(lambda tx: work(self._transaction(tx)))

    def alone(self, name: str, *, width: int | None = None, **parameters: Any) -> list[dict[str, Any]]:
        """Run a statement that opens transactions of its own, or that changes the schema; it is not tried again."""
        with translated(self.address), self._session(neo4j.WRITE_ACCESS) as session:
            return self._transaction(session).run(name, width=width, **parameters)

    def _session(self, access: str) -> neo4j.Session:
        driver = self.driver
        return driver.session(
            database=self.address.database,
            default_access_mode=access,
            bookmark_manager=driver.execute_query_bookmark_manager,
        )

    def _transaction(self, tx: ManagedTransaction | neo4j.Session) -> Transaction:
        return Transaction(tx, self.version, self.observer)
