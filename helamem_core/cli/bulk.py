"""`helamem remember --engine`: files of any size, in this process or on all machines of a Ray cluster."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from helamem_core.cli.call import Call
from helamem_core.cli.failures import FAILED, STORE, USAGE, Refused
from helamem_core.cli.output import Column, plural
from helamem_core.cli.turns_file import STDIN
from helamem_core.stores import is_neo4j
from helamem_core.stores.files import owned, same

if TYPE_CHECKING:
    from helamem_core.bulk.report import BulkReport, Failure
    from helamem_core.memory import Memory

_COLUMNS: Final = (Column("line", "dim"), Column("why it failed", text=True))
_TOLD_EVERY: Final = 10.0  # seconds between two lines of progress where nobody sees a bar


class Engine(StrEnum):
    """Who loads in bulk."""

    local = "local"
    ray = "ray"


@dataclass(frozen=True, slots=True)
class Load:
    """What a bulk load is asked for.

    Attributes:
        files: JSON Lines or Parquet; `-`: standard input, for the engine of one process.
        defaults: session, speaker and role of turns that name none.
        workers: how many processes of Ray write, None for one each processor.
        address: of the Ray cluster, None for one of its own.
        rejects: a file for the rows that fail.
    """

    engine: Engine
    files: Sequence[str]
    defaults: dict[str, str]
    workers: int | None = None
    address: str | None = None
    rejects: Path | None = None


def load(call: Call, asked: Load) -> None:
    """Load in bulk and tell what happened.

    Raises:
        Refused: bad usage, or rows that failed.
    """
    _check(call, asked)
    done = 0
    with call.memory(create=True) as memory, _rejects(asked.rejects) as reject, _progress(call) as show:

        def tell(count: int, total: int | None) -> None:
            nonlocal done
            done = count
            show(count, total)

        try:
            report = _loaded(call, asked, memory, reject, tell)
        except BaseException:
            if done:
                call.out.warn(f"{plural(done, 'turn')} were done; the same command goes on from there")
            raise
        waiting = memory.stats().unembedded
    _tell(call, asked, report, waiting)


def _check(call: Call, asked: Load) -> None:
    if not asked.files:
        raise Refused("nothing to remember: name files, JSON Lines or Parquet")
    for name in asked.files:
        _check_readable(name)
    if asked.engine is Engine.ray:
        if not is_neo4j(call.store):
            raise Refused(
                "--engine ray needs a store that many processes write to: give --store bolt://... or neo4j://...; "
                "for a file use --engine local"
            )
        if STDIN in asked.files:
            raise Refused("--engine ray cannot read standard input: name files that all workers can read")
    elif asked.workers is not None or asked.address is not None:
        raise Refused("--workers and --ray-address are for --engine ray")
    if STDIN in asked.files and len(asked.files) > 1:
        raise Refused("standard input must be loaded alone: give only `-`")
    own = [Path(name) for name in asked.files] + ([] if call.path is None else owned(call.path))
    if asked.rejects is not None and any(same(asked.rejects, path) for path in own):
        raise Refused(f"--rejects {str(asked.rejects)!r} would overwrite what is read or the store; name another file")


def _check_readable(name: str) -> None:
    """Refuse a path that cannot be read before a store is made for it; urls are asked later."""
    if name == STDIN or "://" in name:
        return
    try:
        with Path(name).open("rb"):
            pass
    except OSError as error:
        raise Refused(f"cannot read {name!r}: {error.strerror}") from error


def _loaded(
    call: Call, asked: Load, memory: Memory, reject: Callable[[Failure], None], tell: Callable[[int, int | None], None]
) -> BulkReport:
    if asked.engine is Engine.ray:
        from helamem_core.bulk import ray

        sink = ray.Sink(url=call.store, space=memory.space, embedder=call.embedder, config=call.config)
        return ray.load(
            sink,
            asked.files,
            workers=asked.workers,
            address=asked.address,
            defaults=asked.defaults,
            reject=reject,
            progress=tell,
        )
    from helamem_core.bulk import local, pieces

    if asked.files == [STDIN]:
        rows = pieces.stream(typer.get_binary_stream("stdin"), "standard input", asked.defaults)
        return local.load_rows(memory, rows, None, reject=reject, progress=tell)
    return local.load(memory, asked.files, defaults=asked.defaults, reject=reject, progress=tell)


@contextmanager
def _rejects(path: Path | None) -> Iterator[Callable[[Failure], None]]:
    """Yield what writes a failure to a file of JSON Lines, at once, so that a load broken off leaves those it met."""
    if path is None:
        yield lambda failure: None
        return
    try:
        file = path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise Refused(f"cannot write {str(path)!r}: {error.strerror}", USAGE) from error
    with file:
        yield lambda failure: print(json.dumps(failure.to_dict()), file=file)


@contextmanager
def _progress(call: Call) -> Iterator[Callable[[int, int | None], None]]:
    """Yield what shows how far a load has come: a bar, or where nobody sees one a line now and then."""
    start = last = time.monotonic()
    with call.out.steps() as step:

        def show(done: int, total: int | None) -> None:
            nonlocal last
            now = time.monotonic()
            rate = f"{done / max(now - start, 1e-9):,.0f} turns a second"
            step(f"remembering, {rate}", done, total)
            if not sys.stderr.isatty() and now - last >= _TOLD_EVERY:
                last = now
                call.out.note(f"{done:,}{'' if total is None else f' of {total:,}'} turns, {rate}")

        yield show


def _tell(call: Call, asked: Load, report: BulkReport, waiting: int) -> None:
    if waiting and report.embedding_error is not None:
        call.out.warn(
            f"{plural(waiting, 'turn')} of the space wait for a vector ({report.embedding_error}); "
            "`helamem reembed --pending` tries again"
        )
    if call.out.as_json:
        rejects = None if asked.rejects is None else str(asked.rejects)
        call.out.document({**report.to_dict(), "unembedded": waiting, "rejects": rejects})
    else:
        if report.failures:
            call.out.table(_COLUMNS, [(f"{item.source}:{item.line}", item.error) for item in report.failures])
        call.out.note(_summary(report))
    if report.failed:
        told = f"{plural(report.failed, 'turn')} could not be stored"
        if report.broken is not None:
            raise Refused(f"{told}: {report.broken}; the same command goes on from there", STORE)
        raise Refused(f"{told}; run it again once mended", FAILED)


def _summary(report: BulkReport) -> str:
    counts: dict[str, Any] = {name: getattr(report, name) for name in ("stored", "unchanged", "failed")}
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
    workers = f", {plural(report.workers, 'worker')} of Ray" if report.engine == "ray" else ""
    return f"{told} in {report.seconds:,.1f} s ({report.rate:,.0f} turns a second{workers})"
