"""The weights of links as they stand, from what they were at their last touch and the clocks of their ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from helamem_core.config import Config, Plasticity
from helamem_core.dynamics import plasticity
from helamem_core.dynamics.plasticity import Reading

Clocks = tuple[str, float, int, int, int, int, int]
"""A link's kind, weight, step and fires of its ends at its last touch, and the fires of its ends now."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Clock(NamedTuple):
    """Readings by link: the space's steps, and how often its two ends fired, together."""

    step: Ints | int
    fires: Ints


def standing(weight: Floats, touched: Clock, now: Clock, fixed: NDArray[np.bool_], config: Config) -> Floats:
    """Return the weights of links as `current` does, from columns; those `fixed` do not decay."""
    # The rules take arrays as they take numbers; `Reading` names only the latter. Only the sum of the fires counts.
    then, at = Reading(touched.step, touched.fires, 0), Reading(now.step, now.fires, 0)  # type: ignore[arg-type]
    faded = cast(Floats, plasticity.elapsed(at, then, config.plasticity))
    return np.where(fixed, weight, plasticity.current(weight, faded, config.plasticity))


def current(links: Sequence[Clocks], steps: int, config: Config) -> list[float]:
    """Return the weights of links now, 0 for dead ones; similarity links do not decay."""
    return _by(plasticity.current, links, steps, config)


def carried(links: Sequence[Clocks], steps: int, config: Config) -> list[float]:
    """Return the weights that links bring into the event that makes the space's steps so many."""
    return _by(plasticity.carried, links, steps, config)


def _by(
    rule: Callable[[Floats, Floats, Plasticity], Floats], links: Sequence[Clocks], steps: int, config: Config
) -> list[float]:
    if not links:
        return []
    kinds, weights, *readings = zip(*links, strict=True)
    step, source, target, source_now, target_now = (np.array(column, dtype=np.int64) for column in readings)
    # The rules take arrays as they take numbers; `Reading` names only the latter.
    now, touched = Reading(steps, source_now, target_now), Reading(step, source, target)  # type: ignore[arg-type]
    faded = cast(Floats, plasticity.elapsed(now, touched, config.plasticity))
    held = np.array(weights, dtype=np.float64)
    fixed = np.array([kind == "SIMILAR" for kind in kinds])
    result: list[float] = np.where(fixed, held, rule(held, faded, config.plasticity)).tolist()
    return result
