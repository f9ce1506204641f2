"""The row of a space, and the numbers of memories and cues."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from helamem_core.errors import EmbedderMismatch, MemoryNotFound
from helamem_core.stores.statements import statements
from helamem_core.types import EmbedderIdentity

SQL, NODES = statements("spaces"), statements("nodes")


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """A space as it stands in this transaction.

    Attributes:
        key: its number.
        version: counts the writes of what readers cache.
        horizon: caches of an older version must be read anew.
        links: counts the changes of memory-memory links and clocks; `links_horizon` is their horizon.
    """

    key: int
    name: str
    steps: int
    version: int
    horizon: int
    embedder: EmbedderIdentity | None
    links: int = 0
    links_horizon: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """A memory that is there."""

    id: str
    number: int
    expires_at: float | None
    archived_at: float | None
    fires: int

    def exists(self, now: float | None) -> bool:
        """Return whether it has not expired; without a time, whether or not."""
        return now is None or self.expires_at is None or self.expires_at > now


def find(db: sqlite3.Connection, name: str) -> SpaceRow | None:
    """Return a space, None if it has never been written to."""
    row = db.execute(SQL["find"], {"name": name}).fetchone()
    if row is None:
        return None
    key, steps, version, horizon, links, links_horizon, model, dimension, normalised = row
    embedder = None if model is None else EmbedderIdentity(model, dimension, bool(normalised))
    return SpaceRow(key, name, steps, version, horizon, embedder, links, links_horizon)


def make(db: sqlite3.Connection, name: str) -> SpaceRow:
    """Return a space, made if it is new."""
    here = find(db, name)
    if here is None:
        db.execute(SQL["make"], {"name": name})
        here = find(db, name)
    assert here is not None
    return here


def advance(db: sqlite3.Connection, here: SpaceRow) -> int:
    """Note that what readers cache is about to change; return the new version, which changed rows must carry."""
    db.execute(SQL["advance"], {"space": here.key})
    return here.version + 1


def bind(db: sqlite3.Connection, here: SpaceRow, embedder: EmbedderIdentity | None) -> None:
    """Bind a space to the model of its first vectors.

    Raises:
        EmbedderMismatch: it holds another model's.
    """
    if here.embedder is None:
        set_embedder(db, here, embedder)
    elif here.embedder != embedder:
        raise EmbedderMismatch(f"space {here.name!r} holds vectors of {here.embedder}, not {embedder}; use `reembed`")


def set_embedder(db: sqlite3.Connection, here: SpaceRow, embedder: EmbedderIdentity | None) -> None:
    """Say whose vectors a space holds."""
    db.execute(SQL["bind"], {"space": here.key} | model_of(embedder))


def model_of(embedder: EmbedderIdentity | None) -> dict[str, str | int | None]:
    """Return an embedder's identity as parameters."""
    if embedder is None:
        return {"model": None, "dimension": None, "normalised": None}
    return {"model": embedder.name, "dimension": embedder.dimension, "normalised": int(embedder.normalised)}


def take_numbers(db: sqlite3.Connection, count: int) -> range:
    """Return so many numbers that were never used."""
    last = int(db.execute(SQL["last_number"]).fetchone()[0])
    db.execute(SQL["take_numbers"], {"count": count})
    return range(last + 1, last + 1 + count)


def held(db: sqlite3.Connection, here: SpaceRow, ids: Iterable[str]) -> dict[str, Held]:
    """Return those of the memories that are there, expired and archived ones too, by id."""
    asked = dict.fromkeys(ids)
    found = db.execute(NODES["by_ids"], {"space": here.key, "ids": json.dumps(list(asked))})
    # SQLite's JSON cuts a text at a NUL: what comes back must be what was asked.
    rows = {row[0]: Held(*row) for row in found}
    return {id: rows[id] for id in asked if id in rows}


def need(
    db: sqlite3.Connection, space: str, here: SpaceRow | None, ids: Sequence[str], now: float | None
) -> list[Held]:
    """Return memories in the order asked, each once.

    Raises:
        MemoryNotFound: an id is not there, or has expired at `now`.
    """
    there = held(db, here, ids) if here is not None and ids else {}
    lost = [id for id in dict.fromkeys(ids) if id not in there or not there[id].exists(now)]
    if lost:
        raise MemoryNotFound(lost, space)
    return list(there.values())
