"""SQLite's errors in our terms."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from helamem_core.errors import ForeignStore, HelaMemError, InvalidInput, StoreBusy, StoreError, StoreUnavailable

_KINDS: dict[int, tuple[type[HelaMemError], str]] = {
    sqlite3.SQLITE_BUSY: (
        StoreBusy,
        "another process or thread held its lock too long; try again, or open with a larger `timeout`",
    ),
    sqlite3.SQLITE_LOCKED: (StoreBusy, "its connection is in use elsewhere; try again"),
    sqlite3.SQLITE_PROTOCOL: (StoreBusy, "its lock could not be had; try again"),
    sqlite3.SQLITE_TOOBIG: (InvalidInput, "a text or its metadata is too long for it; cut it into several"),
    sqlite3.SQLITE_NOTADB: (ForeignStore, "it is no SQLite file; name another path"),
    sqlite3.SQLITE_CORRUPT: (StoreError, "the file is damaged; restore a backup"),
    sqlite3.SQLITE_FULL: (StoreError, "the disk is full; free some space and try again"),
    sqlite3.SQLITE_READONLY: (StoreUnavailable, "it cannot be written; check the rights of file and folder"),
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "it cannot be opened; check that its folder exists and can be written"),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "the disk failed to read or write; check the disk"),
    sqlite3.SQLITE_PERM: (StoreUnavailable, "access is refused; check the rights of file and folder"),
}
_PRIMARY = 0xFF  # the low byte of an extended result code


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raise SQLite's errors as ours, naming the store.

    Args:
        where: the store, for the message.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _ours(error, where) from error
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{str(error.object)[:80]!r} cannot be stored: it holds half a character") from error


def _ours(error: sqlite3.Error, where: str) -> HelaMemError:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return StoreError(f"store {where!r}: {error}")
    kind, way_out = _KINDS.get(code & _PRIMARY, (StoreError, "this should not happen; please report it"))
    return kind(f"store {where!r}: {error}: {way_out}")
