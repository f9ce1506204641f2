"""Vectors that come later: for texts whose embedder failed, and for a whole space under another model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from helamem_core.context import Context, Progress, check_progress, warn
from helamem_core.embedders.encoder import Encoder, Kind
from helamem_core.errors import EmbedderError, EmbedderMismatch, EmbeddingPendingWarning, InvalidInput
from helamem_core.records import Embedded, Pending
from helamem_core.types import EmbedderIdentity, Vector

PATIENCE = 3
"""So many texts in a row may fail by themselves before the embedder is asked whether it works at all."""
_ALL = 2**61
_SHOWN = 5  # ids that a warning names

Fetch = Callable[[int, int], list[Pending]]
"""Returns waiting texts by limit and offset."""


@dataclass(slots=True)
class Round:
    """One batch of texts.

    Attributes:
        tried: how many there were.
        rows: those that got a vector.
        failed: those that did not, alone either; they say nothing about the others unless the embedder is `down`.
        error: why, in the embedder's words.
        down: whether the embedder fails for everything; then the rest of the batch was not tried.
    """

    tried: int
    rows: list[Embedded] = field(default_factory=list)
    failed: list[Pending] = field(default_factory=list)
    error: str | None = None
    down: bool = False


def embed_some(context: Context, encoder: Encoder) -> Round:
    """Give vectors to up to one batch of the texts that wait for one, the oldest first.

    Texts that the embedder has refused before are passed over, so that they never keep others waiting.
    """
    texts = _waiting(context, lambda limit, offset: context.store.pending(context.space, limit, offset))
    found = _encode(context, encoder, texts)
    if found.rows:
        context.store.embed(context.space, encoder.identity, found.rows)
    return found


def embed_pending(context: Context, progress: Progress | None) -> int:
    """See `Memory.embed_pending`."""
    check_progress(progress)
    encoder = _needed(context.encoder)
    if context.encoder_to_write() is None:
        raise EmbedderMismatch(f"space {context.space!r} holds vectors of another model; use `reembed`")
    total = context.store.stats(context.space, context.now(), context.config).unembedded
    done, failed, error = 0, list[Pending](), None
    context.refused.clear()
    while (found := embed_some(context, encoder)).tried:
        done += len(found.rows)
        failed, error = failed + found.failed, found.error or error
        if progress is not None:
            progress(done, max(total, done))
        if found.down:
            raise EmbedderError(f"{done} texts got their vector, then the embedder failed: {found.error}")
    _tell(failed, error)
    return done


def catch_up(context: Context) -> None:
    """Embed what waits, as far as the embedder is willing; what fails waits on."""
    encoder = context.encoder_to_write()
    with suppress(EmbedderMismatch):
        while encoder is not None:
            found = embed_some(context, encoder)
            if found.down or not found.tried:
                return


def reembed(context: Context, encoder: Encoder | None, progress: Progress | None) -> int:
    """Stage vectors of a model for all texts of the space, then swap them in; see `Memory.reembed`."""
    check_progress(progress)
    encoder, store, space = _needed(encoder), context.store, context.space
    stats = store.stats(space, context.now(), context.config)
    total, done = stats.memories + stats.archived + stats.cues, 0
    identity = _identity(encoder) if total else encoder.identity
    failed, error = list[Pending](), None
    context.refused.clear()
    while texts := _waiting(context, lambda limit, offset: store.unstaged(space, identity, limit, offset)):
        found = _encode(context, encoder, texts)
        store.stage(space, identity, found.rows)
        done += len(found.rows)
        failed, error = failed + found.failed, found.error or error
        if progress is not None:
            progress(done, max(total, done))
        if found.down:
            raise _broken_off(done, error)
    if failed and not done and not _staged(context, identity):
        raise _broken_off(done, error)
    _tell(failed, error)
    return store.adopt(space, identity) if total else 0


def _broken_off(done: int, error: str | None) -> EmbedderError:
    return EmbedderError(
        f"the embedder failed after {done} texts: {error}; nothing has changed yet, and the vectors made so far are "
        "kept: `reembed` again goes on from here"
    )


def _staged(context: Context, identity: EmbedderIdentity) -> bool:
    """Return whether any text has a vector of this model: fewer lack one than lack one of a model that nobody has."""
    nobody = EmbedderIdentity("", 0)
    waiting, all_texts = (len(context.store.unstaged(context.space, model, _ALL)) for model in (identity, nobody))
    return waiting < all_texts


def _tell(failed: Sequence[Pending], error: str | None) -> None:
    if failed:
        ids = ", ".join(repr(item.id) for item in failed[:_SHOWN]) + (", ..." if len(failed) > _SHOWN else "")
        warn(
            f"the embedder failed for {len(failed)} texts, found by their words until `embed_pending()` gives them a "
            f"vector: {ids} ({error})",
            EmbeddingPendingWarning,
        )


def _waiting(context: Context, fetch: Fetch) -> list[Pending]:
    """Return the first waiting texts that the embedder has not refused, at most a batch; [] if there are no others."""
    limit, offset = context.config.limits.batch, 0
    while page := fetch(limit, offset):
        fresh = [item for item in page if (item.kind, item.id) not in context.refused]
        if fresh:
            return fresh
        offset += len(page)
    return []


def _identity(encoder: Encoder) -> EmbedderIdentity:
    """Return the model with its dimension, which some know only after they have embedded something."""
    if not encoder.identity.dimension:
        found = encoder.encode(["dimension"], "memory")
        if found.error is not None:
            raise EmbedderError(found.error)
    return encoder.identity


def _encode(context: Context, encoder: Encoder, texts: Sequence[Pending]) -> Round:
    """Embed a batch; what it leaves without a vector is tried text by text, as long as the embedder works at all."""
    done = Round(len(texts))
    for kind in ("episode", "cue"):
        some = [item for item in texts if item.kind == kind]
        if some and not done.down:
            _encode_kind(encoder, some, done)
    if not done.down:
        context.refused.update((item.kind, item.id) for item in done.failed)
    return done


def _encode_kind(encoder: Encoder, texts: Sequence[Pending], done: Round) -> None:
    # A cue is what somebody asked: it is compared with later queries, so it is embedded like one.
    kind: Kind = "memory" if texts[0].kind == "episode" else "query"
    found = encoder.encode([item.text for item in texts], kind)
    done.rows += _rows(texts, found.vectors)
    left = [item for item, vector in zip(texts, found.vectors, strict=True) if vector is None]
    streak = 0
    for item in left:
        alone = encoder.encode([item.text], kind) if len(texts) > 1 else found
        done.rows += _rows([item], alone.vectors)
        if alone.vectors[0] is not None:
            streak = 0
            continue
        done.failed.append(item)
        done.error, streak = alone.error, streak + 1
        if (streak == PATIENCE or item is left[-1]) and not encoder.works():
            done.down = True
            return
        streak %= PATIENCE


def _rows(texts: Sequence[Pending], vectors: Sequence[Vector | None]) -> list[Embedded]:
    pairs = zip(texts, vectors, strict=True)
    return [Embedded(item.kind, item.id, item.text, vector) for item, vector in pairs if vector is not None]


def _needed(encoder: Encoder | None) -> Encoder:
    if encoder is None:
        raise InvalidInput("this memory works by words alone (embedder='words'); open it with an embedder")
    return encoder
