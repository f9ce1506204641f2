"""The engine of one process: files are streamed, so that their size does not matter."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from helamem_core.bulk import pieces
from helamem_core.bulk.report import BulkReport, Failure, Tally
from helamem_core.bulk.rows import Row
from helamem_core.bulk.writing import write
from helamem_core.context import Progress
from helamem_core.memory import Memory

BATCHES = 16
"""So many batches of the memory (`config.limits.batch`) are read and written at once."""


def load(
    memory: Memory,
    files: Sequence[str],
    *,
    defaults: Mapping[str, str] | None = None,
    reject: Callable[[Failure], None] | None = None,
    progress: Progress | None = None,
) -> BulkReport:
    """Remember the turns of files, in order.

    Args:
        memory: where to.
        files: JSON Lines or Parquet, paths or urls.
        defaults: session, speaker and role of turns that name none.
        reject: told of each row that fails.
        progress: told after each part.

    Raises:
        InvalidInput: a file cannot be read; nothing was stored.
        MissingExtra: a file is Parquet, which needs the extra `ray`.
    """
    split = pieces.split(files)
    rows = chain.from_iterable((row for _, row in pieces.read(piece, defaults or {})) for piece in split)
    return load_rows(memory, rows, sum(piece.lines for piece in split), reject=reject, progress=progress)


def load_rows(
    memory: Memory,
    rows: Iterable[Row],
    total: int | None,
    *,
    reject: Callable[[Failure], None] | None = None,
    progress: Progress | None = None,
) -> BulkReport:
    """Remember rows, in order, up to the first failure of the store; `total` is how many there are, if known."""
    start, tally = time.monotonic(), Tally(reject, progress)
    for part in _parts(rows, BATCHES * memory.config.limits.batch):
        tally.add(write(memory, part), total)
        if tally.broken is not None:
            break
    return tally.report("local", 1, time.monotonic() - start)


def _parts(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    iterator = iter(rows)
    while part := list(islice(iterator, size)):
        yield part
