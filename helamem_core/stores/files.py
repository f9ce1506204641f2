"""Files written beside their place and put there when they are whole, which are never files of the store itself."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from helamem_core.errors import HelaMemError, InvalidInput, StoreUnavailable
from helamem_core.showing import shown

_SUFFIXES = ("", "-wal", "-shm", "-journal")
_NAMED = 48  # characters of a name that the one beside it repeats; names are limited to 255 bytes
_UNLINKABLE = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def place(value: object, what: str) -> Path:
    """Return the absolute path that a caller named, so that no name means something else to an engine.

    Raises:
        InvalidInput: it is no path.
    """
    if isinstance(value, (str, os.PathLike)):
        named = os.fspath(value)
        if isinstance(named, str) and named and "\0" not in named:
            return Path(named).absolute()
    raise InvalidInput(f"{what} is {shown(value)}; it must be a path")


def owned(path: Path) -> list[Path]:
    """Return a database's file and those that SQLite keeps beside it."""
    return [path.with_name(path.name + suffix) for suffix in _SUFFIXES]


def refuse(path: Path, own: Iterable[Path], doing: str) -> None:
    """Hold that a path is none of these files, by whatever name.

    Raises:
        InvalidInput: it is one.
    """
    if any(same(path, file) for file in own):
        raise InvalidInput(f"cannot {doing} {str(path)!r}: it belongs to the store itself; name another file")


def same(one: Path, other: Path) -> bool:
    """Return whether two names lead to one file, be it there yet or not."""
    try:
        if one.samefile(other):
            return True
    except (OSError, ValueError):
        pass
    with suppress(OSError, RuntimeError):
        return one.resolve() == other.resolve()
    return one == other


@contextmanager
def beside(path: Path, *, replace: bool) -> Iterator[Path]:
    """Yield an empty file beside a path that takes its place at the end: all or nothing, also if this is killed.

    What a killed run has left there of the same path is removed first.

    Args:
        path: where it is to be in the end.
        replace: whether a file may be there already.

    Raises:
        InvalidInput: a file is there and must not be replaced.
        StoreUnavailable: it cannot be written.
    """
    try:
        if not replace and os.path.lexists(path):
            raise FileExistsError
        _remove_leftovers(path)
        part, handle = _new(path)
        try:
            yield part
            os.fsync(handle)
            _put(part, path, replace)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
        _sync_folder(path.parent)
    except HelaMemError:
        raise
    except FileExistsError as error:
        raise InvalidInput(f"cannot write {str(path)!r}: it exists; name a new file") from error
    except OSError as error:
        raise StoreUnavailable(f"cannot write {str(path)!r}: {error.strerror or error}") from error


def _stem(path: Path) -> str:
    return f".{path.name[:_NAMED]}."


def _new(path: Path) -> tuple[Path, int]:
    """Make a file that is locked as long as somebody writes it."""
    while True:
        part = path.with_name(f"{_stem(path)}{uuid.uuid4().hex[:8]}.part")
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        with suppress(OSError):  # where there are no locks, nobody takes leftovers away either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return part, handle
        os.close(handle)  # taken for a leftover before it was locked


def _remove_leftovers(path: Path) -> None:
    hexes = "[0-9a-f]" * 8
    for left in path.parent.glob(f"{glob.escape(_stem(path))}{hexes}.part"):
        with suppress(OSError):
            handle = os.open(left, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(handle)


def _put(part: Path, path: Path, replace: bool) -> None:
    if replace:
        part.replace(path)
        return
    try:
        path.hardlink_to(part)
    except OSError as error:
        if error.errno not in _UNLINKABLE:
            raise
        if os.path.lexists(path):
            raise FileExistsError from error
        part.rename(path)  # this file system has no links
    else:
        part.unlink()


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
