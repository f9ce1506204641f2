"""The language of filters: one meaning on every engine.

`parse` turns what a caller wrote into a small frozen tree, `matches` says what the tree means. An
engine may push `required` leaves into its index; whatever it does must agree with `matches`.

- `id`, `role`, `speaker`, `session`, `at` are the turn's own; any other name is a metadata key, and
  `{"metadata": {...}}` reaches keys of those names. Dots in keys are literal.
- `{"a": 1}` is equality, `{"a": {"b": 1}}` looks into nested metadata, `{"a": {"$gt": 1}}` applies
  `$eq $ne $gt $gte $lt $lte $in $nin $exists $contains`; `$and`, `$or`, `$not` join filters.
- Null is missing: `{"a": None}` matches both, `$exists` neither. `$ne` and `$nin` are the opposites
  of `$eq` and `$in`, so a missing field fulfils them; it fulfils no comparison.
- Numbers compare with numbers (1 == 1.0; a bool is no number), text with text by code point, else
  there is no match and no error. Lists are equal as a whole; `$contains` asks for one element.
- `at` accepts a datetime, a date, ISO 8601 text or epoch seconds; without a zone it is UTC.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from types import NoneType
from typing import Any, Literal, TypeAlias, TypeGuard, cast, get_args

from helamem_core.errors import InvalidFilter
from helamem_core.showing import shown
from helamem_core.text import clean

Scalar: TypeAlias = bool | int | float | str | None
Value: TypeAlias = "Scalar | tuple[Value, ...]"
Op: TypeAlias = Literal["eq", "gt", "gte", "lt", "lte", "in", "exists", "contains"]
Node: TypeAlias = "Leaf | All | AnyOf | Not"

FIELDS = frozenset({"id", "role", "speaker", "session", "at"})
MAX_DEPTH = 32
MAX_BITS = 2048
"""Of an integer in metadata: Python writes and reads its 617 digits whatever limit a process has set itself."""
_FOREVER = 1e15  # seconds; far beyond any datetime, and what a float still counts exactly
_NEGATED = {"$ne": "$eq", "$nin": "$in"}
_OPERATORS = {f"${op}" for op in get_args(Op)} | _NEGATED.keys()
_KNOWN = ", ".join(sorted(_OPERATORS))


@dataclass(frozen=True, slots=True)
class Leaf:
    """One condition on one value.

    Attributes:
        path: `("role",)` for a turn's own field, `("metadata", key, ...)` for metadata.
        op: the condition; "exists" has the value True, "in" a tuple.
        value: what to compare with; lists as tuples, `at` in epoch seconds.
    """

    path: tuple[str, ...]
    op: Op
    value: Value


@dataclass(frozen=True, slots=True)
class All:
    """Every child holds; without children it matches everything."""

    children: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one child holds."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The child does not hold."""

    child: Node


def parse(filters: Mapping[str, object] | None) -> Node:
    """Return the tree of a filter; None and {} match everything.

    Args:
        filters: what the caller wrote; it is copied, later changes do not reach the tree.

    Raises:
        InvalidFilter: an unknown operator, a key that is no text, an empty condition, a value that
            metadata cannot hold, or more than `MAX_DEPTH` levels.
    """
    if filters is None or filters == {}:
        return All()
    return _filter(filters, 1)


def matches(node: Node, record: Mapping[str, object]) -> bool:
    """Say whether a memory fulfils a filter.

    Args:
        node: a tree from `parse`.
        record: id, role, speaker, session (text or None), at (epoch seconds or None) and metadata.
    """
    match node:
        case All(children):
            return all(matches(child, record) for child in children)
        case AnyOf(children):
            return any(matches(child, record) for child in children)
        case Not(child):
            return not matches(child, record)
        case Leaf(path, op, value):
            return _TESTS[op](_look_up(record, path), value)


def required(node: Node) -> tuple[Leaf, ...]:
    """Return leaves that each match must fulfil: those an index may narrow the search by."""
    match node:
        case Leaf():
            return (node,)
        case All(children):
            return tuple(leaf for child in children for leaf in required(child))
        case _:
            return ()


def _filter(filters: object, depth: int) -> Node:
    """Return the tree of a whole filter."""
    return _join([_entry(key, value, depth) for key, value in _entries(filters, "a filter", depth)])


def _entry(key: str, value: object, depth: int) -> Node:
    """Return the tree of one entry: logic, a field of the turn or a metadata key."""
    if key.startswith("$"):
        return _logic(key, value, depth)
    if key == "metadata":
        return _metadata((key,), value, depth)
    return _condition((key,) if key in FIELDS else ("metadata", key), value, depth)


def _logic(key: str, value: object, depth: int) -> Node:
    """Return the tree of `$and`, `$or` or `$not`."""
    if key == "$not":
        return Not(_filter(value, depth + 1))
    if key not in ("$and", "$or"):
        raise InvalidFilter(
            f"{key!r} cannot stand where a field is named; use $and, $or or $not there, and "
            f"operators inside a field: {{'age': {{'$gt': 9}}}}"
        )
    if not isinstance(value, list | tuple) or not value:
        raise InvalidFilter(f"{key} needs a list of at least one filter, not {shown(value)}")
    children = tuple(_filter(child, depth + 1) for child in value)
    return All(children) if key == "$and" else AnyOf(children)


def _metadata(path: tuple[str, ...], value: object, depth: int) -> Node:
    """Return the tree of a mapping that looks one level deeper into metadata."""
    entries = _entries(value, f"the filter of {'.'.join(path)!r}", depth + 1)
    for key, _ in entries:
        if key.startswith("$"):
            raise InvalidFilter(
                f"{key!r} is no operator that {'.'.join(path)!r} can take beside or around other "
                f"keys; operators of a value are {_KNOWN}"
            )
    return _join([_condition((*path, key), child, depth + 1) for key, child in entries])


def _condition(path: tuple[str, ...], value: object, depth: int) -> Node:
    """Return the tree of what is asked of one field or metadata key."""
    if not isinstance(value, Mapping):
        return Leaf(path, "eq", _operand(path, value, depth))
    keys = set(value)
    if keys and keys <= _OPERATORS:
        return _join([_leaf(path, op, operand, depth + 1) for op, operand in value.items()])
    if path[0] in FIELDS:
        raise InvalidFilter(f"{path[0]!r} is no mapping, so {shown(value)} cannot apply; use a value or {_KNOWN}")
    return _metadata(path, value, depth)


def _leaf(path: tuple[str, ...], op: str, operand: object, depth: int) -> Node:
    """Return the tree of one operator, negations and `$exists: False` as `Not`."""
    if op in _NEGATED:
        return Not(_leaf(path, _NEGATED[op], operand, depth))
    if op == "$exists":
        if not isinstance(operand, bool):
            raise InvalidFilter(f"$exists needs True or False, not {shown(operand)}")
        there = Leaf(path, "exists", True)
        return there if operand else Not(there)
    if op == "$in":
        if not isinstance(operand, list | tuple | set | frozenset):
            raise InvalidFilter(f"$in and $nin need a list of values, not {shown(operand)}")
        return Leaf(path, "in", tuple(_operand(path, item, depth) for item in operand))
    return Leaf(path, cast(Op, op[1:]), _operand(path, operand, depth))


def _join(children: list[Node]) -> Node:
    """Return one child as it is, several as all of them."""
    return children[0] if len(children) == 1 else All(tuple(children))


def _entries(value: object, what: str, depth: int) -> list[tuple[str, object]]:
    """Return the items of a mapping that must have some, under text keys."""
    if depth > MAX_DEPTH:
        raise InvalidFilter(f"{what} is nested deeper than {MAX_DEPTH} levels; flatten it")
    if not isinstance(value, Mapping) or not value:
        raise InvalidFilter(f"{what} must be a mapping with at least one entry, not {shown(value)}")
    for key in value:
        if not isinstance(key, str):
            raise InvalidFilter(f"{what} has the key {shown(key)}; keys must be text, as in {shown(shown(key))}")
    return [(clean(key), child) for key, child in value.items()]


def _operand(path: tuple[str, ...], value: object, depth: int) -> Value:
    """Return a value in the form that records hold."""
    return _epoch(value) if path == ("at",) else _value(value, depth)


def _value(value: object, depth: int) -> Value:
    """Return a metadata value, frozen and clean."""
    if isinstance(value, list | tuple) and depth <= MAX_DEPTH:
        return tuple(_value(item, depth + 1) for item in value)
    if isinstance(value, str):
        return clean(value)
    if value is None or (isinstance(value, bool | int) and value.bit_length() <= MAX_BITS):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise InvalidFilter(
        f"{shown(value)} cannot be compared with; use text, a finite number, True, False, None or a list "
        f"of these, at most {MAX_DEPTH} levels deep (times in metadata are ISO 8601 text)"
    )


def _epoch(value: object) -> float | None:
    """Return a time as epoch seconds."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise InvalidFilter(f"'at' cannot be {shown(value)}; use ISO 8601, as in '2026-05-08T10:30:00Z'") from error
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if value is None:
        return None
    if _is_number(value) and abs(value) < _FOREVER:
        return float(value)
    raise InvalidFilter(f"'at' cannot be {shown(value)}; use a datetime, ISO 8601 text or epoch seconds")


def _look_up(record: Mapping[str, object], path: tuple[str, ...]) -> object:
    """Return the value under a path, None where it is missing."""
    found: object = record
    for key in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(found: object, value: object) -> bool:
    """Say whether two values are equal and of one kind."""
    if isinstance(found, list | tuple) and isinstance(value, list | tuple):
        return len(found) == len(value) and all(map(_same, found, value))
    if _is_number(found) and _is_number(value):
        return found == value
    alike = any(isinstance(found, kind) and isinstance(value, kind) for kind in (str, bool, NoneType))
    return alike and found == value


def _ordered(holds: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    """Return a comparison that holds between two numbers or two texts only."""

    def test(found: object, value: object) -> bool:
        texts = isinstance(found, str) and isinstance(value, str)
        return (texts or (_is_number(found) and _is_number(value))) and holds(found, value)

    return test


def _among(found: object, value: object) -> bool:
    """Say whether one of a list's elements is the value; False if there is no list."""
    return isinstance(found, list | tuple) and any(_same(item, value) for item in found)


_TESTS: dict[Op, Callable[[object, object], bool]] = {
    "eq": _same,
    "in": lambda found, value: _among(value, found),
    "contains": _among,
    "exists": lambda found, _: found is not None,
    "gt": _ordered(operator.gt),
    "gte": _ordered(operator.ge),
    "lt": _ordered(operator.lt),
    "lte": _ordered(operator.le),
}
