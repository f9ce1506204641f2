"""What recall costs the server."""

from __future__ import annotations

from helamem_core.config import DEFAULT
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.testing.fakes import MODEL, axis, node, query

MANY = 1_000


def test_a_recall_of_a_thousand_is_answered(store: Neo4jStore, space: str) -> None:
    """Fault: rows carried whole lists along, so that memory grew with the square of k: gigabytes for a thousand."""
    nodes = [node(f"tea number {at}", vector=axis(at % 10), session="s") for at in range(MANY)]
    store.remember(space, nodes, embedder=MODEL, config=DEFAULT)
    assert len(store.recall(space, query("tea number", vector=axis(0), k=MANY, embedder=MODEL)).items) == MANY
