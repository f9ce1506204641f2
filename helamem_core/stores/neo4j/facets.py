"""What filters ask about, as texts that Cypher can compare as `filters.matches` compares values.

A facet is `<path>=<kind><value>`: the path as a JSON list of keys, the kind a letter, the value so written that texts
of one kind are equal and ordered as the values are. A list has a facet for itself and one (kind `e`) for each element.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from helamem_core import filters
from helamem_core.filters import All, AnyOf, Leaf, Not
from helamem_core.records import Node

_AND, _OR, _NOT = -1, -2, -3
_COMPLEMENT = str.maketrans("0123456789abcdef", "fedcba9876543210")
_LATE_MARK = "\ue000"
_LATE = re.compile(f"[{_LATE_MARK}-\U0010ffff]")
"""What Java orders before some of the text that Python orders before it: its halves of an emoji are D800 to DFFF."""
_EXPONENT = 100_000  # above the exponent of any number that metadata holds


def facets(node: Node) -> list[str]:
    """Return the facets of a memory: its own fields and its metadata."""
    own = {field: getattr(node, field) for field in sorted(filters.FIELDS)}
    return [*_facets((), own), *_facets(("metadata",), node.metadata)]


def program(filter: filters.Node | None) -> dict[str, Any]:
    """Return a filter as a program for a stack machine: numbers of leaves, and -1 for and, -2 for or, -3 for not."""
    leaves: list[dict[str, Any]] = []
    steps: list[int] = []

    def add(node: filters.Node) -> None:
        match node:
            case Leaf():
                steps.append(len(leaves))
                leaves.append(_leaf(node))
            case Not(child):
                add(child)
                steps.append(_NOT)
            case All(children) | AnyOf(children):
                for place, child in enumerate(children):
                    add(child)
                    if place:
                        steps.append(_AND if isinstance(node, All) else _OR)

    if filter is not None:
        add(filter)
    return {"program": steps, "leaves": leaves}


def code(value: Any) -> str:
    """Return a value as text: a letter for its kind, and then what compares as the value does."""
    if value is None:
        return "z"
    if isinstance(value, bool):
        return f"b{int(value)}"
    if isinstance(value, int | float):
        return f"n{_number(value)}"
    if isinstance(value, str):
        return f"s{_LATE.sub(lambda found: f'{_LATE_MARK}{ord(found[0]):06x}', value)}"
    if isinstance(value, Mapping):
        return "m"
    return "l" + json.dumps(_listed(value), ensure_ascii=False)


def _listed(value: Any) -> Any:
    """Return a list of codes, with lists in it as lists: codes in codes would double their escapes at each level."""
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else code(value)


def _facets(path: tuple[str, ...], values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        here = (*path, key)
        if value is None:
            continue
        yield f"{_path(here)}{code(value)}"
        if isinstance(value, Mapping):
            yield from _facets(here, value)
        elif isinstance(value, list | tuple):
            yield from (f"{_path(here)}e{code(item)}" for item in value)


def _path(path: Sequence[str]) -> str:
    return json.dumps(list(path), ensure_ascii=False, separators=(",", ":")) + "="


def _leaf(leaf: Leaf) -> dict[str, Any]:
    """Return a condition: `in` for equality and membership, an order, or `exists`."""
    values: list[str] = []
    missing = False
    op = leaf.op
    if op == "contains":
        op, values = "in", [f"e{code(leaf.value)}"]
    elif op in ("eq", "in"):
        wanted = (leaf.value,) if op == "eq" else leaf.value
        assert isinstance(wanted, tuple)
        op, values, missing = "in", [code(item) for item in wanted if item is not None], None in wanted
    value = code(leaf.value)
    return {
        "path": _path(leaf.path),
        "op": op if value[0] in "ns" or op in ("in", "exists") else "in",
        "values": values,
        "missing": missing,
        "value": value,
        "kind": value[0],
    }


def _number(value: float) -> str:
    """Return a finite number as text whose order is the number's: sign, exponent, digits of the fraction in base 16.

    1 and 1.0 are one number; integers are exact, whatever their size.
    """
    numerator, denominator = value.as_integer_ratio()
    if numerator == 0:
        return "1"
    exponent = abs(numerator).bit_length() - denominator.bit_length()
    whole_digits = abs(numerator) << -abs(numerator).bit_length() % 4
    digits = f"{whole_digits:x}".rstrip("0")
    text = f"{_EXPONENT + exponent:06d}{digits}"
    return f"2{text}" if numerator > 0 else f"0{text.translate(_COMPLEMENT)}g"
