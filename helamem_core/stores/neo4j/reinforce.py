"""Reinforcement: one statement in one transaction, which may safely be tried again."""

from __future__ import annotations

from typing import Any

from helamem_core.config import Config
from helamem_core.dynamics.scoring import DIGITS
from helamem_core.errors import MemoryNotFound
from helamem_core.records import CueRecord, Reinforcement
from helamem_core.stores.neo4j import casts
from helamem_core.stores.neo4j.connection import Transaction
from helamem_core.stores.neo4j.recall import Reach, fading
from helamem_core.types import ReinforceReport


def reinforce(tx: Transaction, space: str, event: Reinforcement, reach: Reach) -> ReinforceReport:
    """Apply one Hebbian event.

    Args:
        tx: the transaction.
        space: whose memories.
        event: what fired.
        reach: how far to look for a cue that is as good as the same.

    Raises:
        MemoryNotFound: an id is not there; nothing was changed.
    """
    turn = event.cue if isinstance(event.cue, str) else None
    needed = list(dict.fromkeys([*event.ids, *([turn] if turn is not None else [])]))
    linked = event.config.plasticity.cue_rate > 0
    cue = event.cue if isinstance(event.cue, CueRecord) and linked else None
    vector = None if cue is None else cue.vector
    rows = tx.run(
        "reinforce.reinforce_by_words" if vector is None else "reinforce.reinforce",
        width=None if vector is None else len(vector),
        space=space,
        q={
            "ids": sorted(event.ids),
            "needed": needed,
            "event": event.event,
            "turn": turn if linked else None,
            "cue": None if cue is None else {"id": cue.id, "text": cue.text},
            "cue_vector": casts.numbers(vector),
            "model": casts.model(event.embedder),
        },
        horizon=event.now - event.config.limits.event_retention,
        now=event.now,
        near=reach.near,
        exact_up_to=reach.exact_up_to,
        everything=False,
        c=_constants(event),
    )
    lost = rows[0]["lost"] if rows else needed
    if lost:
        raise MemoryNotFound(lost, space)
    if not rows:
        return ReinforceReport(applied=True)
    row = rows[0]
    if not row["applied"]:
        return ReinforceReport(applied=False)
    return ReinforceReport(True, row["associated"], row["cued"], row["cue"])


def capping(config: Config) -> dict[str, Any]:
    """Return the numbers that tell which links a memory keeps."""
    return {**fading(config), "max_degree": config.plasticity.max_degree, "digits": DIGITS}


def _constants(event: Reinforcement) -> dict[str, object]:
    plasticity, limits = event.config.plasticity, event.config.limits
    return {
        **capping(event.config),
        "rate": plasticity.rate,
        "cue_rate": plasticity.cue_rate,
        "cap": plasticity.cap,
        "cue_merge": limits.cue_merge,
        "max_cues": limits.max_cues,
    }
