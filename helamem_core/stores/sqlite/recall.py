"""Recall: score all, look closely at the best, spread from the strongest, choose."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import numpy as np

from helamem_core.dynamics import retrieval, spreading
from helamem_core.dynamics.scoring import ranked
from helamem_core.records import Recalled, RecallQuery, Scored
from helamem_core.stores.sqlite import casts, spread
from helamem_core.stores.sqlite.cache import Cache, Seen
from helamem_core.stores.sqlite.columns import Ints
from helamem_core.stores.sqlite.scores import Scores, best, exact, margin, score
from helamem_core.stores.sqlite.spread import Lent
from helamem_core.types import Lift, Why


def recall(db: sqlite3.Connection, cache: Cache, space: str, query: RecallQuery) -> Recalled:
    """Return the best memories for a query, with the reasons."""
    seen = cache.see(db, space)
    if seen is None:
        return Recalled((), 0, None)
    query = query.for_model(seen.here.embedder)
    scores = score(db, seen, query)
    nominated = scores.nominate(query)
    whys = dict(zip(nominated.tolist(), exact(seen.rows, scores, nominated, query), strict=True))
    lent = spread.lent(db, seen, scores, _seeds(seen, whys, query), query)
    late = np.setdiff1d(_contenders(scores, nominated, lent, query), nominated)
    lifts = lent.lifts([*whys, *late.tolist()], query.config)
    whys |= zip(late.tolist(), exact(seen.rows, scores, late, query), strict=True)
    items = _choose(db, seen, scores, whys, lifts, query)
    unembedded = int(np.count_nonzero(scores.visible & ~seen.rows.embedded))
    return Recalled(items, unembedded, seen.here.embedder)


def _contenders(scores: Scores, nominated: Ints, lent: Lent, query: RecallQuery) -> Ints:
    """Return the slots among which the best k by base score and lift must be."""
    slots = np.union1d(nominated, lent.slots)
    final = np.where(scores.competes[slots], scores.base[slots], 0.0)
    final[np.searchsorted(slots, lent.slots)] += lent.total
    return slots[best(final, np.ones(len(slots), dtype=np.bool_), query.k, 2 * margin(query.config))]


def _seeds(seen: Seen, whys: dict[int, Why], query: RecallQuery) -> dict[int, float]:
    """Return the activation of the memories that spread, by slot, the strongest first."""
    settings, ids = query.config.spreading, seen.rows.ids
    content = {slot: why.base - why.decay * why.speaker for slot, why in whys.items()}
    order = sorted(content, key=lambda slot: ranked(content[slot], ids[slot]))[: settings.seeds]
    by_words = query.vector is None
    activations = {slot: float(spreading.strength(content[slot], settings, by_words=by_words)) for slot in order}
    return {slot: activation for slot, activation in activations.items() if activation > 0}


def _choose(
    db: sqlite3.Connection,
    seen: Seen,
    scores: Scores,
    whys: dict[int, Why],
    lifts: dict[int, tuple[Lift, ...]],
    query: RecallQuery,
) -> tuple[Scored, ...]:
    ids = seen.rows.ids
    slots = {ids[slot]: slot for slot in whys}
    base = {id: whys[slot].base for id, slot in slots.items() if scores.competes[slot]}
    lifted = {ids[slot]: sum(lift.amount for lift in found) for slot, found in lifts.items()}
    chosen = retrieval.select(base, lifted, query.k, query.config.selection)
    picked = [slots[item.id] for item in chosen]
    nodes = casts.glimpses(db, seen.here.key, seen.rows.numbers[picked].tolist())
    return tuple(
        Scored(node, item.score, item.path, replace(whys[slot], lifts=lifts[slot]) if slot in lifts else whys[slot])
        for node, item, slot in zip(nodes, chosen, picked, strict=True)
    )
