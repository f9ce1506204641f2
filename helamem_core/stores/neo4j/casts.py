"""Records as Neo4j keeps them: nodes and links to properties and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import numpy as np

from helamem_core.records import Node
from helamem_core.stores.neo4j.facets import facets
from helamem_core.types import EmbedderIdentity, Vector

ALL = 2**61  # more than any space holds
_NAME = 48  # characters of a caption
_CHINESE = r"[\u3000-\u9fff\uff00-\uffef]"
_BREAKS = re.compile(f"({_CHINESE}{{5}}[，。？！、；：]?)(?={_CHINESE})")  # Browser breaks captions at spaces only
_REPEATED = 8  # times that a word counts for the full-text index, which only nominates
_DIGEST = 8  # bytes


def episode(node: Node, space: str) -> dict[str, Any]:
    """Return the properties of a memory, but for its vector and number; None where it has none."""
    return {
        "space": space,
        "id": node.id,
        "role": node.role,
        "speaker": node.speaker,
        "session": node.session,
        "at": node.at,
        "said": _readable(node.at),
        "recorded_at": node.recorded_at,
        "expires_at": node.expires_at,
        "archived_at": node.archived_at,
        "fires": node.fires,
        "uses": node.uses,
        "last_used_at": node.last_used_at,
        "speaker_terms": list(node.speaker_terms) or None,
        **content(node.text, node.terms, node.keywords),
        **described(node),
        "postings": postings(space, node.terms) if node.archived_at is None else None,
    }


def content(text: str, terms: Mapping[str, int], keywords: Iterable[str]) -> dict[str, Any]:
    """Return the properties that a text brings, but for its postings."""
    return {
        "text": text,
        "name": caption(text),
        "keywords": list(keywords),
        "terms": list(terms),
        "counts": list(terms.values()),
        "length": sum(terms.values()),
    }


def described(node: Node) -> dict[str, Any]:
    """Return the properties that metadata and filters on them need."""
    told = json.dumps(dict(node.metadata), ensure_ascii=False) if node.metadata else None
    return {"metadata": told, "facets": facets(node)}


def caption(text: str) -> str:
    """Return the beginning of a text, for eyes."""
    line = " ".join(text.split())
    return _BREAKS.sub(r"\1 ", line if len(line) <= _NAME else line[: _NAME - 1].rstrip() + "…")


def postings(space: str, terms: Mapping[str, int]) -> str | None:
    """Return what the full-text index reads of a memory: digests of space and word, as often as the word occurs."""
    return " ".join(" ".join([digest(space, term)] * min(count, _REPEATED)) for term, count in terms.items()) or None


def digest(space: str, term: str) -> str:
    """Return the name of a word in the full-text index; that of another space differs, and none is syntax."""
    return blake2b(term.encode(), key=blake2b(space.encode(), digest_size=64).digest(), digest_size=_DIGEST).hexdigest()


def node(row: Mapping[str, Any], vector: Vector | None = None) -> Node:
    """Return a memory from the properties that readers see, and those that an export needs if they are there."""
    counts = row.get("counts") or []
    return Node(
        id=row["id"],
        text=row["text"],
        role=row["role"],
        speaker=row["speaker"],
        session=row["session"],
        at=row["at"],
        recorded_at=row["recorded_at"],
        expires_at=row["expires_at"],
        metadata=json.loads(row["metadata"]) if row["metadata"] else {},
        keywords=tuple(row["keywords"]),
        terms=dict(zip(row.get("terms") or [], counts, strict=True)),
        speaker_terms=tuple(row.get("speaker_terms") or ()),
        vector=vector,
        previous=row["previous"],
        archived_at=row["archived_at"],
        fires=row["fires"],
        uses=row["uses"],
        last_used_at=row["last_used_at"],
    )


def numbers(vector: Vector | None) -> list[float] | None:
    """Return a vector as the driver sends it fastest."""
    return None if vector is None else vector.tolist()


def vector(numbers: Iterable[float] | None) -> Vector | None:
    """Return a stored vector."""
    return None if numbers is None else np.asarray(numbers, dtype=np.float32)


def model(embedder: EmbedderIdentity | None) -> dict[str, Any] | None:
    """Return a model as statements compare it."""
    if embedder is None:
        return None
    return {"name": embedder.name, "dimension": embedder.dimension, "normalised": embedder.normalised}


def embedder(row: Mapping[str, Any]) -> EmbedderIdentity | None:
    """Return the model of a space's row; None if it has no vectors yet."""
    if row["model"] is None:
        return None
    return EmbedderIdentity(row["model"], row["dimension"], row["normalised"])


def _readable(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
