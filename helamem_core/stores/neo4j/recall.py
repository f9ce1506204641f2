"""Recall: one statement scores, spreads and nominates; a second, wider one only where filters left too little."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from helamem_core.config import Config
from helamem_core.dynamics import retrieval
from helamem_core.dynamics.scoring import DIGITS, ranked
from helamem_core.records import Recalled, RecallQuery, Scored, View
from helamem_core.stores.neo4j import casts
from helamem_core.stores.neo4j.connection import Transaction
from helamem_core.stores.neo4j.facets import program
from helamem_core.types import Lift, Why

log = logging.getLogger("helamem_core.neo4j")
_ALL_SEEDS = 1_000_000_000
_WIDER: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = (
    lambda asked: {"near": 16 * asked["near"], "worded": 16 * asked["worded"]},
    lambda asked: {"everything": True},
)
"""How a recall is asked again whose filters, or neighbours in an index shared with other spaces, left too little."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a recall looks.

    Attributes:
        near: least number of memories that the vector index nominates; `k` if that is more.
        worded: least number that the full-text index nominates; five times `k` if that is more.
        exact_up_to: spaces of at most so many memories are looked at as a whole.
    """

    near: int
    worded: int
    exact_up_to: int


def recall(tx: Transaction, space: str, query: RecallQuery, reach: Reach, width: int | None) -> Recalled:
    """Return the best memories for a query, with the reasons.

    Args:
        tx: the transaction.
        space: whose memories.
        query: the question.
        reach: how far to look.
        width: of the query's vectors; None where it has none, or none of their width are in an index.
    """
    asked = parameters(space, query, reach)
    name = "recall.recall_by_words" if width is None else "recall.recall"
    rows = tx.run(name, width=width, **asked)
    for wider in _WIDER:
        if not rows or not rows[0]["short"]:
            break
        log.debug("recall in %r found too little, looks wider", space)
        rows = tx.run(name, width=width, **asked | wider(asked))
    return _recalled(rows[0], query) if rows else Recalled((), 0, None)


def parameters(space: str, query: RecallQuery, reach: Reach) -> dict[str, Any]:
    """Return the parameters of the statement."""
    one = query.vector is not None and query.cue is not None and np.array_equal(query.vector, query.cue)
    return {
        "space": space,
        "q": {
            "model": casts.model(query.embedder),
            "vector": casts.numbers(query.vector),
            "cue": None if one else casts.numbers(query.cue),
            "asks_as_it_is": one,
            "terms": list(query.terms),
            "digests": [casts.digest(space, term) for term in query.terms],
            "keywords": list(query.keywords),
        },
        "k": query.k,
        "near": max(reach.near, query.k),
        "worded": max(reach.worded, 5 * query.k),
        "exact_up_to": reach.exact_up_to,
        "everything": query.config.spreading.seeds is None,  # no index tells which memories are no seeds
        "asked_at": query.view.now if query.view.as_of is None else query.view.as_of,
        "c": constants(query.config),
        **seen(query.view),
    }


def seen(view: View) -> dict[str, Any]:
    """Return the parameters of a view; bounds that are not there are infinite."""
    as_of = inf if view.as_of is None else view.as_of
    return {
        "now": view.now,
        "since": -inf if view.since is None else view.since,
        "until": as_of if view.until is None else min(view.until, as_of),
        "as_of": as_of,
        "filter": program(view.filter),
    }


def constants(config: Config) -> dict[str, Any]:
    """Return the numbers that the formulas of a recall need."""
    scoring, spreading = config.scoring, config.spreading
    return {
        **{name: getattr(scoring, name) for name in scoring.__dataclass_fields__},
        **{name: getattr(spreading, name) for name in spreading.__dataclass_fields__},
        **fading(config),
        "digits": DIGITS,
        "seeds": _ALL_SEEDS if spreading.seeds is None else spreading.seeds,
    }


def fading(config: Config) -> dict[str, Any]:
    """Return the numbers that the weight of a link needs."""
    plasticity = config.plasticity
    return {"clock": plasticity.clock, "decay": plasticity.decay, "floor": plasticity.floor}


def _recalled(row: Mapping[str, Any], query: RecallQuery) -> Recalled:
    items = {item["node"]["id"]: item for item in row["items"]}
    base = {id: item["why"]["base"] for id, item in items.items() if item["why"]["competes"]}
    lifted = {id: item["lift"] for id, item in items.items() if item["lifts"]}
    chosen = retrieval.select(base, lifted, query.k, query.config.selection)
    scored = tuple(
        Scored(casts.node(items[each.id]["node"]), each.score, each.path, _why(items[each.id])) for each in chosen
    )
    return Recalled(scored, row["unembedded"], casts.embedder(row))


def _why(item: Mapping[str, Any]) -> Why:
    parts = {name: value for name, value in item["why"].items() if name not in ("competes", "content")}
    lifts = [Lift(**lift) for lift in item["lifts"]]
    return Why(**parts, lifts=tuple(sorted(lifts, key=lambda lift: (*ranked(lift.amount, lift.kind), lift.source))))
