"""How `remember` works: batches, one outcome a turn, and after a failure a state that can be resumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from helamem_core import episodes
from helamem_core.context import Context, Progress, check_progress, warn
from helamem_core.embedders.encoder import Encoder, unit, usable
from helamem_core.errors import (
    ContentConflict,
    EmbedderError,
    EmbedderMismatch,
    EmbeddingPendingWarning,
    InvalidInput,
    RememberError,
    StoreError,
)
from helamem_core.records import Node
from helamem_core.reembedding import embed_some
from helamem_core.showing import shown
from helamem_core.times import LATEST
from helamem_core.types import EmbedderIdentity, ItemOutcome, RememberItem, RememberReport, Turn, Vector

Turns = Turn | str | Iterable[Turn | str]
_TICK = 1e-6
_NOTHING = object()


@dataclass(slots=True)
class Entry:
    """One turn on its way into the store."""

    turn: Any
    vector: Any = None
    node: Node | None = None
    outcome: ItemOutcome | None = None
    error: Exception | None = None

    def end(self, outcome: ItemOutcome, error: Exception | None = None) -> None:
        """Settle what became of it."""
        self.outcome, self.error = outcome, error


class Ingestion:
    """One call of `remember`.

    Args:
        context: where to.
        width: length of the vectors that the caller gives; None: the texts are embedded here.
        progress: told after each batch.
    """

    def __init__(self, context: Context, width: int | None, progress: Progress | None) -> None:
        self._context, self._width, self._progress = context, width, progress
        self._items: list[RememberItem] = []
        self._remaining: list[Turn] = []
        self._waiting: set[str] = set()
        self._embedding_error: str | None = None
        self._embedded = False
        self._last = float("-inf")
        self.cause: Exception | None = None
        self.broken: Exception | None = None
        self.pending = False

    def run(self, pairs: Iterator[tuple[Any, Any]], total: int | None) -> RememberReport:
        """Store the turns batch by batch, then some of those that waited for their vectors."""
        while batch := [Entry(turn, vector) for turn, vector in islice(pairs, self._context.config.limits.batch)]:
            self._batch(batch)
            if self._progress is not None:
                self._progress(len(self._items), total)
        if self._embedded and self.broken is None:
            self._drain()
        return RememberReport(tuple(self._items), tuple(self._remaining), len(self._waiting), self._embedding_error)

    def _batch(self, batch: list[Entry]) -> None:
        now = self._context.now()
        for entry in batch:
            self._prepare(entry, now)
        if self.broken is None:
            try:
                self._store(batch, now)
            except Exception as error:
                self.broken = error
        for entry in batch:
            self._report(entry)

    def _prepare(self, entry: Entry, now: float) -> None:
        try:
            if isinstance(entry.turn, str):
                entry.turn = Turn(entry.turn)
            if not isinstance(entry.turn, Turn):
                raise InvalidInput(f"a turn is {shown(entry.turn)}; it must be a `Turn` or text")
            entry.node = episodes.node(entry.turn, now=now, ids=self._context.ids)
        except Exception as error:  # whatever is wrong with this one, or with the id made for it
            entry.end("failed", error)
            return
        if entry.turn.at is None:
            # Turns of one call keep their order in time, also where the clock is coarse.
            # In whole microseconds, as a `datetime` says them: what is remembered again has the same time.
            self._last = entry.node.at = round(min(max(now, self._last + _TICK), LATEST), 6)

    def _store(self, batch: list[Entry], now: float) -> None:
        first: dict[str, Entry] = {}
        again: list[Entry] = []
        for entry in batch:
            if entry.node is not None and first.setdefault(entry.node.id, entry) is not entry:
                again.append(entry)
        self._compare(first.values(), now)
        new = [entry for entry in first.values() if entry.outcome is None]
        self._give_vectors(new)
        new = [entry for entry in new if entry.outcome is None]
        self._write(new, now)
        for entry in again:
            assert entry.node is not None
            origin = first[entry.node.id]
            if origin.outcome == "failed" or origin.node is None:
                entry.end("failed", origin.error)
            else:
                _settle(entry, origin.node)

    def _compare(self, entries: Iterable[Entry], now: float) -> None:
        """Settle the turns that are stored already."""
        named = {
            e.node.id: e for e in entries if e.node is not None and (e.turn.id is not None or e.turn.at is not None)
        }
        held = self._context.store.present(self._context.space, list(named), now) if named else {}
        for id, node in held.items():
            _settle(named[id], node)

    def _give_vectors(self, new: list[Entry]) -> None:
        if not new:
            return
        if self._width is not None:
            self._check_given(new)
        encoder = self._context.encoder_to_write()
        if encoder is None:
            if self._context.encoder is not None:
                self._embedding_error = "the space holds another model's vectors; `reembed` gives it this one's"
            return
        if self._width is None:
            encoded = encoder.encode([entry.node.text for entry in new if entry.node is not None], "memory")
            self._failed(encoded.error)
            vectors: Sequence[Vector | None] = encoded.vectors
        else:
            vectors = [entry.vector for entry in new]
        for entry, vector in zip(new, vectors, strict=True):
            if entry.node is not None:
                entry.node.vector = vector

    def _check_given(self, new: list[Entry]) -> None:
        assert self._width is not None
        if not self._width:
            # Nobody has told the model's dimension yet: the first usable row does.
            self._width = next((len(row) for entry in new if (row := _unit_or_none(entry.vector)) is not None), 0)
        if self._context.encoder is not None and self._width:
            self._context.encoder.assume(self._width)
        try:
            rows: Sequence[Vector | None] = usable([entry.vector for entry in new], len(new), self._width)
        except EmbedderError:
            rows = [None] * len(new)
        for entry, row in zip(new, rows, strict=True):
            try:
                entry.vector = unit(entry.vector, self._width) if row is None else row
            except EmbedderError as error:
                entry.end("failed", InvalidInput(f"its vector cannot be used: {error}"))

    def _write(self, new: list[Entry], now: float) -> None:
        nodes = [entry.node for entry in new if entry.node is not None]
        if not nodes:
            return
        model = None if self._context.encoder is None else self._context.encoder.identity
        try:
            stored = self._put(nodes, model)
        except (StoreError, OSError):
            raise
        except Exception as error:  # of the data, since the engine works: whoever is to blame fails alone
            for entry in new:
                if len(new) > 1:
                    self._write([entry], now)
                else:
                    entry.end("failed", error)
            return
        lost = [node.id for node, kept in zip(nodes, stored, strict=True) if not kept]
        # Somebody else stored the same id between our look and our write.
        held = self._context.store.present(self._context.space, lost, now) if lost else {}
        for entry, node, kept in zip(new, nodes, stored, strict=True):
            if not kept and node.id in held:
                _settle(entry, held[node.id])
                continue
            entry.end("stored")
            self._embedded = self._embedded or node.vector is not None
            if node.vector is None:
                self._waiting.add(node.id)

    def _put(self, nodes: list[Node], model: EmbedderIdentity | None) -> list[bool]:
        context = self._context
        model = model if any(node.vector is not None for node in nodes) else None
        try:
            return context.store.remember(context.space, nodes, embedder=model, config=context.config)
        except EmbedderMismatch:
            # Another process has bound the space to its own model since we looked.
            context.encoder_to_write()
            for node in nodes:
                node.vector = None
            return context.store.remember(context.space, nodes, embedder=None, config=context.config)

    def _report(self, entry: Entry) -> None:
        if entry.outcome is None:
            entry.end("failed", self.broken)
        id = entry.node.id if entry.node is not None else None
        if entry.outcome == "failed":
            self.cause = self.cause or entry.error
            if isinstance(entry.turn, Turn):
                id = id or (entry.turn.id if isinstance(entry.turn.id, str) else None)
                node = entry.node
                self._remaining.append(entry.turn if node is None else episodes.identified(entry.turn, node))
        error = None if entry.error is None else str(entry.error)
        self._items.append(RememberItem(id, entry.outcome or "failed", error))

    def _drain(self) -> None:
        encoder = self._context.encoder_to_write()
        if encoder is None:
            return
        try:
            done = embed_some(self._context, encoder)
        except StoreError as error:
            # What was asked for is stored; what waits will be tried again.
            self._failed(str(error))
            return
        self._waiting -= {row.id for row in done.rows}
        self._failed(done.error)

    def _failed(self, error: str | None) -> None:
        """Note why the embedder failed, if it did."""
        if error is not None:
            self._embedding_error, self.pending = error, True


def remember(
    context: Context, turns: Turns, *, on_error: str, vectors: Any | None, progress: Progress | None
) -> RememberReport:
    """See `Memory.remember`."""
    if on_error not in ("raise", "report"):
        raise InvalidInput(f"on_error is {shown(on_error)}; it must be 'raise' or 'report'")
    check_progress(progress)
    given = _iterable(turns)
    width = None if vectors is None else _width(given, vectors, context.encoder)
    total = len(given) if isinstance(given, Sized) else None
    ingestion = Ingestion(context, width, progress)
    report = ingestion.run(_pairs(given, vectors), total)
    if ingestion.pending:
        warn(
            f"{report.unembedded} turns are stored without a vector, found by their words and queued "
            f"({report.embedding_error}); `embed_pending()` tries again, as does the next `remember`",
            EmbeddingPendingWarning,
        )
    failed = report.count("failed")
    if failed and on_error == "raise":
        # A broken store before a bad turn: whoever resumes must know of it.
        cause = ingestion.broken or ingestion.cause
        raise RememberError(
            f"{failed} of {len(report.items)} turns could not be stored ({cause}); all others are. "
            "`report.remaining` of this error can be given to `remember` again",
            report,
        ) from cause
    return report


def _unit_or_none(vector: Any) -> Vector | None:
    try:
        return unit(vector, 0)
    except EmbedderError:
        return None


def _settle(entry: Entry, held: Node) -> None:
    assert entry.node is not None
    differ = episodes.differences(entry.turn, entry.node, held)
    if differ:
        error = ContentConflict(
            f"id {entry.node.id!r} is stored already with another {', '.join(differ)}; "
            "`update` changes a memory, another id makes a new one"
        )
        entry.end("failed", error)
    else:
        entry.end("unchanged")


def _iterable(turns: Turns) -> Iterable[Any]:
    if isinstance(turns, (Turn, str)):
        return [turns]
    if isinstance(turns, (bytes, Mapping)) or not isinstance(turns, Iterable):
        raise InvalidInput(f"turns is {shown(turns)}; give a `Turn`, a text, or an iterable of these")
    return turns


def _pairs(turns: Iterable[Any], vectors: Any | None) -> Iterator[tuple[Any, Any]]:
    if vectors is None:
        for turn in turns:
            yield turn, None
        return
    for turn, vector in zip_longest(turns, vectors, fillvalue=_NOTHING):
        if turn is _NOTHING or vector is _NOTHING:
            raise InvalidInput("there are not as many vectors as turns; the batches before that are stored")
        yield turn, vector


def _width(turns: Iterable[Any], vectors: Any, encoder: Encoder | None) -> int:
    """Return the length that given vectors must have, after a look at what can be seen before the first is used."""
    if encoder is None:
        raise InvalidInput("vectors need an embedder that names their model; this memory works by words alone")
    if not isinstance(vectors, Iterable) or isinstance(vectors, (str, bytes, Mapping)):
        raise InvalidInput(f"vectors is {shown(vectors)}; give an array, or an iterable of rows")
    width = encoder.identity.dimension
    if isinstance(vectors, np.ndarray):
        rows = vectors.shape[0] if vectors.ndim == 2 else -1
        if rows < 0 or (width and vectors.shape[1] != width):
            raise InvalidInput(f"vectors have the shape {vectors.shape}; they must be (turns, {width or 'dimension'})")
        width = width or vectors.shape[1]
    if isinstance(turns, Sized) and isinstance(vectors, Sized) and len(turns) != len(vectors):
        raise InvalidInput(f"there are {len(vectors)} vectors for {len(turns)} turns")
    return width
