"""Times of two ways to do the same, taken in turn, so that a busy moment of the machine meets both."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from helamem_core.evals.report import Value

Argument = TypeVar("Argument")

BLOCKS = 5
"""A run is cut into so many blocks, each with a ratio of its own."""


@dataclass(slots=True)
class Pairs:
    """Seconds of ours and of theirs, pair by pair."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    def add(self, ours: float, theirs: float) -> None:
        """Note a pair."""
        self.ours.append(ours)
        self.theirs.append(theirs)

    def ratios(self) -> list[float]:
        """Return median of ours / median of theirs, for each block of consecutive pairs."""
        blocks = min(BLOCKS, len(self.ours))
        ours, theirs = (np.array_split(times, blocks) for times in (self.ours, self.theirs))
        return [float(np.median(a) / np.median(b)) for a, b in zip(ours, theirs, strict=True)]

    def figures(self, *, inverse: bool = False) -> dict[str, Value]:
        """Return the columns of a row: milliseconds, and the ratio by block.

        Args:
            inverse: give theirs / ours, which is the share of the bare speed that is left.
        """
        ratios = [1 / ratio if inverse else ratio for ratio in self.ratios()]
        return {
            "p50 ms": 1e3 * float(np.median(self.ours)),
            "p95 ms": 1e3 * float(np.quantile(self.ours, 0.95)),
            "bare p50 ms": 1e3 * float(np.median(self.theirs)),
            "bare p95 ms": 1e3 * float(np.quantile(self.theirs, 0.95)),
            "ratio": float(np.median(ratios)),
            "least": min(ratios),
            "most": max(ratios),
        }


def seconds(action: Callable[[Argument], object], argument: Argument) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    action(argument)
    return time.perf_counter() - began


def interleave(rounds: int, ours: Callable[[int], object], theirs: Callable[[int], object], *, warm: int = 0) -> Pairs:
    """Time both in each round, the first one by turns.

    Args:
        rounds: how many pairs.
        ours: called with the number of the round.
        theirs: likewise.
        warm: rounds before that are not counted.
    """
    pairs = Pairs()
    gc.collect()
    for at in range(-warm, rounds):
        first = (ours, theirs) if at % 2 else (theirs, ours)
        times = {way: seconds(way, at) for way in first}
        if at >= 0:
            pairs.add(times[ours], times[theirs])
    return pairs
