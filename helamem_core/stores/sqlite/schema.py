"""Opening a file: is it ours, is it of this version, and bringing an older one up to date."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NoReturn

from helamem_core.errors import ForeignStore, SchemaTooNew, StoreBusy, StoreUnavailable
from helamem_core.stores.migrations import migrations
from helamem_core.stores.sqlite.failures import translated
from helamem_core.stores.statements import statements

SQL = statements("connection")
APPLICATION = 0x48654C61  # "HeLa", at byte 68 of our files
MAGIC = b"SQLite format 3\0"
_HEADER = 100
_PAUSE = 0.02


def examine(path: Path) -> None:
    """Refuse a path that cannot hold our store, touching nothing.

    Raises:
        StoreUnavailable: its folder is missing, or it cannot be read or written.
        ForeignStore: the file holds something else.
        SchemaTooNew: a newer version of this library wrote it.
    """
    if not path.parent.is_dir():
        raise StoreUnavailable(f"store {str(path)!r}: the folder {str(path.parent)!r} does not exist; make it first")
    if path.is_dir():
        raise StoreUnavailable(f"store {str(path)!r} is a folder; name a file in it")
    if not os.access(path if path.exists() else path.parent, os.R_OK | os.W_OK) or not os.access(path.parent, os.W_OK):
        raise StoreUnavailable(
            f"store {str(path)!r} cannot be written; SQLite needs the right to write the file and its folder"
        )
    with translated(str(path)):
        if path.exists() and path.stat().st_size:
            _recognise(path)


def prepare(db: sqlite3.Connection, where: str, timeout: float | None) -> None:
    """Bring a file's schema up to date; a new one is made ours first.

    Args:
        db: a connection to it.
        where: its name for messages.
        timeout: seconds to wait for others with the switch to the write-ahead log; None: leave its journal as it is.

    Raises:
        ForeignStore: the file holds something else.
        SchemaTooNew: a newer version of this library wrote it.
        StoreBusy: another process held its lock for longer than `timeout` seconds.
    """
    _identify(db, where)
    for target, script in enumerate(migrations(), 1):
        if _number(db, "version") < target:
            migrate(db, script, target)
    _identify(db, where)
    if timeout is not None:
        _write_ahead(db, where, timeout)


def migrate(db: sqlite3.Connection, script: str, target: int) -> None:
    """Run one migration in a transaction, unless another process has run it meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    try:
        if _number(db, "version") < target:
            for statement in _split(script):
                db.execute(statement)
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _recognise(path: Path) -> None:
    """Read the header as bytes; only where another process's log may say more, ask SQLite, which reads that too."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if not header.startswith(MAGIC):
        raise ForeignStore(f"store {str(path)!r} is no SQLite file; it was left as it is, name another path")
    tables, version, application = (int.from_bytes(header[at : at + 4], "big") for at in (40, 60, 68))
    if application == APPLICATION:
        _refuse_newer(version, str(path))
    elif path.with_name(path.name + "-wal").exists():
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            _identify(db, str(path))
    elif application or version or tables:
        _refuse_foreign(str(path))


def _identify(db: sqlite3.Connection, where: str) -> None:
    db.execute("BEGIN")  # one state, for another process may be making it just now
    try:
        application, version, tables = (_number(db, name) for name in ("application", "version", "tables"))
    finally:
        db.execute("ROLLBACK")
    if application == APPLICATION:
        _refuse_newer(version, where)
    elif application or version or tables:
        _refuse_foreign(where)


def _refuse_foreign(where: str) -> NoReturn:
    raise ForeignStore(f"store {where!r} is another program's database; it was left as it is, name another path")


def _refuse_newer(version: int, where: str) -> None:
    ours = len(migrations())
    if version > ours:
        raise SchemaTooNew(
            f"store {where!r} has schema version {version}, this library knows up to version {ours}: upgrade helamem"
        )


def _write_ahead(db: sqlite3.Connection, where: str, timeout: float) -> None:
    """Switch to the write-ahead log; SQLite does not wait for others by itself here."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            mode = db.execute(SQL["wal"]).fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            mode = None
        if mode == "wal":
            return
        if mode is not None:
            raise StoreUnavailable(f"store {where!r}: no write-ahead log on this file system; use a local disk")
        if time.monotonic() > deadline:
            raise StoreBusy(f"store {where!r}: another process holds its lock; close it or try again")
        time.sleep(_PAUSE)


def _number(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(SQL[name]).fetchone()[0])


def _split(script: str) -> list[str]:
    found, lines = [], ""
    for line in script.splitlines(keepends=True):
        lines += line
        if sqlite3.complete_statement(lines):
            found.append(lines)
            lines = ""
    return found
