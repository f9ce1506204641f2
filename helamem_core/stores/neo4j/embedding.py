"""Vectors that come later than their texts, and the change to another model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helamem_core.records import Embedded, Pending
from helamem_core.stores.neo4j import casts, remember, steps
from helamem_core.stores.neo4j.connection import Connection, Transaction
from helamem_core.stores.neo4j.steps import Write, finish, pages, repeat, stepwise
from helamem_core.types import EmbedderIdentity


def pending(tx: Transaction, space: str, limit: int, offset: int) -> list[Pending]:
    """Return texts that wait for a vector."""
    rows = tx.run("embed.pending", space=space, **_page(limit, offset))
    return [Pending(**row) for row in rows]


def unstaged(tx: Transaction, space: str, embedder: EmbedderIdentity, limit: int, offset: int) -> list[Pending]:
    """Return texts that have no staged vector of this model."""
    rows = tx.run("embed.unstaged", space=space, model=casts.model(embedder), **_page(limit, offset))
    return [Pending(**row) for row in rows]


def _page(limit: int, offset: int) -> dict[str, int]:
    return {"limit": min(limit, casts.ALL), "offset": min(offset, casts.ALL)}


def embed(tx: Transaction, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> int:
    """Give vectors to texts that wait for one.

    Raises:
        EmbedderMismatch: the space has vectors of another model.
    """
    here = tx.run("spaces.locked", space=space)
    if not here or not rows:
        return 0
    remember.bind(tx, space, casts.embedder(here[0]), embedder)
    return int(tx.one("embed.embed", space=space, rows=_rows(rows))["taken"])


def stage(tx: Transaction, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> None:
    """Keep vectors of a new model beside the present ones."""
    if tx.run("spaces.locked", space=space):
        tx.run("embed.stage", space=space, model=casts.model(embedder), rows=_rows(rows))


def _rows(rows: Sequence[Embedded]) -> list[dict[str, object]]:
    return [{"kind": row.kind, "id": row.id, "text": row.text, "vector": casts.numbers(row.vector)} for row in rows]


def adopt(db: Connection, space: str, embedder: EmbedderIdentity) -> int:
    """Swap the staged vectors in.

    In a small space (`steps.AT_ONCE`) readers see the old vectors until all new ones are there. In a large one the old
    vectors go, page by page, then the space is bound to the new model, then the new ones come: meanwhile recall goes by
    words for what has none, and never meets vectors of two models. If it is cut short, texts that wait are left.
    """
    model = casts.model(embedder)

    def verb(write: Write) -> int:
        write(lambda tx: _begin(tx, space))
        finish(
            repeat(write, lambda tx: tx.one("embed.drop_others", space=space, model=model, batch=steps.PAGE)["gone"])
        )
        staged = write(lambda tx: int(tx.one("embed.staged", space=space)["staged"]))
        finish(pages(write, space, lambda tx, page: _clear(tx, space, page)))
        write(lambda tx: _bind(tx, space, model))
        finish(repeat(write, lambda tx: _swap(tx, space)))
        return staged

    return stepwise(db, space, verb)


def _begin(tx: Transaction, space: str) -> None:
    remember.begin(tx, space, ())
    tx.run("embed.drop_mute_cues", space=space)


def _clear(tx: Transaction, space: str, page: dict[str, int]) -> None:
    tx.run("embed.drop_similar", space=space, **page)
    tx.run("embed.drop_vectors", space=space, **page)


def _bind(tx: Transaction, space: str, model: dict[str, Any] | None) -> None:
    """Bind the space to its new model; what came between the pages loses its vector with it."""
    remember.begin(tx, space, ())
    _clear(tx, space, {"after": -1, "until": casts.ALL})
    tx.run("remember.bind", space=space, model=model)


def _swap(tx: Transaction, space: str) -> int:
    if not tx.run("spaces.locked", space=space):
        return 0
    return int(tx.one("embed.adopt", space=space, batch=steps.PAGE)["swapped"])
