"""Selection, linking and forgetting against examples by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helamem_core.config import DAY, Forgetting, Linking, Selection
from helamem_core.dynamics import forgetting, linking, retrieval
from helamem_core.dynamics.scoring import ranked

BASE = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.1}
LIFTED = {"c": 0.2, "d": 0.75, "e": 0.05}
"""In the end: a .9, c .9, d .85, b .8, e .05."""


def chosen(k: int, **settings: object) -> list[tuple[str, float, str]]:
    found = retrieval.select(BASE, LIFTED, k, Selection(**settings))  # type: ignore[arg-type]
    return [(item.id, round(item.score, 9), item.path) for item in found]


def test_flips_compete_within_k() -> None:
    """Of the two best by base, the better stays; c enters by its links."""
    assert chosen(2, flips=5) == [("a", 0.9, "semantic"), ("c", 0.9, "associative")]
    assert chosen(3, flips=5) == [("a", 0.9, "semantic"), ("c", 0.9, "semantic"), ("d", 0.85, "associative")]


def test_flips_are_bounded() -> None:
    assert chosen(2, flips=0) == [("a", 0.9, "semantic"), ("b", 0.8, "semantic")]
    ordered = chosen(5, flips=5)
    assert [id for id, _, _ in ordered] == ["a", "c", "d", "b", "e"]
    assert ordered[-1] == ("e", 0.05, "associative")
    assert [id for id, _, _ in chosen(5, flips=0)] == ["a", "c", "d", "b"]


def test_flips_of_the_paper_follow_the_k() -> None:
    """The k best by base keep their order, with their final scores."""
    assert chosen(2, flips=5, flips_extra=True) == [
        ("a", 0.9, "semantic"),
        ("b", 0.8, "semantic"),
        ("c", 0.9, "associative"),
    ]
    assert [id for id, _, _ in chosen(3, flips=5, flips_extra=True)] == ["a", "b", "c", "d"]


scores = st.dictionaries(st.sampled_from("abcdefghij"), st.sampled_from([0.0, 0.1, 0.1000001, 0.3, 0.5, 0.9]))


@given(base=scores, lifted=scores, k=st.integers(1, 12), flips=st.integers(0, 5), extra=st.booleans())
def test_selection_keeps_its_bounds(
    base: dict[str, float], lifted: dict[str, float], k: int, flips: int, extra: bool
) -> None:
    items = retrieval.select(base, lifted, k, Selection(flips=flips, flips_extra=extra))
    by_links = [item for item in items if item.path == "associative"]
    assert len({item.id for item in items}) == len(items) <= k + flips * extra
    assert len(by_links) <= flips
    best = sorted(base, key=lambda key: ranked(base[key], key))[:k]
    assert not {item.id for item in by_links} & set(best)
    assert {item.id for item in items if item.path == "semantic"} <= set(best)
    if not extra:
        assert items == sorted(items, key=lambda item: ranked(item.score, item.id))
    if not lifted:
        assert [item.id for item in items] == best


def test_near_neighbours_propose_links() -> None:
    """Above .5, the two nearest: .3 * .9 = .27; equal cosines by id."""
    cosines = {"d": 0.9, "c": 0.8, "b": 0.8, "a": 0.5}
    found = linking.proposals(cosines, Linking(neighbours=2, threshold=0.5, scale=0.3))
    assert [id for id, _ in found] == ["d", "b"]
    assert [weight for _, weight in found] == pytest.approx([0.27, 0.24])
    assert linking.proposals({"a": 0.5}, Linking(threshold=0.5)) == []


@pytest.mark.parametrize(
    ("strongest", "uses", "age", "fades"),
    [
        (0.05, 0, 31 * DAY, True),
        (0.1, 0, 31 * DAY, False),
        (0.05, 1, 31 * DAY, False),
        (0.05, 0, 30 * DAY, False),
        (0.0, 0, 31 * DAY, True),
    ],
)
def test_weak_unused_and_old_memories_fade(strongest: float, uses: int, age: float, fades: bool) -> None:
    assert forgetting.fades(strongest, uses, age, Forgetting(weak=0.1, age=30 * DAY)) is fades
