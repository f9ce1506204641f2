"""Spreading activation against examples by hand."""

from __future__ import annotations

import numpy as np
import pytest

from helamem_core.config import DEFAULT, PAPER, Spreading
from helamem_core.dynamics import spreading

GATED = Spreading(
    threshold=0.5,
    excess=True,
    next=0.2,
    associated=0.5,
    similar=0.3,
    cued=5.0,
    cue_threshold=0.6,
    source_fan=0.5,
    target_fan=1.0,
    cue_fan=1.0,
    ceiling=0.5,
)


def test_a_seed_spreads_what_it_has_above_the_threshold() -> None:
    """.9 - .5 = .4; nothing at or below the threshold."""
    assert spreading.strength(0.9, GATED) == pytest.approx(0.4)
    assert spreading.strength(np.array([0.5, 0.3, -1.0]), GATED) == pytest.approx([0, 0, 0])


def test_a_seed_of_the_paper_spreads_all_it_has() -> None:
    assert spreading.strength(0.9, PAPER.spreading) == pytest.approx(0.9)
    assert spreading.strength(PAPER.spreading.threshold, PAPER.spreading) == 0


def test_by_words_alone_another_threshold_holds() -> None:
    """.15 passes .05 by .1, and not .4."""
    assert spreading.strength(0.15, DEFAULT.spreading, by_words=True) == pytest.approx(0.1)
    assert spreading.strength(0.15, DEFAULT.spreading) == 0


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [(0.8, 0.25), (0.7, 0.0625), (1.0, 1.0), (1.0000001, 1.0), (0.6, 0.0), (0.2, 0.0), (-1.0, 0.0)],
)
def test_trace_of_an_earlier_cue(cosine: float, expected: float) -> None:
    """((.8 - .6) / .4)^2 = .25."""
    assert spreading.trace(cosine, GATED) == pytest.approx(expected, abs=1e-6)


def test_lift_over_a_learned_link() -> None:
    """Rate .5, activation .4, weight .8; the seed has 3 such links, its partner 2: .16 / (sqrt(4) * 2) = .04."""
    assert spreading.lift(0.4, 0.8, 3, 2, "ASSOCIATED", GATED) == pytest.approx(0.04)
    assert spreading.lift(0.4, 0.8, 3, 2, "SIMILAR", GATED) == pytest.approx(0.024)


def test_lift_over_the_order_of_turns_is_not_divided() -> None:
    """.2 * .4 * 1 = .08."""
    assert spreading.lift(0.4, 1.0, 9, 9, "NEXT", GATED) == pytest.approx(0.08)


def test_lift_from_a_cue_is_shared_among_its_links() -> None:
    """5 * .25 * .6 / 3 = .25, however many others lead to the memory."""
    assert spreading.lift(0.25, 0.6, 3, 7, "CUED", GATED) == pytest.approx(0.25)


def test_lift_of_the_paper() -> None:
    """alpha .1 * base .9 * weight .5 = .045, whatever the degrees."""
    assert spreading.lift(0.9, 0.5, 50, 50, "ASSOCIATED", PAPER.spreading) == pytest.approx(0.045)
    assert spreading.lift(0.9, 1.0, 1, 1, "NEXT", PAPER.spreading) == 0
    assert spreading.lift(0.9, 1.0, 1, 1, "CUED", PAPER.spreading) == 0


def test_all_lifts_together_stay_under_the_ceiling() -> None:
    """2 in all, .5 allowed: each keeps a quarter."""
    assert spreading.share(2.0, GATED) == pytest.approx(0.25)
    assert spreading.share(0.4, GATED) == 1
    assert spreading.share(0.0, GATED) == 1


def test_arrays_and_numbers_agree() -> None:
    activations, fans = np.linspace(0, 1, 5), np.arange(1.0, 6.0)
    for kind in ("NEXT", "ASSOCIATED", "SIMILAR", "CUED"):
        one_by_one = [
            spreading.lift(float(a), 0.5, float(f), 2.0, kind, GATED) for a, f in zip(activations, fans, strict=True)
        ]
        together = spreading.lift(activations, np.full(5, 0.5), fans, np.full(5, 2.0), kind, GATED)
        assert together == pytest.approx(one_by_one)
