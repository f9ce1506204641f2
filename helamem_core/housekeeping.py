"""The verbs that look after a memory: forgetting, moving, re-embedding, checking."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from helamem_core import episodes, reembedding, transfer
from helamem_core.context import Progress
from helamem_core.episodes import References
from helamem_core.errors import InvalidInput
from helamem_core.lifecycle import Session
from helamem_core.listing import BEFORE_ALL, listing
from helamem_core.owning import identifiers
from helamem_core.protocols import Embedder
from helamem_core.transfer import Place
from helamem_core.types import FadeReport, ForgetReport


class Housekeeping:
    """The part of `Memory` that looks after what is stored.

    Args:
        session: an open space.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def spaces(self) -> list[str]:
        """Return the names of all spaces of the store, sorted."""
        return self._session.use().store.spaces()

    def drop_space(self, name: str) -> ForgetReport:
        """Erase a space of this store with everything in it; an unknown one is a no-op."""
        report = self._session.use().store.drop_space(episodes.space_name(name))
        self._session.forget_vectors()
        return report

    def forget(
        self,
        ids: References | None = None,
        *,
        filters: Mapping[str, Any] | None = None,
        everything: bool = False,
    ) -> ForgetReport:
        """Erase memories with all that belonged to them, for good; exactly one of the three says which.

        Args:
            ids: these; unknown ones are passed over. A cue that is no turn (`cue:...`, see `neighbours`) can be named
                too: it goes with its links, and is counted in the report's `cues`.
            filters: all that match, archived ones too.
            everything: the whole space, with its cues and what it learned.
        """
        context = self._session.use()
        if (ids is not None) + (filters is not None) + bool(everything) != 1:
            raise InvalidInput("say what to forget by one of: ids, `filters=...`, `everything=True`")
        if everything:
            return self.drop_space(context.space)
        named = self._matching(filters) if ids is None else identifiers(context.space, ids)
        report = context.store.forget(context.space, named)
        self._session.forget_vectors()
        return report

    def archive(self, ids: References) -> list[str]:
        """Take memories out of recall, recoverably; return the ids of those that were active.

        Raises:
            MemoryNotFound: an id is not there; nothing was changed.
        """
        context = self._session.use()
        return context.store.archive(context.space, identifiers(context.space, ids), context.now())

    def restore(self, ids: References) -> list[str]:
        """Bring archived memories back, links and all; return the ids of those that were archived.

        Raises:
            MemoryNotFound: an id is not there; nothing was changed.
        """
        context = self._session.use()
        return context.store.restore(context.space, identifiers(context.space, ids))

    def fade(self) -> FadeReport:
        """Erase expired memories, archive weak, old, unused ones, remove dead links and cues that have no others."""
        context = self._session.use()
        report = context.store.fade(context.space, context.now(), context.config)
        if report.expired:
            self._session.forget_vectors()
        return report

    def export(self, path: Place) -> int:
        """Write the space as JSON Lines, vectors and weights too; return how many memories.

        Args:
            path: a path, whose file is replaced when all is written; `-` for standard output; or an open file.

        Raises:
            InvalidInput: the path is a file of the store itself.
            StoreUnavailable: the file cannot be written.
        """
        return transfer.export(self._session.use(), path)

    def import_(self, path: Place) -> int:
        """Fill this empty space from an export, weights and clocks intact; return how many memories.

        Args:
            path: a path, `-` for standard input, or an open file.

        Raises:
            SpaceNotEmpty: the space holds memories.
            InvalidExport: the file is no export, cut off or damaged; nothing was stored.
            StoreUnavailable: the file cannot be read.
        """
        context = self._session.use()
        count = transfer.import_(context, path)
        context.encoder_to_read()
        return count

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the whole store, all spaces, that can be opened by itself.

        Raises:
            InvalidInput: the path exists or is a file of the store, or the engine has no files of its own.
            StoreUnavailable: the path cannot be written.
        """
        transfer.backup(self._session.use(), path)

    def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> int:
        """Give all texts of the space vectors of another model, which this memory uses from then on.

        Recall works by the old vectors until all new ones are there. If it is broken off, `reembed` with the same model
        goes on where it stopped. Neo4j swaps the vectors of a large space page by page: until the last one,
        memories are found by their words.

        Args:
            embedder: the new model; default this memory's own, for a space that holds another one's vectors.
            progress: called after each batch with the texts done and those there are.

        Returns:
            How many memories and cues have new vectors.

        Raises:
            EmbedderError: the embedder failed for everything; the old vectors are still in use.

        Warns:
            EmbeddingPendingWarning: it failed for some texts, which are left without a vector.
        """
        encoder = self._session.encoder(embedder)
        count = reembedding.reembed(self._session.use(), encoder, progress)
        self._session.adopt(encoder)
        # What others remembered meanwhile.
        reembedding.catch_up(self._session.use())
        return count

    def embed_pending(self, *, progress: Progress | None = None) -> int:
        """Embed the texts that wait for their vector; return how many got it.

        One for which the embedder fails keeps no other waiting.

        Raises:
            EmbedderError: it fails for everything, or the space holds another model's vectors (`EmbedderMismatch`).

        Warns:
            EmbeddingPendingWarning: it failed for some texts, which wait on.
        """
        return reembedding.embed_pending(self._session.use(), progress)

    def link_similar(self) -> int:
        """Link near neighbours by similarity; return how many links are new. Again adds none."""
        context = self._session.use()
        return context.store.link_similar(context.space, context.now(), context.config)

    def check(self) -> list[str]:
        """Return what is inconsistent in the store, one sentence each; empty if all is well."""
        return self._session.use().store.check()

    def _matching(self, filters: Mapping[str, Any] | None) -> list[str]:
        """Return the ids of all that match, archived and expired ones too."""
        if not filters:
            raise InvalidInput("`filters` is empty and would match all; say `everything=True` to erase all")
        context = self._session.use()
        found = [
            context.store.select(context.space, listing(filters, BEFORE_ALL, archived=archived))
            for archived in (False, True)
        ]
        return [node.id for nodes in found for node in nodes]
