"""What SQLite and numpy need for the lookups and writes alone, with this engine's own tables, statements and pragmas.

Left out are scores, reasons, links, the checks of cache and content, and tokenising.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Self

import numpy as np

from helamem_core import episodes
from helamem_core.errors import InvalidInput
from helamem_core.evals.synthetic import Query
from helamem_core.memory import Memory
from helamem_core.stores.sqlite import casts, spaces
from helamem_core.stores.sqlite.connections import Pool
from helamem_core.stores.sqlite.scores import postings
from helamem_core.stores.statements import statements
from helamem_core.text import terms
from helamem_core.types import Turn, Vector

TIMEOUT = 30.0
NUMBERS_FROM = 1_000_000
"""Where the numbers of rows begin that are written into the copy."""
_WRITES = statements("remember")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of some memories; postings in the order of their table, as the engine writes them."""

    episodes: list[tuple[Any, ...]]
    vectors: list[tuple[int, bytes]]
    postings: list[tuple[int, str, int, int]]


class BareSqlite:
    """The same file for lookups, and a copy of it, page by page, for writes.

    Args:
        file: the database.
        memory: open on it; its space is looked up.
        vectors: of the space's memories, shape (memories, dimension).
        folder: where the copy is made.
    """

    def __init__(self, file: Path, memory: Memory, vectors: Vector, folder: Path) -> None:
        self._vectors = np.ascontiguousarray(vectors)
        self._reads = Pool(file, TIMEOUT, "full")
        self._writes = Pool(_copied(file, folder), TIMEOUT, "full")
        self._numbers = count(NUMBERS_FROM)
        with self._reads.read() as db:
            found = spaces.find(db, memory.space)
        if found is None:
            raise InvalidInput(f"{str(file)!r} has no space {memory.space!r}")
        self._space = found.key

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reads.close()
        self._writes.close()

    def lookup(self, query: Query, k: int) -> object:
        """Return the positions of the k nearest vectors, and each word's postings as arrays."""
        scores = self._vectors @ query.vector
        nearest = np.argpartition(-scores, min(k, len(scores) - 1))[:k]
        nearest = nearest[np.argsort(-scores[nearest])]
        with self._reads.read() as db:
            held = [postings(db, self._space, term) for term in dict.fromkeys(terms(query.text))]
        return nearest, held

    def take(self, turns: Sequence[Turn], vectors: Vector) -> Rows:
        """Return the rows that the memory writes for these turns."""
        rows = Rows([], [], [])
        for turn, vector in zip(turns, vectors, strict=True):
            node, number = episodes.node(turn, now=0.0, ids=str), next(self._numbers)
            node.vector = vector
            rows.episodes.append(casts.episode(node, number, self._space, number - 1, 1))
            rows.vectors.append((number, casts.blob(vector)))
            rows.postings.extend(casts.postings(self._space, node.terms, number))
        rows.postings.sort()
        return rows

    def write(self, rows: Rows) -> None:
        """Insert rows in one transaction."""
        with self._writes.write() as db:
            db.executemany(_WRITES["episode"], rows.episodes)
            db.executemany(_WRITES["vector"], rows.vectors)
            db.executemany(_WRITES["posting"], rows.postings)


def _copied(file: Path, folder: Path) -> Path:
    copy = folder / "copy.db"
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy
