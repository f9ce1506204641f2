"""What is remembered: reading, listing and changing memories, taking them out of the active graph and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from helamem_core.errors import InvalidInput, MemoryNotFound
from helamem_core.records import Listing, Node, Patch
from helamem_core.stores.neo4j import casts
from helamem_core.stores.neo4j.connection import Transaction
from helamem_core.stores.neo4j.recall import seen
from helamem_core.types import EmbedderIdentity


def present(tx: Transaction, space: str, ids: Sequence[str], now: float) -> dict[str, Node]:
    """Return those of the memories that exist, by id."""
    return {node.id: node for node in fetch(tx, space, ids, now)}


def fetch(tx: Transaction, space: str, ids: Iterable[str], now: float | None) -> list[Node]:
    """Return whole memories in the order asked; those that expired before `now` are passed over."""
    asked = list(dict.fromkeys(ids))
    return _nodes(tx.run("nodes.fetch", space=space, ids=asked, now=now)) if asked else []


def select(tx: Transaction, space: str, listing: Listing) -> list[Node]:
    """Return memories of a view in order."""
    rows = tx.run(
        "select.page",
        space=space,
        archived=listing.archived,
        order=listing.order,
        limit=casts.ALL if listing.limit is None else min(listing.limit, casts.ALL),
        offset=min(listing.offset, casts.ALL),
        **seen(listing.view),
    )
    return _nodes(rows)


def update(tx: Transaction, space: str, id: str, patch: Patch, now: float) -> Node:
    """Change a memory's content.

    Raises:
        MemoryNotFound: no such memory.
        InvalidInput: its vector is of a model that the space does not have yet.
    """
    embedder, _ = need(tx, space, [id], now)
    patch = patch.for_model(embedder)
    if patch.text is not None:
        if patch.vector is not None and embedder is None:
            raise InvalidInput(f"space {space!r} has no embedder yet: remember before you update")
        tx.run(
            "update.text",
            space=space,
            id=id,
            content=casts.content(patch.text, patch.terms, patch.keywords),
            postings=casts.postings(space, patch.terms),
            vector=casts.numbers(patch.vector),
        )
    if patch.metadata is not None:
        (before,) = fetch(tx, space, [id], None)
        tx.run("update.metadata", space=space, id=id, **casts.described(replace(before, metadata=patch.metadata)))
    if patch.expires_at != "keep":
        tx.run("update.expires_at", space=space, id=id, expires_at=patch.expires_at)
    return fetch(tx, space, [id], None)[0]


def archive(tx: Transaction, space: str, ids: Sequence[str], now: float) -> list[str]:
    """Take memories out of the active graph.

    Raises:
        MemoryNotFound: an id is not there; nothing was changed.
    """
    _, held = need(tx, space, ids, now)
    active = [id for id, row in held.items() if not row["archived"]]
    if active:
        tx.run("archive.archive", space=space, ids=active, now=now)
    return active


def restore(tx: Transaction, space: str, ids: Sequence[str]) -> list[str]:
    """Bring archived memories back.

    Raises:
        MemoryNotFound: an id is not there; nothing was changed.
    """
    _, held = need(tx, space, ids, None)
    back = [id for id, row in held.items() if row["archived"]]
    if back:
        found = tx.run("archive.words", space=space, ids=back)
        rows = [{"id": row["id"], "postings": casts.postings(space, _terms(row))} for row in found]
        tx.run("archive.restore", space=space, rows=rows)
    return back


def need(
    tx: Transaction, space: str, ids: Iterable[str], now: float | None
) -> tuple[EmbedderIdentity | None, dict[str, dict[str, Any]]]:
    """Lock a space; return its model, and `at` and `archived` of each of these memories, in the order asked.

    Args:
        tx: the transaction.
        space: whose memories.
        ids: each counts once.
        now: those that expired before are not there; None: whether or not.

    Raises:
        MemoryNotFound: a memory is not there.
    """
    asked = list(dict.fromkeys(ids))
    rows = tx.run("nodes.held", space=space, ids=asked, now=now)
    held = {row["id"]: row for row in rows[0]["held"]} if rows else {}
    lost = [id for id in asked if id not in held]
    if lost:
        raise MemoryNotFound(lost, space)
    return casts.embedder(rows[0]) if rows else None, held


def _terms(row: dict[str, Any]) -> dict[str, int]:
    return dict(zip(row["terms"], row["counts"], strict=True))


def _nodes(rows: Iterable[dict[str, Any]]) -> list[Node]:
    return [casts.node(row["node"], casts.vector(row["node"]["embedding"])) for row in rows]
