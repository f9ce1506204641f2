"""Hebbian learning with exact lazy decay.

The rule of HeLa-Mem (arXiv 2604.16839) at every step t is `w <- (1 - lambda) w + eta [i and j both fire]`,
capped and pruned. A link stores its weight and the clock readings at its last touch, so the rule costs O(pairs
that fire), not O(links): its weight now is `w (1 - lambda)^elapsed`, and 0 once that is below the floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from helamem_core.config import Plasticity
from helamem_core.dynamics.scoring import ranked

Number = TypeVar("Number", float, NDArray[np.float64])


class Reading(NamedTuple):
    """Clock readings of a link: the space's steps, and the fires of its two ends."""

    step: int
    source_fires: int
    target_fires: int


def elapsed(now: Reading, touched: Reading, settings: Plasticity) -> int:
    """Return how often a link has faded since its last touch.

    Under `steps` that is every reinforcement of the space; under `fires` every time one end fired without the
    other (when both fire in one event the link is touched, so any later fire of an end is such a time).
    """
    if settings.clock == "steps":
        return now.step - touched.step
    return (now.source_fires - touched.source_fires) + (now.target_fires - touched.target_fires)


def current(weight: Number, faded: Number, settings: Plasticity) -> Number:
    """Return a link's weight after it has faded `faded` times; 0 once it is below the floor."""
    decayed: Number = weight * (1 - settings.decay) ** faded
    return (decayed >= settings.floor) * decayed


def carried(weight: Number, faded: Number, settings: Plasticity) -> Number:
    """Return the weight that a link brings into an event in which its ends fire together.

    Under `steps` the event itself is one of the `faded` times, and the rule prunes after it has strengthened: a
    link that was alive before lives on, however little was left of it. Under `fires` this is `current`.
    """
    before = faded - 1 if settings.clock == "steps" else faded
    living = current(weight, before, settings) > 0
    carried: Number = living * weight * (1 - settings.decay) ** faded
    return carried


def strengthened(weight: Number, rate: float, settings: Plasticity) -> Number:
    """Return a link's weight after its ends fired together.

    Args:
        weight: what it brings, by `carried`; 0 for a new link.
        rate: eta.
        settings: the cap.
    """
    capped: Number = np.minimum(weight + rate, settings.cap)
    return capped


def pairs(ids: Iterable[str]) -> list[tuple[str, str]]:
    """Return every unordered pair of distinct ids once, each with the smaller id first, in order."""
    return list(combinations(sorted(set(ids)), 2))


def over_degree(links: Sequence[tuple[float, str]], settings: Plasticity) -> list[int]:
    """Return the positions of the links that one node cannot keep: the weakest beyond its largest degree.

    A link goes if it is one of these at either of its ends; both ends are judged before any link goes.

    Args:
        links: (weight now, id of the other end).
        settings: the largest degree.
    """
    order = sorted(range(len(links)), key=lambda at: ranked(*links[at]))
    return order[settings.max_degree :]
