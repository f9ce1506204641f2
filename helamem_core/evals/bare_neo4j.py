"""What Neo4j needs for the lookups and writes alone, with this engine's own indexes, nodes and statistics.

Left out are scores, reasons, links, the checks of identity and content, and tokenising. Both lookups go in one session
and transaction, each for as many results as the recall is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from helamem_core import episodes
from helamem_core.evals.synthetic import DIMENSION, Query
from helamem_core.memory import Memory
from helamem_core.stores.neo4j import casts, erase
from helamem_core.stores.neo4j.address import address
from helamem_core.stores.neo4j.connection import Connection, Transaction
from helamem_core.stores.neo4j.remember import begin, labels
from helamem_core.stores.neo4j.schema import Schema
from helamem_core.text import terms
from helamem_core.types import Turn, Vector


@dataclass(frozen=True, slots=True)
class Rows:
    """The nodes of some memories, and how many of them have each word."""

    nodes: list[dict[str, Any]]
    words: list[tuple[str, int]]


class BareNeo4j:
    """The same database for lookups, and a space beside for writes.

    Args:
        url: of the store.
        memory: open on it; its space is looked up.
    """

    def __init__(self, url: str, memory: Memory) -> None:
        where = address(url, user=None, password=None, auth=None, database=None)
        self._db, self._space = Connection(where), memory.space
        Schema(self._db)
        self._beside, self._number = f"{memory.space}/bare", 0
        self._db.write(lambda tx: begin(tx, self._beside, ()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        erase.drop_space(self._db, self._beside)
        self._db.close()

    def lookup(self, query: Query, k: int) -> object:
        """Return the k nearest memories, and the k that share most words."""
        postings = " ".join(casts.digest(self._space, term) for term in dict.fromkeys(terms(query.text)))
        vector = casts.numbers(query.vector)

        def look(tx: Transaction) -> object:
            near = tx.run("bare.near", width=DIMENSION, space=self._space, vector=vector, k=k)
            return near, tx.run("bare.words", space=self._space, postings=postings, k=k)

        return self._db.read(look)

    def take(self, turns: Sequence[Turn], vectors: Vector) -> Rows:
        """Return the nodes that the memory makes for these turns."""
        nodes = [episodes.node(turn, now=0.0, ids=str) for turn in turns]
        rows = []
        for node, vector in zip(nodes, vectors, strict=True):
            node.vector = vector
            self._number += 1
            properties = casts.episode(node, self._beside) | {"number": self._number}
            rows.append({"properties": properties, "labels": labels(node), "vector": casts.numbers(vector)})
        return Rows(rows, sorted(Counter(term for node in nodes for term in node.terms).items()))

    def write(self, rows: Rows) -> None:
        """Create nodes in one transaction."""

        def create(tx: Transaction) -> None:
            tx.run("bare.write", rows=rows.nodes)
            tx.run("bare.count", space=self._beside, words=[list(word) for word in rows.words])

        self._db.write(create)
