"""Export and import: a space as JSON Lines, from any engine into any other."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from helamem_core.context import Context
from helamem_core.errors import HelaMemError, InvalidExport, InvalidInput, StoreUnavailable
from helamem_core.showing import shown
from helamem_core.stores import files

Place = str | os.PathLike[str] | IO[str] | IO[bytes]
"""A path, `-` for standard output or input, or an open file, text or binary, which stays open."""


def export(context: Context, place: Place) -> int:
    """See `Memory.export`."""
    memories = 0
    with _writer(place, context.store.files()) as file:
        binary = _is_binary(file)
        for record in context.store.dump(context.space):
            memories += "episode" in record
            line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
            file.write(line.encode() if binary else line)
    return memories


def import_(context: Context, place: Place) -> int:
    """See `Memory.import_`."""
    with _reader(place) as file:
        lines = _Lines(file)
        try:
            return context.store.load(context.space, lines)
        except InvalidExport as error:
            if lines.at is None:
                raise
            raise InvalidExport(f"line {lines.at}: {error}") from error


def backup(context: Context, place: str | os.PathLike[str]) -> None:
    """See `Memory.backup`."""
    path = files.place(place, "path")
    files.refuse(path, context.store.files(), "back up to")
    context.store.backup(path)


class _Lines:
    """The records of a file.

    Attributes:
        at: number of the line read last, None before the first and after the last one.
    """

    def __init__(self, file: Iterable[Any]) -> None:
        self._file = file
        self.at: int | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the records; lines that are blank are none."""
        lines, number = iter(self._file), 0
        while True:
            number += 1
            try:
                line = next(lines)
                self.at = number
                if isinstance(line, bytes):
                    line = line.decode()
                record = json.loads(line.lstrip("\ufeff"), parse_constant=_refuse) if line.strip() else None
            except StopIteration:
                self.at = None
                return
            except (ValueError, RecursionError) as error:
                self.at = number
                raise InvalidExport(f"no JSON: {error}") from error
            if record is None:
                continue
            if not isinstance(record, dict):
                raise InvalidExport(f"no record of an export: {shown(line)}")
            yield record


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON value")


def _is_binary(file: IO[Any]) -> bool:
    return isinstance(file, (io.RawIOBase, io.BufferedIOBase)) or "b" in str(getattr(file, "mode", ""))


@contextmanager
def _writer(place: Place, own: list[Path]) -> Iterator[IO[Any]]:
    if not isinstance(place, (str, os.PathLike)):
        if not callable(getattr(place, "write", None)):
            raise InvalidInput(f"path is {shown(place)}; it must be a path, '-' or an open file")
        _refuse_open(place, own)
        try:
            yield place
        except (HelaMemError, BrokenPipeError):
            raise
        except OSError as error:
            raise StoreUnavailable(f"cannot write the export: {error.strerror or error}") from error
    elif place == "-":
        yield sys.stdout
    else:
        path = files.place(place, "path")
        files.refuse(path, own, "export to")
        with files.beside(path, replace=True) as part, part.open("w", encoding="utf-8", newline="\n") as file:
            yield file


def _refuse_open(file: IO[Any], own: list[Path]) -> None:
    """Hold that an open file is none of the store's."""
    mine = False
    with suppress(OSError, ValueError, AttributeError, TypeError):
        opened = os.fstat(file.fileno())
        mine = any(os.path.samestat(opened, path.stat()) for path in own if path.exists())
    if mine:
        raise InvalidInput("cannot export to this open file: it belongs to the store itself; name another file")


@contextmanager
def _reader(place: Place) -> Iterator[Iterable[Any]]:
    if not isinstance(place, (str, os.PathLike)):
        if not callable(getattr(place, "read", None)) or not isinstance(place, Iterable):
            raise InvalidInput(f"path is {shown(place)}; it must be a path, '-' or an open file")
        yield place
    elif place == "-":
        yield sys.stdin
    else:
        with _opened(files.place(place, "path")) as file:
            yield file


def _opened(path: Path) -> IO[Any]:
    try:
        return path.open(encoding="utf-8")
    except OSError as error:
        raise StoreUnavailable(f"cannot open {str(path)!r}: {error.strerror}") from error
