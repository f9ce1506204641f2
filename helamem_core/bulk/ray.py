"""The engine of many processes: Ray Data reads and divides the files, a pool of workers embeds and writes.

Rows of one session must be written by one worker in the order of the files, or the links between turns would differ
from run to run. So the rows are partitioned by session first (`Dataset.repartition(keys=...)`: equal keys share a
block), and then each block goes to one worker as a whole (`map_batches(batch_size=None)`), which sorts it and writes it
part by part. The two steps are two executions: a pool that held all processors would starve the readers of one plan.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np

from helamem_core.bulk import local, pieces
from helamem_core.bulk.pieces import Piece
from helamem_core.bulk.report import BulkReport, Failure, Tally, Written
from helamem_core.bulk.rows import Row
from helamem_core.bulk.writing import refuse, write
from helamem_core.config import Config
from helamem_core.context import Progress
from helamem_core.errors import HelaMemError, InvalidInput, MissingExtra
from helamem_core.memory import Memory
from helamem_core.showing import shown
from helamem_core.urls import redacted

LOCAL: Final = "local"
"""The address of a cluster that lives on this machine for as long as the load."""
_BLOCK = 32 * 2**20  # bytes of a block of rows, about: what a worker holds at once
_BLOCKS_PER_WORKER = 8  # at least, so that a worker that is done early finds more to do
_ROWS = 2048  # of a block of rows that were just read
_STARTS = 3  # of a cluster of one's own: on a busy machine Ray gives its processes up too soon
_CARRIED = ("HELAMEM_", "OPENAI_")
# No word to Ray's makers, and no notes of its inner workings between our lines.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


class EngineError(HelaMemError):
    """Ray failed, not the memory; what was stored stays, and the same load goes on from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """Where workers write; its repr shows neither url nor environment, for they may hold passwords.

    Attributes:
        url: a store that all workers reach.
        space: the space.
        embedder: name of the embedder, None for the default.
        config: all numbers.
        environment: variables that workers need as this process has them; default: those of the memory and of the
            embedder `openai`.
    """

    url: str = field(repr=False)
    space: str
    embedder: str | None
    config: Config = field(repr=False)
    environment: Mapping[str, str] = field(
        repr=False,
        default_factory=lambda: {name: value for name, value in os.environ.items() if name.startswith(_CARRIED)},
    )

    def open(self) -> Memory:
        """Open the memory in a worker."""
        os.environ.update(self.environment)
        return Memory.open(self.url, space=self.space, embedder=self.embedder, config=self.config)


class Worker:
    """Writes blocks of rows; one process of the pool.

    Args:
        sink: where to; opened with the first block, so that a failure to do so is told like any other.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._memory: Memory | None = None

    def __call__(self, block: Any) -> Any:
        """Write a block and return one row that says what became of it."""
        import pyarrow as pa

        done = Written()
        if block.num_rows:
            block = block.sort_by("number")
        size = local.BATCHES * self._sink.config.limits.batch
        for start in range(0, block.num_rows, size):
            _merge(done, self._write(_unpacked(block.slice(start, size)), done.broken))
        return pa.table({"written": [json.dumps(done.to_dict())]})

    def _write(self, rows: Sequence[Row], broken: str | None) -> Written:
        if broken is None:
            try:
                self._memory = self._memory or self._sink.open()
                return write(self._memory, rows)
            except HelaMemError as error:
                broken = redacted(str(error))
        done = Written()
        refuse(rows, broken, done)
        return done


def load(
    sink: Sink,
    files: Sequence[str],
    *,
    workers: int | None = None,
    address: str | None = None,
    defaults: Mapping[str, str] | None = None,
    reject: Callable[[Failure], None] | None = None,
    progress: Progress | None = None,
) -> BulkReport:
    """Remember the turns of files by the workers of a Ray cluster.

    Args:
        sink: where to.
        files: JSON Lines or Parquet, paths or urls that all machines of the cluster can read.
        workers: how many processes write; default: one for each processor.
        address: of a running cluster, `auto` for the one on this machine; default: RAY_ADDRESS, else a cluster on this
            machine for as long as the load. An open connection of this process is used as it is.
        defaults: session, speaker and role of turns that name none.
        reject: told of each row that fails.
        progress: told after each block.

    Raises:
        EngineError: Ray failed or cannot be reached.
        InvalidInput: a file cannot be read; nothing was stored.
        MissingExtra: Ray is not installed.
    """
    if workers is not None and workers < 1:
        raise InvalidInput(f"workers is {shown(workers)}; it must be at least 1")
    start, tally = time.monotonic(), Tally(reject, progress)
    split = pieces.split([name if "://" in name else str(Path(name).absolute()) for name in files])
    with _connected(address, workers) as count:
        if split:
            rows, total = _partitioned(split, defaults or {}, count), sum(piece.lines for piece in split)
            for written in _written(rows, sink, count):
                tally.add(written, total)
    return tally.report("ray", count, time.monotonic() - start)


def _partitioned(split: Sequence[Piece], defaults: Mapping[str, str], workers: int) -> Any:
    """Return all rows, those of one key in one block."""
    import ray.data
    from ray.data.context import DataContext, ShuffleStrategy

    # With a strategy that sorts, keys would be ignored.
    DataContext.get_current().shuffle_strategy = ShuffleStrategy.SHUFFLE_V2
    blocks = max(_BLOCKS_PER_WORKER * workers, ceil(sum(piece.bytes for piece in split) / _BLOCK))
    # As JSON, since paths may hold what is no text.
    items = ray.data.from_items([json.dumps(asdict(piece)) for piece in split], override_num_blocks=len(split))
    rows = items.map_batches(_packed, batch_size=1, fn_kwargs={"defaults": dict(defaults)})
    return rows.repartition(blocks, keys=["key"]).materialize()


def _packed(batch: Mapping[str, Any], defaults: Mapping[str, str]) -> Iterator[Any]:
    """Yield the rows of pieces as Arrow tables."""
    for item in batch["item"]:
        found: list[tuple[int, Row]] = []
        for pair in pieces.read(Piece(**json.loads(item)), defaults):
            found.append(pair)
            if len(found) == _ROWS:
                yield _table(found)
                found = []
        yield _table(found)


def _table(numbered: Sequence[tuple[int, Row]]) -> Any:
    import pyarrow as pa

    rows = [row for _, row in numbered]
    return pa.table(
        {
            "key": pa.array([row.key for row in rows], pa.string()),
            "number": pa.array([number for number, _ in numbered], pa.int64()),
            # JSON in ASCII: what a file may hold is not always what a column of text may hold.
            "row": pa.array([json.dumps((row.source, row.line, row.record, row.error)) for row in rows], pa.string()),
            "vector": pa.array([None if row.vector is None else row.vector.tobytes() for row in rows], pa.binary()),
        }
    )


def _unpacked(block: Any) -> list[Row]:
    found = []
    for text, vector in zip(block["row"].to_pylist(), block["vector"].to_pylist(), strict=True):
        source, line, record, error = json.loads(text)
        found.append(Row(source, line, record, None if vector is None else np.frombuffer(vector, np.float32), error))
    return found


def _written(rows: Any, sink: Sink, workers: int) -> Iterator[Written]:
    """Yield what became of each block, as soon as it is written."""
    import ray.data

    pool = ray.data.ActorPoolStrategy(size=workers)
    told = rows.map_batches(
        Worker, batch_size=None, batch_format="pyarrow", compute=pool, fn_constructor_kwargs={"sink": sink}
    )
    for row in told.iter_rows():
        yield Written.from_dict(json.loads(row["written"]))


def _merge(done: Written, part: Written) -> None:
    done.stored += part.stored
    done.unchanged += part.unchanged
    done.failures += part.failures
    done.broken = done.broken or part.broken
    done.embedding_error = done.embedding_error or part.embedding_error


@contextmanager
def _connected(address: str | None, workers: int | None) -> Iterator[int]:
    """Connect to Ray, if this process has not, and yield how many workers there are to be."""
    ray = _imported()
    mine = not ray.is_initialized()
    try:
        if mine:
            _start(ray, address or os.environ.get("RAY_ADDRESS") or LOCAL, workers)
        _hush()
        yield workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    except HelaMemError:
        raise
    except (ray.exceptions.RayError, ConnectionError, RuntimeError, ValueError) as error:
        raise EngineError(f"Ray failed: {_reason(error)}; what is stored stays, the same load goes on") from error
    finally:
        if mine:
            ray.shutdown()


def _imported() -> Any:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtra("the engine 'ray'", "ray") from error
    return ray


def _start(ray: Any, address: str, workers: int | None) -> None:
    own = {"num_cpus": workers, "include_dashboard": False} if address == LOCAL else {}
    for left in reversed(range(_STARTS if address == LOCAL else 1)):
        try:
            with _mute():
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
            return
        except Exception as error:  # Ray raises plain ones too
            ray.shutdown()
            if not left:
                raise EngineError(f"Ray failed to start: {_reason(error)}; nothing was stored") from error


@contextmanager
def _mute() -> Iterator[None]:
    """Keep what Ray's C++ writes to standard error while it starts off the terminal; its errors are raised."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _hush() -> None:
    """Keep Ray Data's bars and notes off the terminal; its files keep them."""
    from ray.data.context import DataContext

    context = DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    for handler in logging.getLogger("ray.data").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setLevel(logging.CRITICAL)


def _reason(error: BaseException) -> str:
    """Return the last line of an error of Ray, which holds the traceback of a worker, without secrets."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return redacted(lines[-1] if lines else type(error).__name__)
