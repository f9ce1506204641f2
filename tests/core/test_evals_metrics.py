"""Metrics and baselines against examples worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helamem_core.errors import InvalidInput
from helamem_core.evals import baselines
from helamem_core.evals.metrics import bootstrap, hit_at, paired_bootstrap, recall_at


@pytest.mark.parametrize(
    ("k", "recall", "hit"),
    [(1, 0.0, 0.0), (2, 1 / 3, 1.0), (4, 2 / 3, 1.0), (10, 2 / 3, 1.0)],
)
def test_recall_is_the_share_of_gold_within_the_cut(k: int, recall: float, hit: float) -> None:
    found = ["x", "a", "y", "b"]
    assert recall_at(found, ["a", "b", "c"], k) == pytest.approx(recall)
    assert hit_at(found, ["a", "b", "c"], k) == hit


def test_an_id_found_twice_counts_once() -> None:
    assert recall_at(["a", "a", "b"], ["a", "b"], 2) == 0.5
    assert recall_at(["a"], ["a", "a"], 1) == 1.0


def test_session_hit_looks_at_the_sessions_of_the_first_turns() -> None:
    session = {"t1": "s1", "t2": "s1", "t3": "s2", "t4": "s3"}
    found = [session[turn] for turn in ("t1", "t2", "t3")]
    assert hit_at(found, {session["t4"]}, 3) == 0.0
    assert hit_at(found, {session["t3"], session["t4"]}, 3) == 1.0
    assert hit_at(found, {session["t3"]}, 2) == 0.0


@pytest.mark.parametrize(("gold", "k"), [([], 5), (["a"], 0)])
def test_nothing_to_find_is_an_error(gold: list[str], k: int) -> None:
    with pytest.raises(InvalidInput):
        recall_at(["a"], gold, k)
    with pytest.raises(InvalidInput):
        hit_at(["a"], gold, k)


def test_an_interval_without_spread_is_a_point() -> None:
    assert bootstrap([0.5] * 20) == pytest.approx((0.5, 0.5, 0.5))


def test_an_interval_is_that_of_the_mean() -> None:
    """Of 400 values, half 0 and half 1, the mean's standard error is .025: 1.96 of them is .049."""
    found = bootstrap([0.0, 1.0] * 200, seed=3)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.451, abs=0.01)
    assert found.high == pytest.approx(0.549, abs=0.01)
    assert found == bootstrap([0.0, 1.0] * 200, seed=3)
    assert found != bootstrap([0.0, 1.0] * 200, seed=4)


def test_pairs_are_resampled_together() -> None:
    """A method that is better by .1 on every question is better by .1 without doubt, however hard they are."""
    hard = [0.0, 0.2, 0.9, 0.4] * 10
    gain = paired_bootstrap([value + 0.1 for value in hard], hard)
    assert gain == pytest.approx((0.1, 0.1, 0.1))
    with pytest.raises(InvalidInput):
        paired_bootstrap([1.0], [1.0, 0.0])


def test_no_values_have_no_mean() -> None:
    assert all(math.isnan(part) for part in bootstrap([]))


def test_the_order_keeps_ties_as_given() -> None:
    assert baselines.best(np.array([0.1, 0.9, 0.1, 0.9])) == [1, 3, 0, 2]


def test_cosine_of_unit_vectors() -> None:
    matrix = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
    assert baselines.cosine(matrix, np.array([0, 1], dtype=np.float32)) == pytest.approx([0, 0.8, 1])


def test_length_prior_adds_a_tenth_of_the_log_of_words() -> None:
    found = baselines.length_prior(np.array([0.5, 0.5]), ["one two three", ""])
    assert found == pytest.approx([0.5 + 0.1 * math.log(4), 0.5])


def test_fusion_adds_reciprocal_ranks() -> None:
    found = baselines.fuse(np.array([3.0, 2.0, 1.0]), np.array([1.0, 3.0, 2.0]))
    assert found == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62])


def test_bm25_by_hand() -> None:
    """Three texts of 2, 1 and 3 terms; `cat` is in two of them, once and twice; k1 1.5, b .75."""
    words = baselines.Bm25(["the cats sleep", "dogs", "cat and cat, running"])
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def share(times: int, length: int) -> float:
        return idf * times * 2.5 / (times + 1.5 * (0.25 + 0.75 * length / 2))

    assert words.scores("Where is the CAT?") == pytest.approx([share(1, 2), 0, share(2, 3)])
    assert words.scores("and the") == pytest.approx([0, 0, 0])
