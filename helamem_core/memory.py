"""The memory: its verbs, and nothing but the order in which the parts are asked; see `housekeeping` for the others."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Self

from helamem_core import episodes, ingestion, recollecting, rewriting
from helamem_core.config import Config
from helamem_core.context import Progress
from helamem_core.episodes import References
from helamem_core.housekeeping import Housekeeping
from helamem_core.ingestion import Turns
from helamem_core.lifecycle import open_session
from helamem_core.listing import Order, listing
from helamem_core.protocols import Clock, CueCompleter, Distiller, Embedder, Ids, Store
from helamem_core.recollecting import Question
from helamem_core.records import Patch
from helamem_core.settings import settings
from helamem_core.stores import rows
from helamem_core.times import Moment, seconds_or_none
from helamem_core.types import (
    Episode,
    Neighbour,
    Recollections,
    ReinforceReport,
    RememberReport,
    Stats,
)


class Memory(Housekeeping):
    """A space of memories that learns from use; open one with `Memory.open`.

    Safe for threads. Every verb is one transaction of the store, but for `remember`, `embed_pending` and `reembed`,
    which go batch by batch and can be resumed. All verbs raise `MemoryClosed` after `close`, `InvalidInput` for a value
    that cannot be used, and `StoreError` if the engine fails.
    """

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        space: str | None = None,
        embedder: Embedder | str | None = None,
        config: Config | None = None,
        cue_completer: CueCompleter | str | None = None,
        distiller: Distiller | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        store: Store | None = None,
        **store_options: Any,
    ) -> Self:
        """Open a space; what is not given comes from `HELAMEM_*` variables (`helamem_core.settings`).

        Args:
            url: `sqlite:///path` (the default is `sqlite:///helamem.db`), `sqlite:///:memory:`, `memory:`, or
                `neo4j://host` and its other schemes.
            space: whose memories; 1 to 256 characters, compared exactly. There is no default.
            embedder: an object, or a name of `helamem_core.embedders`; the default is the packaged MiniLM. The model is
                loaded when the first text is embedded.
            config: all numbers; default `DEFAULT`.
            cue_completer: completes the query of every recall: an object, or the name of an installed one.
            distiller: kept for later.
            clock: the time now; default the system's.
            ids: makes new ids; default random.
            store: an open store to borrow instead of `url`; it is never closed here.
            store_options: for the engine of the url.

        Raises:
            InvalidInput: no space, or a value that cannot be used.
            MissingExtra: the embedder is not installed.
            StoreError: the engine cannot be opened (`StoreUnavailable`, `ForeignStore`, `SchemaTooNew`, ...).

        Warns:
            EmbedderMismatchWarning: the space holds another model's vectors.
        """
        chosen = settings(url=url, space=space, embedder=embedder, cue_completer=cue_completer, config=config)
        return cls(
            open_session(
                chosen,
                distiller=distiller,
                clock=clock or _system_clock,
                ids=ids,
                store=store,
                options=store_options,
            )
        )

    def close(self) -> None:
        """Release what was opened here; again is a no-op. A space from `in_space` closes nothing but itself."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of space {self.space!r} in {self._session.place}>"

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._session.context.space

    @property
    def config(self) -> Config:
        """All numbers."""
        return self._session.context.config

    @property
    def embedder(self) -> Embedder | None:
        """Who embeds; None if this memory works by words alone."""
        encoder = self._session.context.encoder
        return None if encoder is None else encoder.embedder

    def in_space(self, name: str) -> Memory:
        """Return a memory of another space that shares store, embedder and caches; it lives as long as this one."""
        return Memory(self._session.child(episodes.space_name(name)))

    def remember(
        self,
        turns: Turns,
        *,
        on_error: Literal["raise", "report"] = "raise",
        vectors: Any | None = None,
        progress: Progress | None = None,
    ) -> RememberReport:
        """Store one turn or many, each linked to the last one of its session.

        A turn with an `id` or an `at` can be remembered again: nothing changes if what the turn says is what is stored
        under its id, else that item fails (`ContentConflict`). With neither, each call stores a new memory.

        Turns are embedded and written in batches of `config.limits.batch`, so an endless generator streams. One that
        cannot be used fails alone. If the store fails, the batches before stay stored and every turn from there on is
        reported as failed; `report.remaining` holds them with the ids that they were given, so that giving it to
        `remember` again resumes without duplicates. If the embedder fails, turns are stored without a vector, found by
        their words, and embedded by a later `remember` or by `embed_pending`.

        Args:
            turns: a `Turn`, a text, or an iterable of these.
            on_error: `raise` a `RememberError` at the end if a turn failed, or only `report` it.
            vectors: an array of shape (turns, dimension), or an iterable of such rows: the turns' vectors by this
                memory's embedder, which is then not asked. They need not be of unit length.
            progress: called after each batch with the turns done and, if known, all turns.

        Raises:
            RememberError: a turn failed; all others are stored, and `report` says which.

        Warns:
            EmbeddingPendingWarning: some are stored without a vector.
        """
        return ingestion.remember(self._session.use(), turns, on_error=on_error, vectors=vectors, progress=progress)

    def recall(  # noqa: PLR0913 - the public signature
        self,
        query: str,
        *,
        k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        kinds: str | Iterable[str] | None = None,
        vector: Any | None = None,
        cue_completer: CueCompleter | str | None = None,
        max_tokens: int | None = None,
        learn: Literal["retrieved"] | None = None,
    ) -> Recollections:
        """Return the memories that a query calls up, best first, each with the reason.

        Nothing changes by it, unless `learn` says so.

        Args:
            query: what is asked, in any language; any text is allowed, an empty one recalls nothing. The first 512
                distinct words of it are looked up; all of it is embedded, as far as the model reads.
            k: most memories, in [1, 10000]; default `config.selection.k`.
            filters: see `helamem_core.filters`.
            since: only what was said at this time or later (datetime, date or ISO 8601 text; without a zone UTC).
            until: only what was said at this time or earlier; a bare date means its end.
            as_of: as if it were then: nothing said later exists; a bare date means its end.
            kinds: which kinds of memory; there is `episode` only.
            vector: the query's vector by this memory's embedder, which is then not asked.
            cue_completer: instead of the memory's own.
            max_tokens: leave out what `as_context(max_tokens)` would not show.
            learn: `retrieved` reinforces what came back, as the paper literally does, at most the best
                `config.limits.event_ids`.

        Warns:
            EmbeddingPendingWarning: the embedder failed; this recall went by words.
            EmbedderMismatchWarning: the space holds another model's vectors; so does every recall until `reembed`.
        """
        context = self._session.use()
        completer = self._session.completer(cue_completer)
        question = Question(
            query=query,
            k=k,
            filters=filters,
            since=since,
            until=until,
            as_of=as_of,
            kinds=kinds,
            vector=vector,
            completer=completer,
            max_tokens=max_tokens,
            learn=learn,
        )
        return recollecting.recall(context, question)

    def reinforce(
        self,
        ids: References,
        *,
        cue: Recollections | str | None = None,
        event_id: str | None = None,
    ) -> ReinforceReport:
        """Teach that these memories were used together, and what called for them.

        Args:
            ids: the memories used: ids, or what `recall` returned; doubles count once, at most
                `config.limits.event_ids`. None at all changes nothing and is reported as not applied.
            cue: what called for them: what `recall` returned, the id of a remembered turn, or else a text. It is linked
                to the memories, so that a later, similar cue brings them back.
            event_id: applied once within `config.limits.event_retention`; 1 to 512 characters.

        Raises:
            MemoryNotFound: an id is not there; nothing was changed.
            InvalidInput: too many ids, or what another space recalled.
        """
        return recollecting.reinforce(self._session.use(), ids, cue=cue, event_id=event_id)

    def get(self, id: str) -> Episode | None:
        """Return a memory, an archived one too; None if there is none of this id."""
        context = self._session.use()
        found = context.store.present(context.space, [episodes.identifier(id)], context.now())
        return rows.episode(found[id]) if id in found else None

    def list(
        self,
        filters: Mapping[str, Any] | None = None,
        order: Order = "at",
        limit: int | None = None,
        offset: int = 0,
        archived: bool = False,
    ) -> builtins.list[Episode]:
        """Return memories in order, page by page.

        Args:
            filters: see `helamem_core.filters`.
            order: `at`, `recorded_at` or `id`; with `-` before it descending. Equal times are ordered by id.
            limit: most memories, at least 0; None: all.
            offset: how many to leave out at the beginning, at least 0.
            archived: the archived ones instead of the active ones.
        """
        context = self._session.use()
        asked = listing(filters, context.now(), order=order, limit=limit, offset=offset, archived=archived)
        return [rows.episode(node) for node in context.store.select(context.space, asked)]

    def update(
        self,
        id: str,
        *,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | str | Literal["keep"] | None = "keep",
    ) -> Episode:
        """Change what a memory says; its id, place in the conversation and links stay.

        Args:
            id: which.
            text: the new text, indexed and embedded anew; None keeps it.
            metadata: instead of all of the old; None keeps it, {} empties it.
            expires_at: the new time; None: never.

        Raises:
            MemoryNotFound: there is none of this id.

        Warns:
            EmbeddingPendingWarning: the embedder failed; the new text is found by its words until it is embedded.
            EmbedderMismatchWarning: so it is if the space holds another model's vectors.
        """
        context, id = self._session.use(), episodes.identifier(id)
        patch = Patch(
            metadata=None if metadata is None else episodes.metadata(metadata),
            expires_at=_expiry(expires_at),
        )
        if text is not None:
            patch = rewriting.rewritten(context, id, patch, text)
        node = context.store.update(context.space, id, patch, context.now())
        if text is not None:
            self._session.forget_vectors()
            if patch.vector is not None and node.vector is None:
                context.encoder_to_read()  # warns: the space has been given another model since it was last seen
        return rows.episode(node)

    def neighbours(self, id: str) -> builtins.list[Neighbour]:
        """Return the living links of a memory or cue, the strongest first.

        Raises:
            MemoryNotFound: there is none of this id.
        """
        context = self._session.use()
        return context.store.neighbours(context.space, episodes.identifier(id), context.now(), context.config)

    def stats(self) -> Stats:
        """Return counts of the space."""
        context = self._session.use()
        return context.store.stats(context.space, context.now(), context.config)


def _expiry(value: datetime | str | None) -> float | Literal["keep"] | None:
    if value == "keep":
        return "keep"
    return seconds_or_none(value, "expires_at")


def _system_clock() -> datetime:
    return datetime.now(UTC)
