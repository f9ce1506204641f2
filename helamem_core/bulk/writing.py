"""Rows into a memory, in order; both engines write through here."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import groupby

from helamem_core.bulk.report import Failure, Written
from helamem_core.bulk.rows import Row
from helamem_core.errors import EmbeddingPendingWarning, InvalidInput, RememberError
from helamem_core.memory import Memory
from helamem_core.types import RememberReport


def write(memory: Memory, rows: Sequence[Row]) -> Written:
    """Remember rows in their order; what fails is told, never raised.

    After a failure of the store nothing more is tried: a turn written past a gap would be linked to the wrong one, and
    the next run could not mend that.
    """
    done = Written()
    for row in rows:
        if row.error is not None:
            done.failures.append(Failure.of(row, row.error))
    good = [row for row in rows if row.error is None]
    for given, run in groupby(good, lambda row: row.vector is not None):
        part = list(run)
        if done.broken is not None:
            refuse(part, done.broken, done)
        else:
            _remember(memory, part, given, done)
    return done


def refuse(rows: Sequence[Row], error: str, done: Written) -> None:
    """Count rows as failed by the store."""
    done.broken = error
    for row in rows:
        done.failures.append(Failure.of(row, error if row.error is None else row.error, store=row.error is None))


def _remember(memory: Memory, rows: Sequence[Row], given: bool, done: Written) -> None:
    store = False
    try:
        with warnings.catch_warnings():
            # Told once for all, not once a part.
            warnings.simplefilter("ignore", EmbeddingPendingWarning)
            report = memory.remember(
                [row.turn for row in rows], vectors=[row.vector for row in rows] if given else None
            )
    except RememberError as error:
        report, cause = error.report, error.__cause__
        store = not isinstance(cause, InvalidInput)
        done.broken = str(cause) if store else None
    except InvalidInput as error:  # the vectors cannot be used by this memory at all
        done.failures += [Failure.of(row, str(error)) for row in rows]
        return
    _count(rows, report, store, done)


def _count(rows: Sequence[Row], report: RememberReport, store: bool, done: Written) -> None:
    done.stored += report.count("stored")
    done.unchanged += report.count("unchanged")
    done.embedding_error = done.embedding_error or report.embedding_error
    for row, item in zip(rows, report.items, strict=True):
        if item.outcome == "failed":
            done.failures.append(Failure.of(row, item.error or "unknown", store=store))
