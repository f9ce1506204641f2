"""Processes that outlive the command that started them, known by their id and a mark in their command line."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from helamem_core.errors import StoreUnavailable

_PAUSE: Final = 0.05  # seconds between two looks
_PROC: Final = Path("/proc")

# Those that this process started: it must take note of their end, or they stay as zombies.
_children: Final[dict[int, subprocess.Popen[bytes]]] = {}


def spawn(command: Sequence[str | Path], folder: Path, log: Path) -> int:
    """Start a program that goes on when this process ends, and return its id.

    Args:
        command: the program and its arguments.
        folder: where it runs.
        log: takes its output; what was in it is gone.

    Raises:
        StoreUnavailable: it cannot be started.
    """
    try:
        with log.open("wb") as output:
            child = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        raise StoreUnavailable(f"cannot start {str(command[0])!r}: {error.strerror or error}") from error
    _children[child.pid] = child
    return child.pid


def runs(pid: int, mark: str) -> bool:
    """Return whether a process runs and is the one meant: another program may have got the id of one that ended.

    Args:
        pid: its id.
        mark: an argument of its command line that no other program has.
    """
    child = _children.get(pid)
    if child is None:
        return mark in _arguments(pid)
    if child.poll() is None:  # a child keeps its id until its end is noted, and at first has no command line
        return True
    del _children[pid]
    return False


def _arguments(pid: int) -> str | list[str]:
    """Return the arguments of a process, as one text where the system tells no more; none of one that has ended."""
    if not (_PROC / "self").exists():
        command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    try:
        return os.fsdecode((_PROC / str(pid) / "cmdline").read_bytes()).split("\0")
    except OSError:
        return []


def _is_ending(pid: int) -> bool:
    """Return whether a process has lost its command line but still has open files and ports."""
    if _arguments(pid):
        return False
    try:
        state = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        threads = len(list((_PROC / str(pid) / "task").iterdir()))
    except OSError:
        return False
    return state != "Z" or threads > 1


def terminate(pid: int, mark: str, grace: float) -> None:
    """Ask a process to end and wait for it; one that takes longer than the grace, in seconds, is killed."""
    if not runs(pid, mark):
        return
    _send(pid, signal.SIGTERM)
    if not _ended(pid, mark, grace):
        kill(pid, mark)


def kill(pid: int, mark: str) -> None:
    """End a process at once, as a loss of power would, and wait until it is gone.

    Raises:
        StoreUnavailable: the system does not end it.
    """
    if not runs(pid, mark):
        return
    _send(pid, signal.SIGKILL)
    if not _ended(pid, mark, 30):
        raise StoreUnavailable(f"process {pid} of Neo4j does not end; it may wait for a disk that does not answer")


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise StoreUnavailable(f"process {pid} of Neo4j belongs to another user, who must stop it") from error


def _ended(pid: int, mark: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while runs(pid, mark) or _is_ending(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True
