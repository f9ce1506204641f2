"""Erasing: memories with all that belonged to them, cues, whole spaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar
from uuid import uuid4

from helamem_core.errors import StoreBusy
from helamem_core.stores.neo4j.connection import Connection, Transaction
from helamem_core.stores.neo4j.steps import Write, repeat
from helamem_core.types import ForgetReport

_BATCH = 1000  # nodes that one transaction of `drop_space` erases
_PARTS = ("episodes", "cues", "keywords", "staged", "events")
T = TypeVar("T")


def forget(tx: Transaction, space: str, ids: Sequence[str]) -> ForgetReport:
    """Erase memories, and cues that are named themselves."""
    asked = list(dict.fromkeys(ids))
    dropped = tx.run("forget.cues", space=space, ids=asked) if asked else []
    report = erase(tx, space, asked)
    for row in dropped:
        report = replace(report, links=report.links + row["links"], cues=report.cues + row["cues"])
    return report


def erase(tx: Transaction, space: str, ids: Iterable[str]) -> ForgetReport:
    """Erase memories, their links and index entries, and cues that led only to them; unknown ids are passed over."""
    asked = list(dict.fromkeys(ids))
    rows = tx.run("forget.erase", space=space, ids=asked) if asked else []
    if not rows:
        return ForgetReport(())
    return ForgetReport(tuple(rows[0]["ids"]), rows[0]["links"], rows[0]["cues"])


def drop_space(db: Connection, space: str) -> ForgetReport:
    """Erase a space, batch by batch.

    From the first batch on it counts as absent. What one that was cut short has left is erased by the next call, and no
    more than that is in its report. If somebody else begins to erase or to fill it meanwhile, the rest is theirs.
    """
    mine, gone = Claim(db, space), []
    if not db.write(lambda tx: tx.run("drop_space.begin", space=space, loader=mine.loader)):
        return ForgetReport(())
    with suppress(StoreBusy):
        for row in empty(mine.write, space):
            gone.append(row)
        mine.write(lambda tx: tx.run("drop_space.end", space=space))
    ids = [id for row in gone for id in row.get("ids", ())]
    return ForgetReport(tuple(ids), *(sum(row.get(what, 0) for row in gone) for what in ("links", "cues")))


def empty(write: Write, space: str) -> Iterator[dict[str, Any]]:
    """Erase what is in a space, a batch a transaction; yield what each batch erased."""
    for part in _PARTS:
        yield from repeat(write, lambda tx: _batch(tx, part, space))  # noqa: B023


def _batch(tx: Transaction, part: str, space: str) -> dict[str, Any] | None:
    row = tx.one(f"drop_space.{part}", space=space, batch=_BATCH)
    return row if any(row.values()) else None


class Claim:
    """A space that counts as absent while it is filled or erased by one of us, batch by batch.

    Attributes:
        loader: tells this filling or erasure from another one of the same space.
    """

    def __init__(self, db: Connection, space: str) -> None:
        self.db, self.space, self.loader = db, space, uuid4().hex

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Do something in one transaction, if the space is still ours.

        Raises:
            StoreBusy: somebody else has begun to fill or to erase it, or has erased it.
        """

        def guarded(tx: Transaction) -> T:
            if not tx.run("spaces.ours", space=self.space, loader=self.loader):
                raise StoreBusy(
                    f"space {self.space!r} was erased, or another import into it has begun; this one is given up"
                )
            return work(tx)

        return self.db.write(guarded)
