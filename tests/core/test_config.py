"""Settings: each has a range, and one value however it is written."""

from __future__ import annotations

from math import nan

import pytest

from helamem_core.config import DEFAULT, PAPER, Limits, Plasticity, Scoring, Spreading
from helamem_core.errors import InvalidConfig


def test_a_whole_number_is_the_same_setting() -> None:
    """Cypher divides whole numbers without a rest."""
    spreading = Spreading(associated=6, cued=5)
    assert spreading == DEFAULT.spreading
    assert isinstance(spreading.associated, float)
    assert isinstance(spreading.seeds, int)
    assert Spreading(seeds=None).seeds is None
    assert Scoring(time_scale=10_000_000).time_scale == PAPER.scoring.time_scale


@pytest.mark.parametrize("value", [-0.1, 1.5, nan, True, "1", None])
def test_a_number_out_of_range_is_named(value: object) -> None:
    with pytest.raises(InvalidConfig, match=r"Plasticity\.cap is .* must be a number in \[0, 1\]"):
        Plasticity(cap=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, 1.5, 10.0, True, "10"])
def test_a_count_is_a_whole_number(value: object) -> None:
    for settings, name in ((Spreading, "seeds"), (Limits, "max_cues")):
        with pytest.raises(InvalidConfig, match=rf"\.{name} is .* must be a whole number in "):
            settings(**{name: value})  # type: ignore[arg-type]
