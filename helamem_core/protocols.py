"""What a stranger may plug in: an embedder, a store, a cue completer, a distiller, a clock.

What travels between `Memory` and a `Store` is in `helamem_core.records`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from helamem_core.config import Config
from helamem_core.records import Embedded, Listing, Node, Patch, Pending, Recalled, RecallQuery, Reinforcement
from helamem_core.types import (
    EmbedderIdentity,
    FadeReport,
    ForgetReport,
    Neighbour,
    ReinforceReport,
    Stats,
    Vector,
)

Clock = Callable[[], datetime]
"""Returns the time now, timezone-aware."""

Ids = Callable[[], str]
"""Returns a new id, never the same twice."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Which model this is; must not need the network."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        """Return float32 vectors of shape (len(texts), dimension).

        Args:
            texts: what to embed; may be empty.
            kind: some models want queries marked.

        Raises:
            EmbedderError: the model failed; nothing is assumed about the texts.
        """
        ...


@runtime_checkable
class Literate(Protocol):
    """An embedder that can tell which texts its model cannot read, such as Chinese for an English model."""

    def reads(self, text: str) -> bool:
        """Return False if a vector of the text would be noise; a query like that recalls by words alone."""
        ...


@runtime_checkable
class CueCompleter(Protocol):
    """Completes a partial cue towards the memory it asks for (Hippo's CA3)."""

    def complete(self, cue: Vector) -> tuple[Vector, float]:
        """Return the completed unit vector and the confidence in it, in [0, 1].

        Args:
            cue: the query's unit vector, shape (dimension,).
        """
        ...


@runtime_checkable
class Distiller(Protocol):
    """Distils clusters of memories into facts."""

    def distil(self, cluster: Sequence[Any]) -> Sequence[Any]:
        """Return the facts that a cluster of episodes supports."""
        ...


class Store(Protocol):
    """An engine that keeps the graph. Every verb is one transaction and touches only the named space.

    Statements are scoped by space, which compares exactly. A space exists from its first write on; reading
    another one finds nothing. Methods raise `StoreError`s of `helamem_core.errors`, never the driver's own.
    """

    def close(self) -> None:
        """Release what the store itself opened; again is a no-op."""
        ...

    def spaces(self) -> list[str]:
        """Return the names of all spaces, sorted."""
        ...

    def drop_space(self, space: str) -> ForgetReport:
        """Erase a space with everything in it."""
        ...

    def identity(self, space: str) -> EmbedderIdentity | None:
        """Return the model whose vectors the space holds."""
        ...

    def present(self, space: str, ids: Sequence[str], now: float) -> dict[str, Node]:
        """Return those of the memories that exist and have not expired, archived ones too, by id."""
        ...

    def remember(
        self, space: str, nodes: Sequence[Node], *, embedder: EmbedderIdentity | None, config: Config
    ) -> list[bool]:
        """Store new memories, each linked to the last one of its session; all of them or none.

        A node whose id exists is left as it is (the caller has compared the contents); one whose id belonged
        to an expired memory replaces it. The space's first vectors bind it to `embedder`. Where consecutive turns
        get a learned link (`Plasticity.temporal`), the ends of all new ones are held to `max_degree` at the end.

        Returns:
            For each node, whether it was stored.

        Raises:
            EmbedderMismatch: nodes carry vectors of another model than the space's.
        """
        ...

    def recall(self, space: str, query: RecallQuery) -> Recalled:
        """Return the best memories for a query, with the reasons; changes nothing.

        Whether the query's vectors count is decided in the transaction that answers: `RecallQuery.for_model`.
        """
        ...

    def reinforce(self, space: str, event: Reinforcement) -> ReinforceReport:
        """Apply one Hebbian event, its cue's vector only if it is of the space's model: `Reinforcement.for_model`.

        Where `Plasticity.cue_rate` is 0 the cue takes no part: no node is made for it, it does not fire, and the report
        names none.

        Raises:
            MemoryNotFound: an id, or the turn named as cue, is not there (or has expired), each named once; nothing
                was changed.
        """
        ...

    def select(self, space: str, listing: Listing) -> list[Node]:
        """Return memories of a view in order."""
        ...

    def update(self, space: str, id: str, patch: Patch, now: float) -> Node:
        """Change a memory's content and index it anew; its identity, place and links stay.

        A vector of another model than the space's is left out (`Patch.for_model`): the text waits for its own.

        Raises:
            MemoryNotFound: no such memory.
        """
        ...

    def forget(self, space: str, ids: Sequence[str]) -> ForgetReport:
        """Erase memories with their links and index entries; unknown ids are passed over.

        The turn after an erased one follows the turn before it. Cues that led only to erased memories go; cues
        that led to others too lose their text. A cue that is no turn can be named as well: it goes with its links,
        counted in the report's `cues`, not named among its `ids`.
        """
        ...

    def archive(self, space: str, ids: Sequence[str], now: float) -> list[str]:
        """Take memories out of the active graph; return those that were active.

        Raises:
            MemoryNotFound: an id is not there; nothing was changed.
        """
        ...

    def restore(self, space: str, ids: Sequence[str]) -> list[str]:
        """Bring archived memories back, links and all; return those that were archived.

        Raises:
            MemoryNotFound: an id is not there; nothing was changed.
        """
        ...

    def fade(self, space: str, now: float, config: Config) -> FadeReport:
        """Erase expired memories, archive weak, old, unused ones, remove dead links, write decayed weights back.

        Cues that are no turns, and that no link leads from any more, go too.
        """
        ...

    def link_similar(self, space: str, now: float, config: Config) -> int:
        """Make similarity links between active near neighbours; return how many links there are now that were not.

        Those that were there and are made again keep their `since`; those that are not made again go.
        """
        ...

    def neighbours(self, space: str, id: str, now: float, config: Config) -> list[Neighbour]:
        """Return a memory's (or cue's) living links, the strongest first.

        Raises:
            MemoryNotFound: neither a memory nor a cue has the id.
        """
        ...

    def stats(self, space: str, now: float, config: Config) -> Stats:
        """Return counts of the space."""
        ...

    def pending(self, space: str, limit: int, offset: int = 0) -> list[Pending]:
        """Return texts that wait for a vector, memories before cues, oldest first; the first `offset` are left out."""
        ...

    def embed(self, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> int:
        """Give vectors to texts that wait for one; return how many took them."""
        ...

    def stage(self, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> None:
        """Keep vectors of a new model beside the present ones, until `adopt`."""
        ...

    def unstaged(self, space: str, embedder: EmbedderIdentity, limit: int, offset: int = 0) -> list[Pending]:
        """Return texts (archived ones and cues too) that have no staged vector of this model yet, as `pending` does."""
        ...

    def adopt(self, space: str, embedder: EmbedderIdentity) -> int:
        """Swap the staged vectors in, bind the space to the new model, drop other staged ones; return how many.

        Texts without a staged vector are left without one, to be embedded later. Similarity links go, for they
        belong to the old vectors, and so do cues that have lost their text.
        """
        ...

    def dump(self, space: str) -> Iterator[dict[str, Any]]:
        """Yield the space as JSON-able records, see `helamem_core.stores.rows`; the last one counts the others."""
        ...

    def load(self, space: str, records: Iterable[dict[str, Any]]) -> int:
        """Fill an empty space from such records, weights and clocks intact; return how many memories.

        Raises:
            SpaceNotEmpty: the space holds memories.
            InvalidExport: a record cannot be read or holds what no memory writes, an id comes twice, a link names what
                has not come (the turn before may come later), or the end is missing; nothing was stored. Engines
                read the records by `helamem_core.stores.export_records`, so that all refuse the same.
        """
        ...

    def files(self) -> list[Path]:
        """Return the files that belong to the store, there or not: nothing else may be written to them."""
        ...

    def backup(self, path: Path) -> None:
        """Write a copy of the whole store that can be opened by itself; the path has it whole or not at all.

        Raises:
            InvalidInput: the path exists or is a file of the store, or this engine has no files of its own.
            StoreUnavailable: the path cannot be written.
        """
        ...

    def check(self) -> list[str]:
        """Return what is inconsistent, one sentence each; empty if all is well."""
        ...
