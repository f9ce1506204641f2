"""How `recall` asks and `reinforce` teaches: from what a caller writes to what a store understands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np

from helamem_core import episodes, filters, owning, text
from helamem_core.context import Context, identity_of, same_model, warn
from helamem_core.embedders.encoder import unit
from helamem_core.errors import EmbedderError, EmbeddingPendingWarning, InvalidInput, MemoryNotFound
from helamem_core.protocols import CueCompleter
from helamem_core.records import CueRecord, RecallQuery, Reinforcement, View
from helamem_core.render import budget, fitting
from helamem_core.showing import shown
from helamem_core.stores import rows
from helamem_core.times import Moment, seconds_or_none
from helamem_core.types import EmbedderIdentity, Recollections, ReinforceReport, Vector

MAX_K = 10_000
MAX_TERMS = 512
"""Most distinct words of a query that are looked up, the first ones; more say nothing about what is asked."""
KINDS = ("episode",)
Model = EmbedderIdentity | None
Owned = tuple[Vector | None, Model]
"""A vector and whose it is; None without one: recall goes by words, a cue waits for its vector."""
NOTHING: Owned = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The arguments of `Memory.recall`."""

    query: str
    k: int | None
    filters: Mapping[str, Any] | None
    since: Moment | None
    until: Moment | None
    as_of: Moment | None
    kinds: str | Iterable[str] | None
    vector: Any | None
    completer: CueCompleter | None
    max_tokens: int | None
    learn: Literal["retrieved"] | None


def recall(context: Context, question: Question) -> Recollections:
    """See `Memory.recall`."""
    if not isinstance(question.query, str):
        raise InvalidInput(f"query is {shown(question.query)}; it must be text")
    _check_kinds(question.kinds)
    if question.learn not in (None, "retrieved"):
        raise InvalidInput(f"learn is {shown(question.learn)}; it must be None or 'retrieved'")
    if question.max_tokens is not None:
        budget(question.max_tokens)
    query = text.clean(question.query)
    k = _k(question.k, context)
    view = _view(context, question)
    terms, keywords = text.index(query, context.config.scoring.max_keywords)
    cue, model = _cue_vector(context, query, question.vector)
    asked = RecallQuery(
        vector=_completed(cue, question.completer) if cue is not None and _comparable(context, question) else None,
        cue=cue,
        terms=tuple(islice(dict.fromkeys(terms), MAX_TERMS)),
        keywords=tuple(keywords),
        k=k,
        view=view,
        config=context.config,
        embedder=model,
    )
    answer = context.store.recall(context.space, asked)
    context.seen(answer.embedder)
    if model != answer.embedder:
        # The space holds another model's vectors than when it was last seen, or none: this was answered by words.
        cue = model = None
    items = [replace(rows.recollection(scored), space=context.space) for scored in answer.items]
    if question.max_tokens is not None:
        items = fitting(items, question.max_tokens)
    found = Recollections(query, tuple(items), cue, answer.unembedded, model, context.space)
    if question.learn is not None and items:
        _learn(context, found)
    return found


def reinforce(
    context: Context,
    references: episodes.References,
    *,
    cue: Recollections | str | None,
    event_id: str | None,
) -> ReinforceReport:
    """See `Memory.reinforce`."""
    ids, most = owning.identifiers(context.space, references), context.config.limits.event_ids
    if len(ids) > most:
        raise InvalidInput(
            f"{len(ids)} memories in one reinforcement, Limits.event_ids is {most}: every pair of them is linked; name "
            "those that were really used, reinforce in several calls, or raise the limit (at most 1000)"
        )
    event = None if event_id is None else episodes.identifier(event_id, "event_id")
    if cue is not None and not isinstance(cue, (str, Recollections)):
        raise InvalidInput(f"cue is {shown(cue)}; give what `recall` returned, a remembered turn's id, or a text")
    owning.owned(context.space, cue, "cue")
    if not ids:
        return ReinforceReport(applied=False)
    now = context.now()
    named, model = (None, None) if cue is None else _cue(context, cue, now)
    happened = Reinforcement(ids=tuple(ids), cue=named, event=event, now=now, config=context.config, embedder=model)
    return context.store.reinforce(context.space, happened)


def _learn(context: Context, found: Recollections) -> None:
    """Reinforce the best of what came back, but for what somebody erased in between."""
    ids = found.ids[: context.config.limits.event_ids]
    try:
        reinforce(context, ids, cue=found, event_id=None)
    except MemoryNotFound as error:
        reinforce(context, [id for id in ids if id not in error.ids], cue=found, event_id=None)


def _check_kinds(kinds: str | Iterable[str] | None) -> None:
    given: Any = [kinds] if kinds is None or isinstance(kinds, str) else kinds
    asked = list(given) if isinstance(given, Iterable) else []
    if not asked or any(kind is not None and kind not in KINDS for kind in asked):
        raise InvalidInput(f"kinds is {shown(kinds)}; it must be None or some of {KINDS}")


def _k(k: Any, context: Context) -> int:
    if k is None:
        return context.config.selection.k
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 1 <= k <= MAX_K:
        raise InvalidInput(f"k is {shown(k)}; it must be a whole number in [1, {MAX_K}]")
    return int(k)


def _view(context: Context, question: Question) -> View:
    return View(
        now=context.now(),
        since=seconds_or_none(question.since, "since"),
        until=seconds_or_none(question.until, "until", end=True),
        as_of=seconds_or_none(question.as_of, "as_of", end=True),
        filter=None if question.filters is None else filters.parse(question.filters),
    )


def _cue_vector(context: Context, query: str, given: Any | None) -> Owned:
    """Return the query's own unit vector and its model, None if this recall must go by words."""
    if given is not None:
        return _given(context, given)
    # A blank text has no meaning that a model could find.
    return _encoded(context, query) if query.strip() else NOTHING


def _given(context: Context, given: Any) -> Owned:
    encoder = context.encoder
    model = context.store.identity(context.space) if encoder is None else encoder.identity
    try:
        vector = unit(given, model.dimension if model is not None else 0)
    except EmbedderError as error:
        raise InvalidInput(f"vector cannot be used: {error}") from error
    if encoder is not None:
        return vector, identity_of(encoder, vector)
    return (vector, model) if model is not None else NOTHING


def _encoded(context: Context, query: str) -> Owned:
    encoder = context.encoder_to_ask()
    if encoder is None:
        return NOTHING
    encoded = encoder.encode([query], "query")
    vector = encoded.vectors[0]
    if vector is None:
        warn(f"the query could not be embedded, recall goes by words: {encoded.error}", EmbeddingPendingWarning)
    return vector, identity_of(encoder, vector)


def _comparable(context: Context, question: Question) -> bool:
    """Return whether the query's own vector means anything; that of a text which the model cannot read is noise."""
    return question.vector is not None or context.encoder is None or context.encoder.reads(text.clean(question.query))


def _completed(cue: Vector | None, completer: CueCompleter | None) -> Vector | None:
    """Return the completed cue, mixed with the raw one by the completer's confidence."""
    if cue is None or completer is None:
        return cue
    try:
        found, confidence = completer.complete(cue)
        share = float(confidence)
        if not 0 <= share <= 1:
            raise ValueError(f"its confidence is {confidence!r}, not in [0, 1]")
        return unit(share * unit(found, len(cue)) + (1 - share) * cue, len(cue))
    except Exception as error:
        warn(f"the cue completer failed, the raw cue is used: {type(error).__name__}: {error}", RuntimeWarning)
        return cue


def _cue(context: Context, cue: Recollections | str, now: float) -> tuple[str | CueRecord | None, Model]:
    """Return what called for the memories, and whose vector it has; None where cues take no part."""
    query = cue.query if isinstance(cue, Recollections) else text.clean(cue)
    if not query.strip():
        raise InvalidInput(f"cue is {query!r}; an empty text calls for nothing")
    if context.config.plasticity.cue_rate <= 0:
        return None, None
    if isinstance(cue, str) and _is_turn(context, cue, now):
        return cue, None
    vector, model = _owned(context, cue) if isinstance(cue, Recollections) else _encoded(context, query)
    return CueRecord(id=episodes.cue_id(query), text=query, vector=vector), model


def _is_turn(context: Context, cue: str, now: float) -> bool:
    named = text.clean(cue) == cue and len(cue) <= episodes.MAX_ID
    return named and bool(context.store.present(context.space, [cue], now))


def _owned(context: Context, cue: Recollections) -> Owned:
    """Return the raw vector of a query that was asked, made anew if this memory has another model now."""
    mine = context.encoder
    if cue.embedder is not None and (mine is None or same_model(cue.embedder, mine.identity)):
        return cue.vector, cue.embedder
    return _encoded(context, cue.query)
