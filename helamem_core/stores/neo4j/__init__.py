"""The Neo4j engine: the graph on a server, with its dynamics in Cypher.

Every verb is one transaction, a recall and a reinforcement one statement; what goes through a whole space (`load`,
`drop_space`, and above 2,000 memories `fade`, `link_similar` and `adopt`) goes page by page, so that a space of any
size fits the server's memory. Writers of a space take turns: each locks its `Space` node first. What an
index nominates is judged by the formula (`stores/statements/formula.cypher`), the twin of `dynamics`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import neo4j

from helamem_core.config import Config
from helamem_core.errors import InvalidInput
from helamem_core.records import (
    CueRecord,
    Embedded,
    Listing,
    Node,
    Patch,
    Pending,
    Recalled,
    RecallQuery,
    Reinforcement,
)
from helamem_core.stores.neo4j import content, embedding, erase, look, recall, reinforce, remember, transfer, upkeep
from helamem_core.stores.neo4j.address import address
from helamem_core.stores.neo4j.connection import Connection, Observer
from helamem_core.stores.neo4j.recall import Reach
from helamem_core.stores.neo4j.schema import Schema
from helamem_core.types import (
    EmbedderIdentity,
    FadeReport,
    ForgetReport,
    Neighbour,
    ReinforceReport,
    Stats,
    Vector,
)

URL = "bolt://127.0.0.1:7687"


class Neo4jStore:
    """A store in a database of Neo4j 5.26 LTS or the calendar line. See `helamem_core.protocols.Store` for each verb.

    Args:
        url: `neo4j://` (a cluster or Aura, with routing), `bolt://` (one server), `+s` or `+ssc` for encryption;
            credentials and database may be in it, see `helamem_core.stores.neo4j.address`.
        driver: an open driver to borrow instead; it is never closed here.
        user: name; default: from the url or `HELAMEM_NEO4J_USER`.
        password: default: from the url or `HELAMEM_NEO4J_PASSWORD`.
        auth: anything else that the driver takes, such as a bearer token.
        database: default: from the url, `HELAMEM_NEO4J_DATABASE` or `neo4j`.
        near: least number of memories that the vector index nominates for a recall; `k` if that is more.
        worded: least number that the full-text index nominates; five times `k` if that is more.
        exact_up_to: spaces of at most so many memories are scored as a whole.
        retry_seconds: how long a transaction is tried again that lost a race or its server.
        on_statement: called with the `StatementTime` of each statement.

    Raises:
        StoreUnavailable: no server answers, it refuses the credentials, it is too old, or it lacks the database.
        ForeignStore: the database holds something else under our names.
        SchemaTooNew: a newer version of this library wrote it.
    """

    def __init__(  # noqa: PLR0913 - the public signature
        self,
        url: str = URL,
        *,
        driver: neo4j.Driver | None = None,
        user: str | None = None,
        password: str | None = None,
        auth: Any = None,
        database: str | None = None,
        near: int = 10,
        worded: int = 50,
        exact_up_to: int = 200,
        retry_seconds: float = 5.0,
        on_statement: Observer | None = None,
    ) -> None:
        where = address(url, user=user, password=password, auth=auth, database=database)
        self._reach = Reach(near, worded, exact_up_to)
        self._db = Connection(where, driver, observer=on_statement, retry_seconds=retry_seconds)
        try:
            self._schema = Schema(self._db)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the driver if it was opened here."""
        self._db.close()

    def spaces(self) -> list[str]:
        """Return the names of all spaces."""
        return self._db.read(look.spaces)

    def drop_space(self, space: str) -> ForgetReport:
        """Erase a space, batch by batch; one that is cut short goes on when asked again."""
        return erase.drop_space(self._db, space)

    def identity(self, space: str) -> EmbedderIdentity | None:
        """Return the model of the vectors."""
        return self._db.read(lambda tx: look.identity(tx, space))

    def present(self, space: str, ids: Sequence[str], now: float) -> dict[str, Node]:
        """Return those that exist, by id."""
        return self._db.read(lambda tx: content.present(tx, space, ids, now))

    def remember(
        self, space: str, nodes: Sequence[Node], *, embedder: EmbedderIdentity | None, config: Config
    ) -> list[bool]:
        """Store new memories."""
        self._index(node.vector for node in nodes)
        return self._db.write(lambda tx: remember.remember(tx, space, nodes, embedder, config))

    def recall(self, space: str, query: RecallQuery) -> Recalled:
        """Return the best memories for a query."""
        vector = query.vector if query.vector is not None else query.cue
        width = len(vector) if vector is not None and self._schema.has(len(vector)) else None
        return self._db.read(lambda tx: recall.recall(tx, space, query, self._reach, width))

    def reinforce(self, space: str, event: Reinforcement) -> ReinforceReport:
        """Apply one Hebbian event."""
        self._index([event.cue.vector if isinstance(event.cue, CueRecord) else None])
        return self._db.write(lambda tx: reinforce.reinforce(tx, space, event, self._reach))

    def select(self, space: str, listing: Listing) -> list[Node]:
        """Return memories of a view in order."""
        return self._db.read(lambda tx: content.select(tx, space, listing))

    def update(self, space: str, id: str, patch: Patch, now: float) -> Node:
        """Change a memory's content."""
        self._index([patch.vector])
        return self._db.write(lambda tx: content.update(tx, space, id, patch, now))

    def forget(self, space: str, ids: Sequence[str]) -> ForgetReport:
        """Erase memories and cues."""
        return self._db.write(lambda tx: erase.forget(tx, space, ids))

    def archive(self, space: str, ids: Sequence[str], now: float) -> list[str]:
        """Take memories out of the active graph."""
        return self._db.write(lambda tx: content.archive(tx, space, ids, now))

    def restore(self, space: str, ids: Sequence[str]) -> list[str]:
        """Bring archived memories back."""
        return self._db.write(lambda tx: content.restore(tx, space, ids))

    def fade(self, space: str, now: float, config: Config) -> FadeReport:
        """Erase expired, archive weak, old, unused memories, remove dead links and the cues that had no others."""
        return upkeep.fade(self._db, space, now, config)

    def link_similar(self, space: str, now: float, config: Config) -> int:
        """Make similarity links between active near neighbours, in place of the earlier ones."""
        return upkeep.link_similar(self._db, space, now, config, self._reach)

    def neighbours(self, space: str, id: str, now: float, config: Config) -> list[Neighbour]:
        """Return a memory's or cue's living links."""
        return self._db.read(lambda tx: look.neighbours(tx, space, id, now, config))

    def stats(self, space: str, now: float, config: Config) -> Stats:
        """Return counts of the space."""
        return self._db.read(lambda tx: look.stats(tx, space, now, config))

    def pending(self, space: str, limit: int, offset: int = 0) -> list[Pending]:
        """Return texts that wait for a vector."""
        return self._db.read(lambda tx: embedding.pending(tx, space, limit, offset))

    def embed(self, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> int:
        """Give vectors to texts that wait for one."""
        self._index(row.vector for row in rows)
        return self._db.write(lambda tx: embedding.embed(tx, space, embedder, rows))

    def stage(self, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> None:
        """Keep vectors of a new model beside the present ones."""
        self._db.write(lambda tx: embedding.stage(tx, space, embedder, rows))

    def unstaged(self, space: str, embedder: EmbedderIdentity, limit: int, offset: int = 0) -> list[Pending]:
        """Return texts that have no staged vector of this model."""
        return self._db.read(lambda tx: embedding.unstaged(tx, space, embedder, limit, offset))

    def adopt(self, space: str, embedder: EmbedderIdentity) -> int:
        """Swap the staged vectors in."""
        self._schema.ensure(embedder.dimension)
        return embedding.adopt(self._db, space, embedder)

    def dump(self, space: str) -> Iterator[dict[str, Any]]:
        """Yield the space as records."""
        return transfer.dump(self._db, space)

    def load(self, space: str, records: Iterable[dict[str, Any]]) -> int:
        """Fill an empty space from records, batch by batch; what a failure leaves is erased."""
        return transfer.load(self._db, self._schema, space, records)

    def files(self) -> list[Path]:
        """Return none: the server has them."""
        return []

    def backup(self, path: Path) -> None:
        """Refuse: the server's own tools back it up."""
        raise InvalidInput(
            f"cannot back up to {str(path)!r}: the files are the server's; use `neo4j-admin database dump`, "
            "or `export` a space"
        )

    def check(self) -> list[str]:
        """Return what is inconsistent, one sentence each."""
        return self._db.read(look.check)

    def _index(self, vectors: Iterable[Vector | None]) -> None:
        """Make the indexes that vectors of this width need, before the transaction that brings them."""
        for width in {len(vector) for vector in vectors if vector is not None}:
            self._schema.ensure(width)
