"""Where the jars and the data lie, and the lock that lets one process at a time change what is there.

| variable | for | default |
|---|---|---|
| `HELAMEM_CACHE` | what can be fetched again | `$XDG_CACHE_HOME/helamem`, or `~/.cache/helamem` |
| `HELAMEM_NEO4J_HOME` | the data of local servers | `$XDG_DATA_HOME/helamem/neo4j`, or `~/.local/share/helamem/neo4j` |

An empty variable counts as unset.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from helamem_core.errors import StoreBusy, StoreUnavailable
from helamem_core.local_neo4j.lines import Line

_PAUSE: Final = 0.1  # seconds between two tries of a lock


def cache_folder() -> Path:
    """Return the folder of what can be fetched again."""
    return _named("HELAMEM_CACHE") or (_named("XDG_CACHE_HOME") or Path.home() / ".cache") / "helamem"


def home_folder(line: Line) -> Path:
    """Return the data folder of a line's server: each line has its own, so that none opens another's store."""
    data = _named("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return (_named("HELAMEM_NEO4J_HOME") or data / "helamem" / "neo4j") / line.name


def _named(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser().absolute() if value else None


def made(folder: Path, mode: int = 0o777) -> Path:
    """Make a folder unless it is there, and return it.

    Raises:
        StoreUnavailable: it cannot be made.
    """
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"cannot make the folder {str(folder)!r}: {error.strerror or error}") from error
    return folder


@contextmanager
def locked(path: Path, seconds: float, doing: str) -> Iterator[None]:
    """Hold a lock that only one process has at a time; the system frees it if the process dies.

    Args:
        path: the lock's file, in a folder that exists; it stays.
        seconds: how long to wait for another process.
        doing: what the lock is for, for the message.

    Raises:
        StoreBusy: another process kept it for longer.
        StoreUnavailable: the file cannot be written.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnavailable(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    try:
        _acquire(handle, time.monotonic() + seconds, path, doing)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, deadline: float, path: Path, doing: str) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise StoreBusy(
                    f"another process has been {doing} for too long; wait for it, or end it (it holds {str(path)!r})"
                ) from error
        time.sleep(_PAUSE)
