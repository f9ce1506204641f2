"""What the rows of a file say: the fields of a turn, its vector where it has one, or what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from helamem_core.showing import shown
from helamem_core.text import clean
from helamem_core.types import Turn, Vector

KEYS = tuple(item.name for item in fields(Turn))
"""What a turn may say."""
VECTOR = "vector"
"""The key, or column, of a vector made beforehand."""
_TEXTS = ("text", "role", "speaker", "session", "id", "at", "expires_at")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        source: the file.
        line: its line in a text file, its row in a table; from 1.
        record: the fields of the turn, JSON-able; or the text that stood there instead.
        vector: the turn's vector, None if it is to be embedded.
        error: why it cannot be remembered, None if nothing is wrong so far.
    """

    source: str
    line: int
    record: Mapping[str, Any] | str
    vector: Vector | None = None
    error: str | None = None

    @property
    def turn(self) -> Turn:
        """The turn that it says."""
        assert isinstance(self.record, Mapping)
        return Turn(**self.record)

    @property
    def key(self) -> str:
        """What must stay together and in order: a session; without one the memory of an id, or of a text."""
        if not isinstance(self.record, Mapping):
            return ""
        for name in ("session", "id", "text"):
            value = self.record.get(name)
            if isinstance(value, str) and value.strip():
                return f"{name}:{clean(value)}"
        return ""


def from_line(line: bytes, source: str, number: int, defaults: Mapping[str, str]) -> Row | None:
    """Return what a JSON line says, None for a blank one.

    Args:
        line: the line as it stands in the file.
        source: the file.
        number: the line's number, from 1.
        defaults: values of the keys that the line leaves open.
    """
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError:
        told = "not UTF-8 text; convert the file first, as with `iconv`"
        return Row(source, number, line.decode(errors="backslashreplace").strip(), error=told)
    if not text:
        return None
    try:
        record = parsed(text, (*KEYS, VECTOR))
    except ValueError as error:
        return Row(source, number, text, error=str(error))
    return from_record(record, source, number, defaults)


def from_record(record: dict[str, Any], source: str, number: int, defaults: Mapping[str, str]) -> Row:
    """Return the row of a record whose values have the right types, None standing for a value that is not there."""
    given = record.pop(VECTOR, None)
    record = {**defaults, **{key: value for key, value in record.items() if value is not None}}
    if record.get("id") is None and record.get("at") is None:
        told = (
            "a turn loaded in bulk needs 'id' or 'at': without either a second run would store it again; add one, or "
            "leave out --engine"
        )
        return Row(source, number, record, error=told)
    try:
        vector = None if given is None else numbers(given)
    except (TypeError, ValueError, OverflowError):
        return Row(source, number, record, error=f"'vector' must be a list of numbers, not {shown(given)}")
    return Row(source, number, record, vector)


def parsed(text: str, keys: tuple[str, ...] = KEYS) -> dict[str, Any]:
    """Return the record of a JSON line.

    Raises:
        ValueError: it is none; the message says what is wrong with it.
    """
    try:
        record = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("not JSON that can be read: it is nested too deep") from error
    if not isinstance(record, dict):
        raise ValueError(f'a turn is a JSON object such as {{"text": ...}}, not {text[:40]!r}')
    for problem in problems(record, keys):
        raise ValueError(problem)
    return record


def problems(record: Mapping[str, Any], keys: tuple[str, ...] = KEYS) -> Iterator[str]:
    """Yield what is wrong with the keys of a record and with the types of its values."""
    for key in sorted(record.keys() - set(keys)):
        yield f"unknown key {key!r}; a turn has {', '.join(keys)}; put other values into metadata"
    if not isinstance(record.get("text"), str):
        yield f"'text' must be text, not {shown(record.get('text'))}"
    for key in _TEXTS:
        if record.get(key) is not None and not isinstance(record[key], str):
            yield f"{key!r} must be text, not {shown(record[key])}"
    if not isinstance(record.get("metadata"), dict | None):
        yield f"'metadata' must be an object, not {shown(record['metadata'])}"


def _refuse(constant: str) -> Any:
    raise ValueError(f"not JSON: {constant} is no value of it")


def numbers(given: Any) -> Vector:
    """Return a vector as it is carried: float32, of one dimension, its length and size not looked at.

    Raises:
        TypeError, ValueError, OverflowError: it is no list of numbers.
    """
    with np.errstate(over="ignore"):
        vector = np.asarray(given, np.float32)
    if vector.ndim != 1:
        raise ValueError("not one list")
    return vector
