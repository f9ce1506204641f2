"""Casts between what stores keep, what people meet and what an export holds; there are no others."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from helamem_core.dynamics.plasticity import Reading
from helamem_core.records import CueRecord, Node, Scored
from helamem_core.types import EmbedderIdentity, Episode, LinkKind, Recollection, Vector

FORMAT = 1
"""Version of the export format: the `helamem` field of its first record."""
COUNTED = ("episode", "cue", "link", "event")
"""The kinds of records between the first and the last one."""


@dataclass(slots=True, kw_only=True)
class Link:
    """A learned or similarity link; undirected kinds have `source < target`."""

    kind: LinkKind
    source: str
    target: str
    weight: float
    reading: Reading
    count: int
    since: float
    last_at: float


@dataclass(slots=True, kw_only=True)
class CueNode:
    """A cue that is no turn, with its own clock."""

    id: str
    text: str | None
    vector: Vector | None
    fires: int
    last_at: float


Item = Node | CueNode | Link | tuple[str, float]
"""What an export holds beside its header; a pair is an event's id and time."""


def moment(seconds: float) -> datetime:
    """Return the UTC datetime of seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC)


def moment_or_none(seconds: float | None) -> datetime | None:
    """Return the UTC datetime, None for None."""
    return None if seconds is None else moment(seconds)


def episode(node: Node) -> Episode:
    """Return the public form of a stored memory."""
    return Episode(
        id=node.id,
        text=node.text,
        role=node.role,
        speaker=node.speaker,
        session=node.session,
        at=moment(node.at),
        recorded_at=moment(node.recorded_at),
        expires_at=moment_or_none(node.expires_at),
        metadata=unshared(node.metadata),
        keywords=node.keywords,
        embedded=node.vector is not None,
        archived_at=moment_or_none(node.archived_at),
        uses=node.uses,
        last_used_at=moment_or_none(node.last_used_at),
        previous=node.previous,
    )


def recollection(scored: Scored) -> Recollection:
    """Return the public form of a recalled memory."""
    node = scored.node
    return Recollection(
        id=node.id,
        text=node.text,
        score=scored.score,
        path=scored.path,
        why=scored.why,
        role=node.role,
        speaker=node.speaker,
        session=node.session,
        at=moment(node.at),
        metadata=unshared(node.metadata),
    )


def unshared(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata that its reader can change without changing anybody else's."""
    return {key: _unshared(value) for key, value in metadata.items()}


def filterable(node: Node) -> dict[str, Any]:
    """Return the record that `filters.matches` reads."""
    return {
        "id": node.id,
        "role": node.role,
        "speaker": node.speaker,
        "session": node.session,
        "at": node.at,
        "metadata": node.metadata,
    }


def header(space: str, steps: int, embedder: EmbedderIdentity | None) -> dict[str, Any]:
    """Return the first record of an export."""
    model = None if embedder is None else dataclasses.asdict(embedder)
    return {"helamem": FORMAT, "space": space, "steps": steps, "embedder": model}


def record(item: Item) -> dict[str, Any]:
    """Return one JSON-able record of an export; vectors as base64 of little-endian float32, events as (id, time)."""
    if isinstance(item, tuple):
        return {"event": {"id": item[0], "at": item[1]}}
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    if isinstance(item, Link):
        return {"link": values | {"reading": list(item.reading)}}
    values["vector"] = None if item.vector is None else encode_vector(item.vector)
    if isinstance(item, CueNode):
        return {"cue": values}
    return {"episode": values | {"terms": dict(item.terms), "metadata": dict(item.metadata)}}


def ended(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the records of an export, and at the end how many of each kind there were: what is cut off is told."""
    counts = dict.fromkeys(COUNTED, 0)
    for line in records:
        for kind in line.keys() & counts.keys():
            counts[kind] += 1
        yield line
    yield {"end": counts}


def encode_vector(vector: Vector) -> str:
    """Return base64 of the little-endian float32 values."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def decode_vector(text: str | None) -> Vector | None:
    """Read what `encode_vector` wrote; None for None."""
    if text is None:
        return None
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)


def cue_node(cue: CueRecord, now: float) -> CueNode:
    """Return a new cue node that has not fired yet."""
    return CueNode(id=cue.id, text=cue.text, vector=cue.vector, fires=0, last_at=now)


def _unshared(value: Any) -> Any:
    if isinstance(value, Mapping):
        return unshared(value)
    return [_unshared(item) for item in value] if isinstance(value, list | tuple) else value
