"""What went wrong, in one line with the way out, and the exit code that scripts can rely on."""

from __future__ import annotations

import os
import sys
from typing import Final

import typer

from helamem_core.errors import (
    ContentConflict,
    HelaMemError,
    InvalidExport,
    InvalidInput,
    MemoryNotFound,
    SpaceNotEmpty,
    StoreError,
)
from helamem_core.urls import redacted

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
STORE: Final = 4
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

CODES_HELP: Final = (
    "Exit codes: 0 ok, 1 the operation failed, 2 bad usage, 3 not found, 4 store unavailable, busy or foreign, "
    "130 interrupted."
)

_CODES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (ContentConflict, FAILED),
    (SpaceNotEmpty, FAILED),
    (InvalidExport, FAILED),
    (InvalidInput, USAGE),
    (MemoryNotFound, NOT_FOUND),
    (StoreError, STORE),
    (HelaMemError, FAILED),
    (OSError, FAILED),
)


_COMMANDS: Final = {
    "list()": "helamem list",
    "reembed()": "helamem reembed",
    "reembed": "helamem reembed",
    "embed_pending()": "helamem reembed --pending",
    "remember": "helamem remember",
    "restore": "helamem restore",
}


class Refused(Exception):
    """A command cannot go on for a reason that only the command line knows.

    Attributes:
        code: the exit code.
    """

    def __init__(self, message: str, code: int = USAGE) -> None:
        self.code = code
        super().__init__(message)


def debugging() -> bool:
    """Say whether tracebacks are wanted (`HELAMEM_DEBUG=1`)."""
    return os.environ.get("HELAMEM_DEBUG", "") not in ("", "0")


def code_of(error: BaseException) -> int:
    """Return the exit code of an error."""
    if isinstance(error, Refused):
        return error.code
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    if hasattr(error, "format_message"):  # an error of typer or click about the arguments
        return int(getattr(error, "exit_code", USAGE))
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def message_of(error: BaseException) -> str:
    """Return what to tell, in one line."""
    return redacted(for_shell(" ".join(_words(error).split())))


def for_shell(text: str) -> str:
    """Return a message whose ways out are commands, where the library names methods."""
    for method, line in _COMMANDS.items():
        text = text.replace(f"`{method}`", f"`{line}`")
    return text


def _words(error: BaseException) -> str:
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return "interrupted"
    if hasattr(error, "format_message"):
        return _usage(error)
    if isinstance(error, OSError) and not isinstance(error, HelaMemError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, (Refused, HelaMemError)):
        return str(error)
    return f"unexpected {type(error).__name__}: {error}; HELAMEM_DEBUG=1 shows where it came from"


def _usage(error: BaseException) -> str:
    """Return the words of an error about the arguments, with the help to look at."""
    text = str(error.format_message()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "helamem"
    return f"{text or 'no command given'}; see `{path} --help`"


def report(error: BaseException) -> int:
    """Tell standard error what went wrong and return the exit code."""
    if isinstance(error, BrokenPipeError):
        _silence()
        return BROKEN_PIPE
    if debugging():
        import traceback

        traceback.print_exception(error)
    print(f"error: {message_of(error)}", file=sys.stderr)
    return code_of(error)


def _silence() -> None:
    """Let Python's last flush of standard output go nowhere: its reader has left."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # standard output is no file, as in tests
        return
