"""Memories to rows and back: the only casts of this engine."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from helamem_core.records import Node
from helamem_core.stores.statements import statements
from helamem_core.types import Vector

SQL = statements("nodes")


def as_json(value: Any) -> str:
    """Return compact JSON that keeps every letter as it is."""
    return _encode(value)


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_decode = json.JSONDecoder().raw_decode


@lru_cache(maxsize=4096)
def _name(speaker_terms: tuple[str, ...]) -> str:
    """Return the JSON of a speaker's terms; there are few speakers."""
    return as_json(speaker_terms)


def _words(keywords: Sequence[str]) -> str:
    """Return their JSON; words have nothing to escape, so that joining them does in a third of the time."""
    plain = not _ESCAPED.search("".join(keywords))
    return '["' + '","'.join(keywords) + '"]' if keywords and plain else as_json(keywords)


def _counts(terms: Mapping[str, int]) -> str:
    """Return the JSON of words and their counts, likewise."""
    if _ESCAPED.search("".join(terms)):
        return as_json(dict(terms))
    return "{" + ",".join([f'"{term}":{count}' for term, count in terms.items()]) + "}"


def blob(vector: Vector) -> bytes:
    """Return the little-endian float32 bytes of a vector."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def vector_of(data: bytes | None) -> Vector | None:
    """Read what `blob` wrote; None for None."""
    return None if data is None else np.frombuffer(data, dtype="<f4").astype(np.float32)


def episode(node: Node, number: int, space: int, previous: int | None, version: int) -> tuple[Any, ...]:
    """Return the row of a memory, in the order of `remember.sql`."""
    return (
        number,
        space,
        node.id,
        node.text,
        node.role,
        node.speaker,
        node.session,
        node.at,
        node.recorded_at,
        node.expires_at,
        as_json(dict(node.metadata)) if node.metadata else "{}",
        _words(node.keywords),
        _counts(node.terms),
        _name(node.speaker_terms) if node.speaker_terms else "[]",
        sum(node.terms.values()),
        int(node.vector is not None),
        previous,
        node.archived_at,
        node.fires,
        node.uses,
        node.last_used_at,
        version,
    )


def nodes(db: sqlite3.Connection, space: int, numbers: Iterable[int]) -> list[Node]:
    """Return whole memories by number, in the order asked."""
    found = db.execute(SQL["fetch"], {"space": space, "numbers": json.dumps(list(numbers))})
    return [_node(row) for row in found]


def glimpses(db: sqlite3.Connection, space: int, numbers: Iterable[int]) -> list[Node]:
    """Return what readers see of memories, in the order asked: without terms and vector."""
    found = db.execute(SQL["glimpse"], {"space": space, "numbers": json.dumps(list(numbers))})
    return [
        Node(
            id=row[0],
            text=row[1],
            role=row[2],
            speaker=row[3],
            session=row[4],
            at=row[5],
            recorded_at=row[6],
            expires_at=row[7],
            metadata=_decode(row[8])[0],
            keywords=tuple(_decode(row[9])[0]),
            previous=row[10],
            fires=row[11],
            uses=row[12],
            last_used_at=row[13],
        )
        for row in found
    ]


def _node(row: Sequence[Any]) -> Node:
    return Node(
        id=row[1],
        text=row[2],
        role=row[3],
        speaker=row[4],
        session=row[5],
        at=row[6],
        recorded_at=row[7],
        expires_at=row[8],
        metadata=_decode(row[9])[0],
        keywords=tuple(_decode(row[10])[0]),
        terms=_decode(row[11])[0],
        speaker_terms=tuple(_decode(row[12])[0]),
        vector=vector_of(row[13]),
        previous=row[14],
        archived_at=row[15],
        fires=row[16],
        uses=row[17],
        last_used_at=row[18],
    )


def postings(space: int, terms: Mapping[str, int], number: int) -> list[tuple[int, str, int, int]]:
    """Return the index entries of a memory."""
    return [(space, term, number, count) for term, count in terms.items()]
