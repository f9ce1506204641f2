"""What a retrieval is worth: recall@k, hit@k, and how sure we are of their means."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from helamem_core.errors import InvalidInput

CONFIDENCE = 0.95
"""Share of resamples whose mean lies within an interval."""
SAMPLES = 2_000
"""Resamples drawn for an interval; its ends then move by less than a tenth of its width between seeds."""


class Interval(NamedTuple):
    """A mean with its percentile-bootstrap interval."""

    value: float
    low: float
    high: float


def recall_at(found: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the gold items that are among the first k found, in [0, 1].

    Args:
        found: ids, best first; one that comes twice counts once.
        gold: the ids to be found, at least one.
        k: the cut, at least 1.

    Raises:
        InvalidInput: there is nothing to find, or the cut is below 1.
    """
    _check(gold, k)
    return len(set(found[:k]) & set(gold)) / len(set(gold))


def hit_at(found: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 if any gold item is among the first k found, else 0.

    Session hit@10 is this on the sessions of the found turns and of the evidence.

    Raises:
        InvalidInput: there is nothing to find, or the cut is below 1.
    """
    _check(gold, k)
    return float(not set(found[:k]).isdisjoint(gold))


def bootstrap(values: Sequence[float], *, seed: int = 0) -> Interval:
    """Return the mean of one value a question, and the 95% interval over questions.

    Args:
        values: one a question.
        seed: of the resampling; equal seeds give equal intervals.
    """
    scores = np.asarray(values, dtype=np.float64)
    if not scores.size:
        return Interval(float("nan"), float("nan"), float("nan"))
    means = _resamples(scores.size, seed) @ scores / scores.size
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(scores.mean()), float(low), float(high))


def paired_bootstrap(values: Sequence[float], baseline: Sequence[float], *, seed: int = 0) -> Interval:
    """Return the mean difference to a baseline on the same questions, and its 95% interval.

    The pairs are resampled, so that a question that is hard for both does not widen the interval.

    Raises:
        InvalidInput: the two are not over the same questions.
    """
    if len(values) != len(baseline):
        raise InvalidInput(f"{len(values)} values cannot be paired with {len(baseline)}")
    return bootstrap(np.subtract(values, baseline).tolist(), seed=seed)


@lru_cache(maxsize=8)
def _resamples(size: int, seed: int) -> NDArray[np.float64]:
    """Return how often each question is in each resample, shape (SAMPLES, size)."""
    drawn = np.random.default_rng(seed).integers(0, size, (SAMPLES, size))
    counts = np.zeros((SAMPLES, size))
    np.add.at(counts, (np.arange(SAMPLES)[:, None], drawn), 1)
    return counts


def _check(gold: Collection[str], k: int) -> None:
    if not gold or k < 1:
        raise InvalidInput(f"recall and hit need gold items and a cut of at least 1, not {gold!r} and {k!r}")
