"""Spreading activation: what a strong memory, or an earlier cue like this one, lends over its links.

After HeLa-Mem (arXiv 2604.16839), gated by strength and divided by the fan (Anderson 1974).
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from helamem_core.config import Spreading
from helamem_core.types import LinkKind

Number = TypeVar("Number", float, NDArray[np.float64])


def threshold(settings: Spreading, *, by_words: bool) -> float:
    """Return the content that a seed must pass to spread; recall by words alone has lower scores and its own bound."""
    return settings.words_threshold if by_words else settings.threshold


def strength(content: Number, settings: Spreading, *, by_words: bool = False) -> Number:
    """Return how strongly a seed spreads by its content (base score without speaker): 0 up to the threshold.

    Args:
        content: of the seed.
        settings: the thresholds.
        by_words: whether recall goes by words alone.
    """
    excess = content - threshold(settings, by_words=by_words)
    return (excess > 0) * (excess if settings.excess else content)


def trace(cosine: Number, settings: Spreading) -> Number:
    """Return how much an earlier cue answers to this one, in [0, 1]: ((cos - t) / (1 - t))^2 above the threshold t."""
    excess: Number = np.clip((cosine - settings.cue_threshold) / (1 - settings.cue_threshold), 0.0, 1.0)
    return excess**2


def rate(kind: LinkKind, settings: Spreading) -> float:
    """Return the share of a source's strength that a link of full weight carries."""
    rates = {
        "NEXT": settings.next,
        "ASSOCIATED": settings.associated,
        "SIMILAR": settings.similar,
        "CUED": settings.cued,
    }
    return rates[kind]


def lift(
    activation: Number, weight: Number, fan: Number, competing: Number, kind: LinkKind, settings: Spreading
) -> Number:
    """Return what a link adds to the score of the memory it leads to.

    Args:
        activation: `strength` of the seed, or `trace` of the cue.
        weight: the link's weight now.
        fan: the source's living links of this kind; the order of turns (`NEXT`) is not divided.
        competing: the living links of this kind of the memory it leads to, at least 1.
        kind: the relationship.
        settings: rates and exponents of the fans.
    """
    amount: Number = rate(kind, settings) * activation * weight
    if kind == "NEXT":
        return amount
    among: Number = (1.0 + fan) ** settings.source_fan * competing**settings.target_fan
    among_cued: Number = fan**settings.cue_fan
    return amount / (among_cued if kind == "CUED" else among)


def share(total: float, settings: Spreading) -> float:
    """Return the factor that keeps what a memory's links (but `NEXT`) add together under the ceiling, in (0, 1]."""
    return min(1.0, settings.ceiling / total) if total > 0 else 1.0
