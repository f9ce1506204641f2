"""Dual-path selection: the best by base score, and the few that spreading lifted among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from helamem_core.config import Selection
from helamem_core.dynamics.scoring import ranked
from helamem_core.types import Path


class Chosen(NamedTuple):
    """A memory that comes back."""

    id: str
    score: float
    path: Path


def select(base: Mapping[str, float], lifted: Mapping[str, float], k: int, settings: Selection) -> list[Chosen]:
    """Choose what comes back, best first.

    With `flips_extra` (paper) the k best by base keep their order, and up to `flips` that only spreading
    brought into the top k follow; else at most k come back by final score, at most `flips` of them by
    spreading alone.

    Args:
        base: base score of every memory that competes by itself.
        lifted: what spreading adds, by id; may name memories that `base` lacks.
        k: how many are asked for.
        settings: the bounds.
    """
    final = {key: base.get(key, 0.0) + lifted.get(key, 0.0) for key in base.keys() | lifted.keys()}
    semantic = sorted(base, key=lambda key: ranked(base[key], key))[:k]
    top = sorted(final, key=lambda key: ranked(final[key], key))[:k]
    flipped = [key for key in top if key not in set(semantic)][: settings.flips]
    if settings.flips_extra:
        return [Chosen(key, final[key], "semantic") for key in semantic] + [
            Chosen(key, final[key], "associative") for key in flipped
        ]
    best = sorted(semantic, key=lambda key: ranked(final[key], key))[: k - len(flipped)]
    chosen = [Chosen(key, final[key], "semantic") for key in best]
    chosen += [Chosen(key, final[key], "associative") for key in flipped]
    return sorted(chosen, key=lambda item: ranked(item.score, item.id))
