"""Scoring against examples by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helamem_core.config import DEFAULT, PAPER, Scoring
from helamem_core.dynamics import scoring

WORDS = Scoring(lexical=2.0, lexical_power=1.5, bm25_k1=1.2, bm25_b=0.75)


def test_similarity_of_the_paper_is_half_of_one_plus_cosine() -> None:
    """(.6 + 1) / 2 = .8, (-1 + 1) / 2 = 0."""
    assert scoring.similarity(0.6, PAPER.scoring) == pytest.approx(0.8)
    assert scoring.similarity(-1.0, PAPER.scoring) == pytest.approx(0.0)
    assert scoring.similarity(0.6, Scoring(similarity_scale=2.0, similarity_offset=-0.1)) == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("frequency", "expected"),
    [
        (0, 2.302585),  # ln(1 + 4.5 / .5) = ln 10
        (1, 1.203973),  # ln(1 + 3.5 / 1.5) = ln 3.3333
        (4, 0.105361),  # ln(1 + .5 / 4.5) = ln 1.1111
    ],
)
def test_idf_of_four_memories(frequency: float, expected: float) -> None:
    assert scoring.inverse_document_frequency(frequency, 4) == pytest.approx(expected, abs=1e-6)


def test_bm25_of_one_term() -> None:
    """Twice in 6 terms where 4 are usual: 1.2 * 2 * 2.2 / (2 + 1.2 * (.25 + .75 * 1.5)) = 5.28 / 3.65."""
    assert scoring.bm25(2.0, 6.0, 4.0, 1.2, WORDS) == pytest.approx(5.28 / 3.65)


@given(count=st.integers(1, 1000), length=st.integers(1, 1000), idf=st.floats(0, 20))
def test_bm25_never_reaches_its_ceiling(count: int, length: int, idf: float) -> None:
    assert 0 <= scoring.bm25(float(count), float(length), 7.0, idf, WORDS) <= idf * (WORDS.bm25_k1 + 1)


def test_lexical_strength_is_absolute() -> None:
    """A quarter of the most that the query could score: 2 * .25^1.5 = .25; all of it is the weight."""
    assert scoring.lexical(1.0, 4.0, WORDS) == pytest.approx(0.25)
    assert scoring.lexical(4.0, 4.0, WORDS) == pytest.approx(2.0)
    assert scoring.lexical(0.0, 4.0, WORDS) == 0
    assert scoring.lexical(0.0, 0.0, WORDS) == 0


def test_overlap_is_the_share_of_what_is_asked() -> None:
    assert scoring.overlap(("a", "b", "c"), {"a", "c", "x"}) == pytest.approx(2 / 3)
    assert scoring.overlap((), {"a"}) == 0


def test_time_of_the_paper() -> None:
    """exp(-1) after 1e7 seconds, exp(-.5) after half of them; the future is no better than now."""
    ages = np.array([1e7, 5e6, 0.0, -1e7])
    assert scoring.time_decay(ages, PAPER.scoring) == pytest.approx([0.367879, 0.606531, 1, 1], abs=1e-6)
    assert scoring.time_decay(1e7, PAPER.scoring) == pytest.approx(0.367879, abs=1e-6)


def test_without_a_time_scale_age_is_nothing() -> None:
    assert scoring.time_decay(1e9, Scoring(time_scale=None)) == 1
    assert scoring.time_decay(np.array([0.0, 1e9]), Scoring(time_scale=None)) == pytest.approx([1, 1])


def test_ranking_compares_rounded_scores_then_ids() -> None:
    scores = {"b": 0.500001, "a": 0.5, "d": 0.50001, "c": 0.4}
    assert sorted(scores, key=lambda key: scoring.ranked(scores[key], key)) == ["d", "a", "b", "c"]


def test_arrays_and_numbers_agree() -> None:
    cosines, counts = np.linspace(-1, 1, 9), np.arange(1.0, 10.0)
    for settings in (DEFAULT.scoring, PAPER.scoring):
        alike = [scoring.similarity(float(cosine), settings) for cosine in cosines]
        assert scoring.similarity(cosines, settings) == pytest.approx(alike)
        found = [scoring.bm25(float(count), 9.0, 5.0, 1.5, settings) for count in counts]
        assert scoring.bm25(counts, np.full(9, 9.0), 5.0, np.full(9, 1.5), settings) == pytest.approx(found)
        strong = [scoring.lexical(float(count), 20.0, settings) for count in counts]
        assert scoring.lexical(counts, 20.0, settings) == pytest.approx(strong)
