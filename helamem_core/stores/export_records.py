"""Reading an export: every engine gets the same records, or the same refusal.

An export may come from anywhere. What passes here no engine can choke on later: each value is one that the memory
itself could have written.
"""

from __future__ import annotations

import binascii
import json
import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from helamem_core import episodes
from helamem_core.dynamics.plasticity import Reading
from helamem_core.errors import InvalidExport, InvalidInput
from helamem_core.records import Node
from helamem_core.showing import shown
from helamem_core.stores.rows import COUNTED, FORMAT, CueNode, Item, Link, decode_vector
from helamem_core.text import clean
from helamem_core.times import EARLIEST, LATEST
from helamem_core.types import EmbedderIdentity, Vector

_LARGEST = 2**63 - 1  # what any engine's integers hold
_MOST = 2**31 - 1  # occurrences of one term in one text
_ROUNDING = 1e-6  # by which a weight may be above 1
_OFF_UNIT = 1e-3  # by which the length of a vector may differ from 1

Check = Callable[[Any], Any]


class Records:
    """The checked records of an export, one after another.

    Attributes:
        steps: clock of the space.
        embedder: whose vectors these are.

    Args:
        lines: records as `dump` yields them.

    Raises:
        InvalidExport: the first one is no header; while iterating: one of the others cannot be read, or they do not
            belong together.
    """

    def __init__(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self._lines = iter(lines)
        self.steps, self.embedder = _header(next(self._lines, None))
        self._fires: dict[str, int] = {}
        self._memories: dict[str, tuple[str | None, str | None]] = {}
        self._cues: set[str] = set()
        self._links: set[tuple[str, str, str]] = set()
        self._events: set[str] = set()
        self._counts: Counter[str] = Counter(dict.fromkeys(COUNTED, 0))
        self._ended = False

    def __iter__(self) -> Iterator[Item]:
        """Yield the records between header and end."""
        for line in self._lines:
            item = self._read(line)
            if item is not None:
                yield item
        if not self._ended:
            raise InvalidExport("the export has no end: it was cut off; export again")
        for id, (_, before) in self._memories.items():
            if before is not None:
                self._check_before(id, before)
        self._check_order()

    def _read(self, line: Any) -> Item | None:
        try:
            if self._ended:
                raise ValueError("it comes after the end")
            ((kind, values),) = line.items()
            if kind == "end":
                self._end(values)
                return None
            if kind not in COUNTED:
                raise ValueError("no such kind of record")
            checked = _checked(values, _FIELDS[kind])
            item: Item = getattr(self, f"_{kind}")(checked)
            self._counts[kind] += 1
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise InvalidExport(f"not a record of an export: {shown(line)} ({error})") from error
        return item

    def _end(self, values: Any) -> None:
        if _checked(values, dict.fromkeys(COUNTED, _count)) != dict(self._counts):
            raise ValueError(f"it lacks records or has too many: they are {dict(self._counts)}")
        self._ended = True

    def _episode(self, values: dict[str, Any]) -> Node:
        node = Node(**values)
        self._fits(node.vector)
        _once(node.id, self._memories)
        if node.previous is not None and node.session is None:
            raise ValueError("it follows a turn but is of no session")
        self._memories[node.id] = node.session, node.previous
        self._fires[node.id] = node.fires
        return node

    def _cue(self, values: dict[str, Any]) -> CueNode:
        cue = CueNode(**values)
        self._fits(cue.vector)
        _once(cue.id, self._cues)
        self._cues.add(cue.id)
        self._fires[cue.id] = cue.fires
        return cue

    def _link(self, values: dict[str, Any]) -> Link:
        link = Link(**values | {"weight": min(values["weight"], 1.0)})
        is_cue = link.kind == "CUED" and link.source in self._cues
        _there(link.source, self._cues if is_cue else self._memories)
        _there(link.target, self._memories)
        if link.source == link.target:
            raise ValueError("it links a memory with itself")
        if link.kind != "CUED" and link.source > link.target:
            raise ValueError("its ends are not in order")
        clocks = Reading(self.steps, self._fires[link.source], self._fires[link.target])
        if any(read > clock for read, clock in zip(link.reading, clocks, strict=True)):
            raise ValueError("it has read more from the clocks than they show")
        key = link.kind, link.source, link.target
        _once(key, self._links)
        self._links.add(key)
        return link

    def _event(self, values: dict[str, Any]) -> tuple[str, float]:
        _once(values["id"], self._events)
        self._events.add(values["id"])
        return values["id"], values["at"]

    def _fits(self, vector: Vector | None) -> None:
        if vector is None:
            return
        if self.embedder is None:
            raise ValueError("it has a vector, but the export names no embedder")
        if len(vector) != self.embedder.dimension:
            raise ValueError(f"its vector has {len(vector)} numbers, not {self.embedder.dimension}")

    def _check_before(self, id: str, before: str) -> None:
        if before not in self._memories:
            raise InvalidExport(f"{shown(before)}, the turn before {shown(id)}, is not in the export")
        if self._memories[before][0] != self._memories[id][0]:
            raise InvalidExport(f"{shown(before)}, the turn before {shown(id)}, is of another session")

    def _check_order(self) -> None:
        """Hold that no turn comes before itself."""
        sound: set[str] = set()
        for id in self._memories:
            seen: dict[str, None] = {}
            at: str | None = id
            while at is not None and at not in sound:
                if at in seen:
                    raise InvalidExport(f"the turns before {shown(at)} lead back to it")
                seen[at] = None
                at = self._memories[at][1]
            sound.update(seen)


def _header(line: Any) -> tuple[int, EmbedderIdentity | None]:
    try:
        version = line["helamem"]
        if isinstance(version, bool) or not isinstance(version, int):
            raise TypeError("its version is no number")
        if version != FORMAT:
            raise InvalidExport(f"export format {shown(version)}; this library reads format {FORMAT}")
        values = _checked(line, _HEADER)
    except InvalidExport:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidExport(f"not the first line of an export: {shown(line)} ({error})") from error
    return values["steps"], values["embedder"]


def _checked(values: Any, fields: Mapping[str, Check]) -> dict[str, Any]:
    """Return the values of exactly these fields, each as its check returns it."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{shown(values)} is no object")
    if values.keys() != fields.keys():
        raise KeyError(f"fields missing or unknown: {', '.join(sorted(map(shown, values.keys() ^ fields.keys())))}")
    found = {}
    for name, check in fields.items():
        try:
            found[name] = check(values[name])
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{name} is {shown(values[name])}: {error}") from error
    return found


def _once(key: object, held: Container[Any]) -> None:
    if key in held:
        raise ValueError("it is there twice")


def _there(id: str, held: Container[str]) -> None:
    if id not in held:
        raise ValueError(f"{shown(id)} has not come before it")


def _maybe(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _all(check: Check) -> Check:
    def each(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list | tuple):
            raise TypeError("no list")
        return tuple(check(value) for value in values)

    return each


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no text")
    if clean(value) != value:
        raise ValueError("it has a NUL or half a character")
    return value


def _space(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _memory_id(value: Any) -> str:
    return episodes.memory_id(value, "id")


def _cue_id(value: Any) -> str:
    id = episodes.identifier(value)
    if not id.startswith(episodes.CUE):
        raise ValueError(f"the ids of cues begin with {episodes.CUE!r}")
    return id


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise ValueError("no whole number in [0, 2^63)")
    return value


def _number(value: Any, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("no finite number")
    if not least <= value <= most:
        raise ValueError(f"not in [{least:g}, {most:g}]")
    return float(value)


def _time(value: Any) -> float:
    return _number(value, EARLIEST, LATEST)


def _weight(value: Any) -> float:
    return _number(value, 0.0, 1.0 + _ROUNDING)


def _kind(value: Any) -> str:
    if value not in ("ASSOCIATED", "CUED", "SIMILAR"):
        raise ValueError("no kind of link")
    return str(value)


def _reading(value: Any) -> Reading:
    return Reading(*_all(_count)(value))


def _terms(value: Any) -> dict[str, int]:
    if not isinstance(value, Mapping):
        raise TypeError("no object")
    terms = {_text(term): _count(count) for term, count in value.items()}
    if not all(1 <= count <= _MOST for count in terms.values()):
        raise ValueError("a count that no text has")
    return terms


def _metadata(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput("no object")
    found = episodes.metadata(value)
    if found and json.dumps(found) != json.dumps(dict(value)):
        raise ValueError("it has a NUL or half a character")
    return found


def _vector(value: Any) -> Vector | None:
    try:
        vector = decode_vector(value)
    except (binascii.Error, TypeError, AttributeError) as error:
        raise ValueError("no base64 of float32 numbers") from error
    if vector is None:
        return None
    length = float(np.linalg.norm(vector.astype(np.float64))) if np.isfinite(vector).all() else math.nan
    if not abs(length - 1) <= _OFF_UNIT:
        raise ValueError("no vector of length 1")
    return vector


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _model(value: Any) -> EmbedderIdentity:
    model = EmbedderIdentity(**_checked(value, {"name": _text, "dimension": _count, "normalised": _flag}))
    if not model.dimension:
        raise ValueError("a model's vectors have numbers")
    return model


_HEADER: dict[str, Check] = {"helamem": _count, "space": _space, "steps": _count, "embedder": _maybe(_model)}
_FIELDS: dict[str, dict[str, Check]] = {
    "episode": {
        "id": _memory_id,
        "text": _text,
        "role": _text,
        "speaker": _maybe(_text),
        "session": _maybe(_text),
        "at": _time,
        "recorded_at": _time,
        "expires_at": _maybe(_time),
        "metadata": _metadata,
        "keywords": _all(_text),
        "terms": _terms,
        "speaker_terms": _all(_text),
        "vector": _vector,
        "previous": _maybe(_memory_id),
        "archived_at": _maybe(_time),
        "fires": _count,
        "uses": _count,
        "last_used_at": _maybe(_time),
    },
    "cue": {"id": _cue_id, "text": _maybe(_text), "vector": _vector, "fires": _count, "last_at": _time},
    "link": {
        "kind": _kind,
        "source": episodes.identifier,
        "target": episodes.identifier,
        "weight": _weight,
        "reading": _reading,
        "count": _count,
        "since": _time,
        "last_at": _time,
    },
    "event": {"id": episodes.identifier, "at": _time},
}
