"""Several stores as one: each verb goes to all of them, and they must answer alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from helamem_core.errors import HelaMemError
from helamem_core.protocols import Store
from helamem_core.records import Node
from helamem_core.testing.fakes import canonical

TOLERANCE = 1e-6
"""By how much weights and scores of two engines may differ."""

_INTERNAL = frozenset({"terms", "speaker_terms", "vector"})


class Disagreement(AssertionError):
    """Two engines answered differently; the message names both and the first difference."""


class Fleet:
    """Stores that are driven in lockstep.

    Args:
        stores: by name; the first one is taken to be right.
    """

    def __init__(self, stores: Mapping[str, Store]) -> None:
        self.stores = dict(stores)

    def ask(self, what: str, act: Callable[[Store], Any], form: Callable[[Any], Any] | None = None) -> Any:
        """Do the same with every store and return the first one's answer, None if they all raised.

        Args:
            what: the deed, for the message.
            act: what is done; its errors are compared by type and by the ids that they name, errors that are not
                ours come through.
            form: what of an answer is compared; default: all of it.

        Raises:
            Disagreement: answers or error types differ.
        """
        answers = {name: _outcome(act, store, form or plain) for name, store in self.stores.items()}
        first, *others = answers
        for name in others:
            found = difference(answers[first][1], answers[name][1])
            if found:
                raise Disagreement(f"{what}: {first} and {name} differ {found}")
        return answers[first][0]

    def agree(self, spaces: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """Hold that all stores hold the same, down to clocks and counts, and find themselves consistent.

        Returns:
            What the spaces hold.

        Raises:
            Disagreement: they do not.
        """
        self.ask("spaces", lambda store: store.spaces())
        held = {space: self.ask(f"dump {space}", lambda store: canonical(store.dump(space))) for space in spaces}  # noqa: B023
        for name, store in self.stores.items():
            found = store.check()
            if found:
                raise Disagreement(f"{name} finds itself inconsistent: {found[0]}")
        return held

    def close(self) -> None:
        """Close them all."""
        for store in self.stores.values():
            store.close()


def plain(value: Any) -> Any:
    """Return nested lists, dicts, numbers and texts; of a memory what readers see, and whether it has a vector."""
    if isinstance(value, Node):
        seen = {name: plain(getattr(value, name)) for name in _names(value) if name not in _INTERNAL}
        return seen | {"embedded": value.vector is not None}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _names(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.timestamp()
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def recalled(answer: Any) -> Any:
    """Return what of a recall is compared: all but whether a memory has its vector, which its reader cannot see."""
    compared = plain(answer)
    for item in compared["items"]:
        del item["node"]["embedded"]
    return compared


def difference(one: Any, other: Any, at: str = "") -> str | None:
    """Return where two plain values differ first, None if they are the same up to `TOLERANCE`."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return f"at {at or 'top'}: keys {sorted(one)} and {sorted(other)}"
        found = (difference(one[key], other[key], f"{at}.{key}") for key in one)
        return next(filter(None, found), None)
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"at {at or 'top'}: {len(one)} and {len(other)} entries: {one!r:.600} and {other!r:.600}"
        found = (difference(first, second, f"{at}[{n}]") for n, (first, second) in enumerate(zip(one, other)))  # noqa: B905
        return next(filter(None, found), None)
    if isinstance(one, float) and isinstance(other, int | float) and not isinstance(other, bool):
        return None if abs(one - other) <= TOLERANCE else f"at {at}: {one!r} and {other!r}"
    return None if type(one) is type(other) and one == other else f"at {at or 'top'}: {one!r:.300} and {other!r:.300}"


def _outcome(act: Callable[[Store], Any], store: Store, form: Callable[[Any], Any]) -> tuple[Any, Any]:
    try:
        answer = act(store)
    except HelaMemError as error:
        return None, {"raises": type(error).__name__, "ids": list(getattr(error, "ids", ()))}
    return answer, form(answer)


def _names(value: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(value)]
