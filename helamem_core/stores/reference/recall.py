"""How the reference store recalls: the score of every memory, one at a time, straight from `dynamics`."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from helamem_core.config import Config
from helamem_core.dynamics import retrieval, scoring, spreading
from helamem_core.dynamics.scoring import ranked
from helamem_core.records import Node, Recalled, RecallQuery, Scored, View
from helamem_core.stores.reference.space import Space, cosine, snapshot, visible
from helamem_core.types import Lift, LinkKind, Why

UNDIRECTED: tuple[LinkKind, ...] = ("ASSOCIATED", "SIMILAR")


class Words(NamedTuple):
    """BM25 statistics of a space for one query: all active memories count, whatever the view."""

    idf: dict[str, float]
    mean_length: float
    ceiling: float


def recall(here: Space, query: RecallQuery) -> Recalled:
    """Score every memory of the view, spread, and choose."""
    query = query.for_model(here.embedder)
    seen = {node.id: node for node in here.nodes.values() if visible(node, query.view)}
    words = _words(here, query)
    whys = {id: _base(node, words, query) for id, node in seen.items()}
    competing = {id: why for id, why in whys.items() if _competes(seen[id], query, why.lexical + why.keywords)}
    lifts = _bounded(_spread(here, seen, competing, query), query.config)
    lifted = {id: sum(lift.amount for lift in found) for id, found in lifts.items()}
    base = {id: why.base for id, why in competing.items()}
    items = tuple(
        Scored(
            snapshot(seen[chosen.id]),
            chosen.score,
            chosen.path,
            replace(whys[chosen.id], lifts=lifts.get(chosen.id, ())),
        )
        for chosen in retrieval.select(base, lifted, query.k, query.config.selection)
    )
    return Recalled(items, sum(node.vector is None for node in seen.values()), here.embedder)


def _words(here: Space, query: RecallQuery) -> Words:
    active = [node for node in here.nodes.values() if node.archived_at is None]
    lengths = [sum(node.terms.values()) for node in active]
    idf = {
        term: float(scoring.inverse_document_frequency(sum(term in node.terms for node in active), len(active)))
        for term in query.terms
    }
    ceiling = sum(idf.values()) * (query.config.scoring.bm25_k1 + 1)
    return Words(idf, sum(lengths) / len(lengths) if sum(lengths) else 1.0, ceiling)


def _base(node: Node, words: Words, query: RecallQuery) -> Why:
    settings = query.config.scoring
    similarity = 0.0
    if query.vector is not None and node.vector is not None:
        similarity = scoring.similarity(cosine(query.vector, node.vector), settings)
    length = sum(node.terms.values())
    score = sum(
        float(scoring.bm25(node.terms[term], length, words.mean_length, idf, settings))
        for term, idf in words.idf.items()
        if term in node.terms
    )
    lexical = scoring.lexical(score, words.ceiling, settings)
    keywords = settings.keywords * scoring.overlap(query.keywords, node.keywords)
    named = scoring.overlap(node.speaker_terms, query.terms)
    speaker = settings.speaker * named if _competes(node, query, lexical + keywords) else 0.0
    age = (query.view.now if query.view.as_of is None else query.view.as_of) - node.at
    decay = float(scoring.time_decay(age, settings))
    return Why(similarity, lexical, keywords, speaker, decay, decay * (similarity + lexical + keywords + speaker))


def _competes(node: Node, query: RecallQuery, words: float) -> bool:
    """A memory competes by itself if it can be compared by meaning, or shares a word; its speaker is no reason."""
    return (query.vector is not None and node.vector is not None) or words > 0


def _spread(here: Space, seen: dict[str, Node], whys: dict[str, Why], query: RecallQuery) -> dict[str, list[Lift]]:
    """Return the lifts of each memory from the seeds over every kind of link, and from earlier cues."""
    settings = query.config.spreading
    lifts: dict[str, list[Lift]] = {}
    content = {id: why.base - why.decay * why.speaker for id, why in whys.items()}
    for seed in sorted(content, key=lambda id: ranked(content[id], id))[: settings.seeds]:
        activation = float(spreading.strength(content[seed], settings, by_words=query.vector is None))
        for other in (seen[seed].previous, here.successor(seed)):
            if other in seen:
                _add(lifts, other, activation, (1, 1), Lift("NEXT", seed, 1.0, 0.0), query.config)
        for kind in UNDIRECTED:
            links = here.living(seed, kind, query.config)
            for weight, other, _ in links:
                if other in seen:
                    fans = (len(links), len(here.living(other, kind, query.config)))
                    _add(lifts, other, activation, fans, Lift(kind, seed, weight, 0.0), query.config)
    for cue, activation in _cues(here, query):
        links = here.living(cue, "CUED", query.config)
        for weight, other, _ in links:
            if other in seen:
                _add(lifts, other, activation, (len(links), 1), Lift("CUED", cue, weight, 0.0), query.config)
    return lifts


def _add(
    lifts: dict[str, list[Lift]], id: str, activation: float, fans: tuple[int, int], lift: Lift, config: Config
) -> None:
    amount = float(spreading.lift(activation, lift.weight, *fans, lift.kind, config.spreading))
    if amount > 0:
        lifts.setdefault(id, []).append(replace(lift, amount=amount))


def _bounded(lifts: dict[str, list[Lift]], config: Config) -> dict[str, tuple[Lift, ...]]:
    """Return the lifts, the strongest first, those of learned and similarity links scaled to the ceiling."""
    bounded = {}
    for id, found in lifts.items():
        share = spreading.share(sum(lift.amount for lift in found if lift.kind != "NEXT"), config.spreading)
        scaled = [lift if lift.kind == "NEXT" else replace(lift, amount=lift.amount * share) for lift in found]
        bounded[id] = tuple(sorted(scaled, key=lambda lift: (*ranked(lift.amount, lift.kind), lift.source)))
    return bounded


def _cues(here: Space, query: RecallQuery) -> list[tuple[str, float]]:
    """Return the earlier cues most like this one, turns that served as cues among them, with their activation."""
    settings = query.config.spreading
    if query.cue is None:
        return []
    near: dict[str, float] = {}
    for id in {link.source for link in here.links.values() if link.kind == "CUED"}:
        node = here.nodes.get(id)
        vector = here.cues[id].vector if node is None else node.vector
        asks = node is None or visible(node, View(now=query.view.now, as_of=query.view.as_of))
        if vector is not None and asks and here.living(id, "CUED", query.config):
            near[id] = cosine(vector, query.cue)
    best = sorted(near, key=lambda id: ranked(near[id], id))[: settings.cues]
    return [(id, float(spreading.trace(near[id], settings))) for id in best]
