"""Files in pieces that can be read apart: byte ranges of JSON Lines, row groups of Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, Any, Final

from helamem_core.bulk.rows import KEYS, VECTOR, Row, from_line, from_record, numbers, problems
from helamem_core.errors import InvalidInput, MissingExtra
from helamem_core.urls import redacted

PIECE: Final = 16 * 2**20
"""Bytes of a piece of JSON Lines."""
_SUFFIX = ".parquet"
_BUFFER = 2**20  # bytes asked of a distant file at once
_ROWS = 1024  # of a table that are Python objects at once


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file.

    Attributes:
        path: the file, a path or a url that pyarrow knows (`s3://...`).
        start: the first byte of JSON Lines, the row group of Parquet.
        stop: the byte behind the last one; a line belongs to the piece in which it begins.
        bytes: how large it is, about.
        lines: how many lines or rows it has.
        first: number of its first line or row in the file, from 1.
        before: lines and rows of all pieces before it.
    """

    path: str
    start: int
    stop: int
    bytes: int
    lines: int = 0
    first: int = 1
    before: int = 0

    @property
    def is_table(self) -> bool:
        """Whether it is Parquet."""
        return self.path.lower().endswith(_SUFFIX)


def split(paths: Sequence[str], size: int = PIECE) -> list[Piece]:
    """Return the pieces of files, in order, their lines counted.

    Args:
        paths: paths or urls.
        size: bytes of a piece of JSON Lines; a row group of Parquet is one piece.

    Raises:
        InvalidInput: a file cannot be read, or is no Parquet file with the columns of turns.
        MissingExtra: what reads such a file is not installed.
    """
    found: list[Piece] = []
    for path in paths:
        try:
            found += _groups(path) if path.lower().endswith(_SUFFIX) else _ranges(path, size)
        except OSError as error:
            raise InvalidInput(f"cannot read {redacted(path)!r}: {error.strerror or error}") from error
    before = 0
    for at, piece in enumerate(found):
        found[at] = replace(piece, before=before)
        before += piece.lines
    return found


def read(piece: Piece, defaults: Mapping[str, str]) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a piece that are not blank, each with its number among the rows of all files."""
    found = _table_rows(piece, defaults) if piece.is_table else _line_rows(piece, defaults)
    for row in found:
        yield piece.before + row.line - piece.first, row


def stream(lines: IO[bytes], source: str, defaults: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rows of JSON Lines that cannot be read twice, such as standard input."""
    for number, line in enumerate(lines, 1):
        row = from_line(line, source, number, defaults)
        if row is not None:
            yield row


def _line_rows(piece: Piece, defaults: Mapping[str, str]) -> Iterator[Row]:
    for number, line in enumerate(_lines(piece), piece.first):
        row = from_line(line, piece.path, number, defaults)
        if row is not None:
            yield row


def _lines(piece: Piece) -> Iterator[bytes]:
    """Yield the lines that begin in a byte range."""
    with _opened(piece.path) as file:
        if piece.start:
            # The line of the byte before belongs to the piece before, even if only its end is left.
            file.seek(piece.start - 1)
            file.readline()
        at = file.tell()
        while at < piece.stop and (line := file.readline()):
            at += len(line)
            yield line


def _ranges(path: str, size: int) -> list[Piece]:
    with _opened(path) as file:
        end = file.seek(0, 2)
    starts = range(0, end, size)
    split = [Piece(path, start, min(start + size, end), min(size, end - start)) for start in starts]
    return _numbered([(piece, sum(1 for _ in _lines(piece))) for piece in split])


def _numbered(split: Sequence[tuple[Piece, int]]) -> list[Piece]:
    """Return the pieces of one file with the numbers of their lines."""
    found, first = [], 1
    for piece, lines in split:
        found.append(replace(piece, lines=lines, first=first))
        first += lines
    return found


def _groups(path: str) -> list[Piece]:
    parquet = _parquet()
    with _opened(path) as file:
        try:
            found = parquet.ParquetFile(file)
        except (ValueError, OSError) as error:
            raise InvalidInput(f"{redacted(path)!r} is no Parquet file: {error}") from error
        names = found.schema_arrow.names
        if unknown := sorted(set(names) - {*KEYS, VECTOR}):
            raise InvalidInput(
                f"{redacted(path)!r} has the columns {', '.join(map(repr, unknown))}, which no turn has; a turn has "
                f"{', '.join((*KEYS, VECTOR))}; put other values into metadata"
            )
        if "text" not in names:
            raise InvalidInput(f"{redacted(path)!r} has no column 'text'; it has {', '.join(map(repr, names))}")
        groups = [found.metadata.row_group(at) for at in range(found.num_row_groups)]
    return _numbered(
        [(Piece(path, at, at + 1, group.total_byte_size), group.num_rows) for at, group in enumerate(groups)]
    )


def _table_rows(piece: Piece, defaults: Mapping[str, str]) -> Iterator[Row]:
    number = piece.first - 1
    with _opened(piece.path) as file:
        table = _parquet().ParquetFile(file)
        for batch in table.iter_batches(batch_size=_ROWS, row_groups=[piece.start]):
            for record in _records(batch):
                number += 1
                yield _table_row(record, piece.path, number, defaults)


def _table_row(record: dict[str, Any], source: str, number: int, defaults: Mapping[str, str]) -> Row:
    wrong = next(problems(record, (*KEYS, VECTOR)), None)
    try:
        json.dumps(record.get("metadata"), allow_nan=False)
    except (TypeError, ValueError) as error:
        wrong = wrong or f"'metadata' holds what JSON cannot: {error}"
    if wrong is None:
        return from_record(record, source, number, defaults)
    record.pop(VECTOR, None)
    return Row(source, number, json.dumps(record, default=str), error=wrong)


def _records(batch: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as JSON lines would say them."""
    columns = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        columns[name] = _vectors(column) if name == VECTOR else [_plain(name, value) for value in _values(column)]
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _values(column: Any) -> list[Any]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        # The memory counts microseconds; what Arrow makes of finer ones is no datetime.
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    found: list[Any] = column.to_pylist()
    return found


def _vectors(column: Any) -> list[Any]:
    found: list[Any] = []
    for scalar in column:
        try:
            found.append(numbers(scalar.values.to_numpy(zero_copy_only=False)) if scalar.is_valid else None)
        except (AttributeError, TypeError, ValueError):
            found.append(scalar.as_py())
    return found


def _plain(name: str, value: Any) -> Any:
    if name in ("at", "expires_at"):
        return _moment(value)
    if name != "metadata" or value is None:
        return value
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    if isinstance(value, list) and all(isinstance(item, tuple) for item in value):
        value = dict(value)
    return _present(value)


def _moment(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)).isoformat()
    return value.isoformat() if isinstance(value, date) else value


def _present(value: Any) -> Any:
    """Return a structure without the fields that a row leaves open, which a column of structures holds as nothing."""
    if isinstance(value, dict):
        return {key: _present(item) for key, item in value.items() if item is not None}
    if isinstance(value, (datetime, date)):
        return _moment(value)
    return [_present(item) for item in value] if isinstance(value, list) else value


def _opened(path: str) -> IO[bytes]:
    if "://" not in path:
        return Path(path).open("rb")
    try:
        from pyarrow.fs import FileSystem
    except ImportError as error:
        raise MissingExtra(f"reading {redacted(path)!r}", "ray") from error
    try:
        system, place = FileSystem.from_uri(path)
    except ValueError as error:
        raise InvalidInput(f"cannot read {redacted(path)!r}: {error}") from error
    return io.BufferedReader(system.open_input_file(place), _BUFFER)


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "ray") from error
    return parquet
