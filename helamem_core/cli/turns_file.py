"""Turns from a file: JSON Lines with one turn a line, or plain text with one turn a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import typer

from helamem_core.bulk.rows import parsed
from helamem_core.cli.failures import FAILED, USAGE, Refused
from helamem_core.types import Turn

_SHOWN = 3
STDIN = "-"


class Format(StrEnum):
    """How a file is read; `auto` takes `.jsonl` and lines that start with `{` for JSON."""

    auto = "auto"
    jsonl = "jsonl"
    text = "text"


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a line that does not say so itself is taken for."""

    session: str | None = None
    speaker: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Sourced:
    """A turn and where it was read."""

    turn: Turn
    source: str
    line: int

    @property
    def place(self) -> str:
        """The place as editors write it."""
        return f"{self.source}:{self.line}"


def read_turns(names: Sequence[str], form: Format, defaults: Defaults) -> list[Sourced]:
    """Read all files, so that nothing is stored if a line of them is wrong.

    Args:
        names: paths; `-` is standard input.
        form: how to read them.
        defaults: fill what a line leaves open.

    Raises:
        Refused: a file cannot be read, or lines are no turns; the message names them.
    """
    found: list[Sourced] = []
    wrong: list[str] = []
    given = {key: value for key, value in asdict(defaults).items() if value is not None}
    for name in names:
        lines = _lines(name)
        as_json = form is Format.jsonl or (form is Format.auto and _looks_like_json(name, lines))
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = _record(line) if as_json else {"text": line.strip()}
            except ValueError as error:
                wrong.append(f"{_label(name)}:{number}: {error}")
                continue
            turn = Turn(**{**given, **record})
            found.append(Sourced(_identified(turn, name, number), _label(name), number))
    if wrong:
        more = f" (and {len(wrong) - _SHOWN} more lines)" if len(wrong) > _SHOWN else ""
        raise Refused(f"{'; '.join(wrong[:_SHOWN])}{more}; nothing was stored", FAILED)
    return found


def _lines(name: str) -> list[str]:
    stream: IO[bytes]
    try:
        if name == STDIN:
            stream = typer.get_binary_stream("stdin")
            data = stream.read()
        else:
            data = Path(name).read_bytes()
    except OSError as error:
        raise Refused(f"cannot read {name!r}: {error.strerror}", USAGE) from error
    try:
        return data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise Refused(f"{_label(name)}:{number}: not UTF-8 text; convert it first, as with `iconv`", FAILED) from error


def _label(name: str) -> str:
    return "standard input" if name == STDIN else name


def _looks_like_json(name: str, lines: Sequence[str]) -> bool:
    if Path(name).suffix.lower() in (".jsonl", ".ndjson"):
        return True
    first = next((line for line in lines if line.strip()), "")
    try:
        return isinstance(json.loads(first), dict)
    except ValueError:
        return False


def _record(line: str) -> dict[str, Any]:
    """Return what a JSON line says of its turn; raise `ValueError` saying what is wrong with it."""
    return {key: value for key, value in parsed(line).items() if value is not None}


def _identified(turn: Turn, name: str, number: int) -> Turn:
    """Give an id to a line of a file that has neither id nor time.

    The id comes from the file's name, the line's number and its text: giving the same file again, after a
    failure or with lines added, stores nothing twice. Standard input has no name: its lines are always new.
    """
    if turn.id is not None or turn.at is not None or name == STDIN:
        return turn
    key = "\0".join((Path(name).name, str(number), turn.session or "", turn.speaker or "", turn.role, turn.text))
    return replace(turn, id=f"line-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}")
