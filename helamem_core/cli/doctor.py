"""`helamem doctor`: what is installed, reachable and consistent, and the way out where something is not."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Final

import typer

from helamem_core.cli import checks, store_checks
from helamem_core.cli.call import Call
from helamem_core.cli.checks import Finding
from helamem_core.cli.command import command
from helamem_core.cli.failures import FAILED
from helamem_core.cli.output import Output
from helamem_core.errors import HelaMemError
from helamem_core.protocols import Embedder
from helamem_core.stores.sqlite.purge import due
from helamem_core.urls import redacted

_STYLES: Final = {"ok": "green", "warn": "yellow", "fail": "bold red"}
_PATIENCE: Final = 0.5  # seconds after which a file counts as locked


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "doctor", "Tend")(doctor)


def doctor(call: Call) -> None:
    """Check what is installed, reachable and consistent; each finding comes with the way out.

    Without --space it looks at all spaces. It ends with 1 if anything fails.
    """
    with call.warnings_told():
        findings = list(examine(call))
    failed = any(finding.level == "fail" for finding in findings)
    if call.out.as_json:
        call.out.document({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        _show(call.out, findings)
    if failed:
        raise typer.Exit(FAILED)


def examine(call: Call) -> Iterator[Finding]:
    """Yield all findings: the machine, the embedder, the store, its spaces."""
    name = call.embedder or "minilm"
    yield checks.distribution()
    yield from checks.machine()
    missing = [*checks.extras(name)]
    yield from missing
    embedder = None
    if all(finding.level == "ok" for finding in missing):
        embedder, found = checks.embedding(name)
        yield from found
    yield from _store(call, embedder)


def _store(call: Call, embedder: Embedder | None) -> Iterator[Finding]:
    if call.path is not None:
        yield from store_checks.disk(call.path)
        if not call.path.exists():
            way_out = "`helamem remember` makes it; to look at another one give --store URL or set HELAMEM_URL"
            yield Finding("warn", "store", f"no file at {call.path} yet", way_out)
            return
        yield from _lock(call.path)
    try:
        with call.open(call.space or "-") as memory:
            yield Finding("ok", "store", f"opened: {redacted(call.store)}")
            if call.path is not None:
                yield from _erased(call.path)
            yield from store_checks.consistency(memory.check())
            yield from store_checks.spaces(call, memory, embedder)
    except (HelaMemError, OSError) as error:
        yield store_checks.refusal(error, call)


def _erased(path: Path) -> Iterator[Finding]:
    """Yield a finding if erased bytes are still in the file, although opening it has tried to remove them."""
    with closing(_connect(path)) as connection:
        if due(connection):
            message = "erased memories are gone, but their bytes are still in the file: another process keeps it open"
            yield Finding("warn", "store", message, "end the other processes, then run `helamem doctor` again")


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)


def _lock(path: Path) -> Iterator[Finding]:
    """Yield a finding if another process keeps the file's write lock."""
    try:
        with closing(_connect(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            message = f"locked: another process has been writing to {path} for {_PATIENCE} s"
            yield Finding("fail", "store", message, "wait for it, or end it; `fuser` or `lsof` name it")
    except sqlite3.DatabaseError:
        return  # no database at all: opening it says so in better words


def _show(out: Output, findings: list[Finding]) -> None:
    for finding in findings:
        out.line(f"{finding.level:<4}  {finding.about}: {finding.message}", _STYLES[finding.level])
        if finding.way_out:
            out.line(f"      -> {finding.way_out}")
    counts: Counter[str] = Counter(finding.level for finding in findings)
    out.note(", ".join(f"{counts[level]} {level}" for level in _STYLES if counts[level]))
