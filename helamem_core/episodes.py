"""From what a caller gives (`Turn`) to what a store keeps (`Node`): validation, cleaning, ids.

Nothing that enters here can break an engine later: texts hold no NUL and no lone surrogate, metadata is plain
JSON, times are seconds, an id says what it stands for and never changes.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from helamem_core import text as words
from helamem_core.errors import InvalidInput
from helamem_core.filters import MAX_BITS
from helamem_core.protocols import Ids
from helamem_core.records import Node
from helamem_core.showing import shown
from helamem_core.stores.rows import moment
from helamem_core.times import seconds_or_none
from helamem_core.types import Episode, Recollection, Turn

MAX_ID = 512
MAX_SPACE = 256
MAX_DEPTH = 32
KEYWORDS = 8
"""Keywords kept of a memory: a query's few are looked up among them."""
CUE = "cue:"
"""How the ids of cues that are no turns begin; memories may not use it."""

References = str | Episode | Recollection | Iterable[str | Episode | Recollection]
"""One memory or several: ids, or what `get`, `list` and `recall` returned."""


def node(turn: Turn, *, now: float, ids: Ids) -> Node:
    """Return the memory that a turn becomes, without its vector.

    Args:
        turn: what the caller gave.
        now: seconds since the epoch; the time of a turn that names none.
        ids: makes the id of a turn that has neither id nor time.

    Raises:
        InvalidInput: a field cannot be used.
    """
    text = content(turn.text)
    role, speaker = _text(turn.role, "role"), _optional(turn.speaker, "speaker")
    session = _session(turn.session)
    at = seconds_or_none(turn.at, "at")
    return Node(
        id=_id_of(turn, (role, speaker, session, text), at, ids),
        text=text,
        role=role,
        speaker=speaker,
        session=session,
        at=now if at is None else at,
        recorded_at=now,
        expires_at=seconds_or_none(turn.expires_at, "expires_at"),
        metadata=metadata(turn.metadata),
        speaker_terms=_name_terms(speaker) if speaker else (),
        **indexed(text),
    )


def content(text: object) -> str:
    """Return the text of a memory, cleaned.

    Raises:
        InvalidInput: it is empty, or no text.
    """
    return _text(text, "text")


def indexed(text: str) -> dict[str, Any]:
    """Return the index fields of a text: `terms` with their counts, and `keywords`."""
    terms, keywords = words.index(text, KEYWORDS)
    return {"terms": _counts(terms), "keywords": tuple(keywords)}


def _counts(terms: list[str]) -> dict[str, int]:
    counts = dict.fromkeys(terms, 1)
    return counts if len(counts) == len(terms) else dict(Counter(terms))


@lru_cache(maxsize=4096)
def _name_terms(speaker: str) -> tuple[str, ...]:
    """Return the terms of a speaker's name; there are few speakers."""
    return tuple(dict.fromkeys(words.terms(speaker)))


def differences(turn: Turn, new: Node, held: Node) -> list[str]:
    """Return which of the fields that a turn gives differ from the memory under its id.

    `text` and `role` always count; the others only where the turn names them, so that an empty speaker blank does not
    contradict a stored one.
    """
    given = ["text", "role"]
    given += [
        name for name in ("speaker", "session", "at", "metadata", "expires_at") if getattr(turn, name) is not None
    ]
    return [name for name in given if getattr(new, name) != getattr(held, name)]


def identified(turn: Turn, made: Node) -> Turn:
    """Return a turn with the id and time it was given, so that remembering it again changes nothing."""
    return replace(turn, id=made.id, at=moment(made.at) if turn.at is None else turn.at)


def cue_id(text: str) -> str:
    """Return the id of a cue that is no turn, the same on every engine."""
    return CUE + _digest(text)


def identifiers(references: References) -> list[str]:
    """Return the distinct ids of memories, in the order given.

    Raises:
        InvalidInput: something that is neither an id nor a memory.
    """
    if isinstance(references, (str, Episode, Recollection)):
        references = [references]
    if isinstance(references, (bytes, Mapping)) or not isinstance(references, Iterable):
        raise InvalidInput(f"{shown(references)} names no memory; give an id, a list of ids, or what `recall` returned")
    return list(dict.fromkeys(_reference(item) for item in references))


def identifier(value: object, name: str = "id") -> str:
    """Return an id or event id as it is.

    Raises:
        InvalidInput: not a text of 1 to 512 characters without NUL and lone surrogates.
    """
    return _name(value, name, MAX_ID)


def memory_id(value: object, name: str) -> str:
    """Return the id of a memory as it is.

    Raises:
        InvalidInput: it is no id, or that of a cue.
    """
    id = identifier(value, name)
    if id.startswith(CUE):
        raise InvalidInput(f"{name} is {shown(id)}; ids that begin with {CUE!r} belong to cues")
    return id


def space_name(value: object) -> str:
    """Return the name of a space as it is; names compare exactly.

    Raises:
        InvalidInput: not a text of 1 to 256 characters without NUL and lone surrogates.
    """
    return _name(value, "space", MAX_SPACE)


def metadata(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return metadata as it will be read back: plain JSON values, tuples as lists.

    Raises:
        InvalidInput: a value that JSON cannot hold, such as a datetime or NaN, named by its place.
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise InvalidInput(f"metadata is {shown(values)}; it must be a mapping")
    return _mapping(values, "metadata", 1)


def _id_of(turn: Turn, content: tuple[str | None, ...], at: float | None, ids: Ids) -> str:
    if turn.id is not None:
        return memory_id(turn.id, "id")
    if at is not None:
        role, speaker, session, text = content
        key = [role, speaker, session, round(at * 1_000_000), text]
        return "t-" + _digest(json.dumps(key, ensure_ascii=False, separators=(",", ":")))
    return memory_id(ids(), "what `ids` made")


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=10).hexdigest()


def _name(value: object, name: str, longest: int) -> str:
    if not isinstance(value, str) or not value or len(value) > longest or words.clean(value) != value:
        raise InvalidInput(
            f"{name} is {shown(value)}; it must be text of 1 to {longest} characters, no NUL, no lone surrogate"
        )
    return str.__str__(value)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {shown(value)}; it must be text")
    if not value.strip():
        raise InvalidInput(f"{name} is {shown(value)}; it must not be empty")
    return words.clean(str.__str__(value))


def _optional(value: object, name: str) -> str | None:
    """Return a cleaned text; None for None and for blanks, which data sets often hold for "nobody"."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return _text(value, name)


def _session(value: object) -> str | None:
    """Return a session's name, short enough for an index."""
    name = _optional(value, "session")
    return None if name is None else _name(name, "session", MAX_ID)


def _reference(item: object) -> str:
    if isinstance(item, (Episode, Recollection)):
        return item.id
    return identifier(item)


def _mapping(values: Mapping[Any, Any], place: str, depth: int) -> dict[str, Any]:
    found = {}
    for key, value in values.items():
        if not isinstance(key, str):
            raise InvalidInput(f"{place} has the key {shown(key)}; keys must be text")
        found[words.clean(str.__str__(key))] = _plain(value, f"{place}[{shown(key)}]", depth)
    return found


def _plain(value: Any, place: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"{place[:80]}... is nested more than {MAX_DEPTH} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return words.clean(str.__str__(value))
    if isinstance(value, int) and value.bit_length() <= MAX_BITS:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, Mapping):
        return _mapping(value, place, depth + 1)
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{at}]", depth + 1) for at, item in enumerate(value)]
    raise InvalidInput(
        f"{place} is {shown(value)} of type {type(value).__name__}; metadata holds JSON values only: text, finite "
        f"numbers (integers of at most {MAX_BITS} bits), true, false, null, lists, mappings (a time as ISO 8601 text)"
    )
