"""Verbs that go through a whole space: one transaction where it is small, a transaction a page where it is large.

A server holds all that a transaction changes in its heap. Each step of such a verb leaves the space whole, so that
others may read and write between two steps, and what was cut short may be asked again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from helamem_core.stores.neo4j.connection import Connection, Transaction

AT_ONCE = 2_000
"""Memories of a space up to which such a verb is one transaction."""
PAGE = 500
"""Memories of one step."""
T = TypeVar("T")
S = TypeVar("S")


class Write(Protocol):
    """Does a step in a transaction, its own or the verb's."""

    def __call__(self, work: Callable[[Transaction], T], /) -> T:
        """Return what the work returns."""
        ...


def stepwise(db: Connection, space: str, verb: Callable[[Write], T]) -> T:
    """Do a verb, in one transaction if the space is small."""
    if db.read(lambda tx: tx.one("steps.size", space=space)["memories"]) > AT_ONCE:
        return verb(db.write)
    return db.write(lambda tx: _at_once(tx, verb))


def _at_once(tx: Transaction, verb: Callable[[Write], T]) -> T:
    def write(work: Callable[[Transaction], S]) -> S:
        return work(tx)

    return verb(write)


def pages(
    write: Write, space: str, step: Callable[[Transaction, dict[str, int]], T], size: int | None = None
) -> Iterator[T]:
    """Do a step for each page of memories, the oldest first, and yield what it returns.

    Args:
        write: does it.
        space: whose memories; it is locked in each step, and once it is gone there are no more.
        step: is given the transaction and the page: numbers above `after`, up to `until`.
        size: memories of a page; default: `PAGE`.
    """
    after = -1

    def one(tx: Transaction) -> tuple[int, T] | None:
        here = tx.run("steps.page", space=space, after=after, size=size or PAGE)
        if not here or here[0]["last"] is None:
            return None
        until = int(here[0]["last"])
        return until, step(tx, {"after": after, "until": until})

    while (done := write(one)) is not None:
        after, found = done
        yield found


def repeat(write: Write, step: Callable[[Transaction], T | None]) -> Iterator[T]:
    """Repeat a step until it finds nothing more to do, and yield what it returns."""
    while found := write(step):
        yield found


def finish(steps: Iterator[object]) -> None:
    """Take steps to their end, whatever they return."""
    deque(steps, maxlen=0)
