"""The bare side of the latency benchmark: what an engine needs for the lookups and writes alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from helamem_core.errors import InvalidInput
from helamem_core.evals.synthetic import Query
from helamem_core.memory import Memory
from helamem_core.stores import is_neo4j
from helamem_core.types import Turn, Vector
from helamem_core.urls import redacted


class Bare(Protocol):
    """The least that an engine must do, without scores, reasons, links and checks."""

    def lookup(self, query: Query, k: int) -> object:
        """Find the k nearest vectors, and the postings of the query's words."""
        ...

    def take(self, turns: Sequence[Turn], vectors: Vector) -> Any:
        """Return the rows that the memory writes for these turns; not timed."""
        ...

    def write(self, rows: Any) -> None:
        """Write such rows into a copy of the store, in one transaction."""
        ...


def open_bare(url: str, memory: Memory, vectors: Vector, folder: Path) -> AbstractContextManager[Bare]:
    """Return the bare side of the engine that a url names.

    Args:
        url: of the store.
        memory: open on it; its space is looked up.
        vectors: of the space's memories, shape (memories, dimension).
        folder: where a copy of the store may lie.

    Raises:
        InvalidInput: there is none for this engine.
    """
    if is_neo4j(url):
        from helamem_core.evals.bare_neo4j import BareNeo4j

        return BareNeo4j(url, memory)
    from helamem_core.evals.bare_sqlite import BareSqlite

    file = url.removeprefix("sqlite:///")
    if file in (url, ":memory:"):
        raise InvalidInput(
            f"{redacted(url)!r} has no bare lookups to compare with; give sqlite:///path or neo4j://host"
        )
    return BareSqlite(Path(file), memory, vectors, folder)
