"""Hebbian learning against examples by hand, and the lazy rule against the paper's own, step by step."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helamem_core.config import DEFAULT, PAPER, Config, Plasticity
from helamem_core.dynamics import plasticity
from helamem_core.dynamics.plasticity import Reading
from helamem_core.errors import InvalidConfig
from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.fakes import NOW, Room, node

FIRES = Plasticity(clock="fires", rate=0.1, decay=0.1, floor=0.01, cap=0.5)
STEPS = replace(FIRES, clock="steps")


def test_what_elapses() -> None:
    """Seven steps went by; the ends fired 2 and 3 times without each other."""
    touched, now = Reading(10, 4, 1), Reading(17, 6, 4)
    assert plasticity.elapsed(now, touched, STEPS) == 7
    assert plasticity.elapsed(now, touched, FIRES) == 5


def test_weight_now() -> None:
    """.4 * .9^2 = .324; .02 * .9^6 = .0106 lives, .02 * .9^7 = .0096 is below .01 and dead."""
    assert plasticity.current(0.4, 2, FIRES) == pytest.approx(0.324)
    assert plasticity.current(np.array([0.02, 0.02]), np.array([6, 7]), FIRES) == pytest.approx([0.02 * 0.9**6, 0])


def test_strengthening_ends_at_the_cap() -> None:
    assert plasticity.strengthened(0.324, 0.1, FIRES) == pytest.approx(0.424)
    assert plasticity.strengthened(0.424, 0.1, FIRES) == pytest.approx(0.5)


def test_what_a_link_brings_into_its_own_event() -> None:
    """By steps the event fades it once more, but only what was dead before it is dead: .0106 * .9, not 0."""
    assert plasticity.carried(0.02, 7, STEPS) == pytest.approx(0.02 * 0.9**7)
    assert plasticity.carried(0.02, 8, STEPS) == 0
    assert plasticity.carried(0.02, 6, FIRES) == pytest.approx(0.02 * 0.9**6)
    assert plasticity.carried(0.02, 7, FIRES) == 0
    assert plasticity.carried(0.0, 1, STEPS) == 0


def test_pairs_are_unordered_and_distinct() -> None:
    assert plasticity.pairs(["b", "a", "c", "a"]) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert plasticity.pairs(["a"]) == plasticity.pairs([]) == []


def test_the_weakest_links_go() -> None:
    """Of equal ones (to six decimals) the last by id."""
    links = [(0.2, "z"), (0.5, "b"), (0.2000001, "a"), (0.1, "c")]
    assert plasticity.over_degree(links, replace(FIRES, max_degree=2)) == [0, 3]
    assert plasticity.over_degree(links, replace(FIRES, max_degree=4)) == []


def test_rates_that_die_at_once_are_refused() -> None:
    """.01 * .995 < .01: with the reference code's bound every new link of the paper would be gone one step later."""
    with pytest.raises(InvalidConfig, match="die one step later"):
        replace(PAPER.plasticity, floor=0.01)


def test_a_first_weight_above_the_cap_is_refused() -> None:
    assert Plasticity(cap=0.5, temporal_weight=0.5).cap == 0.5
    with pytest.raises(InvalidConfig, match=r"temporal_weight 0\.5 is above cap 0\.4"):
        Plasticity(cap=0.4)


def test_the_papers_numbers() -> None:
    paper = PAPER.plasticity
    assert (paper.rate, paper.decay, paper.cap, paper.clock) == (0.01, 0.005, 1.0, "steps")


# --- the paper's rule, literally -------------------------------------------------------------------------------------

NODES = "abcdef"
Pair = tuple[str, str]
Run = tuple[frozenset[str], int]


class Literal:
    """`w <- (1 - lambda) w + eta [i, j in K_t]` for every pair at every step, then cap, then pruning."""

    def __init__(self, rule: Plasticity, start: dict[Pair, float]) -> None:
        self.rule, self.weights = rule, {pair: start.get(pair, 0.0) for pair in combinations(NODES, 2)}

    def step(self, fired: frozenset[str]) -> None:
        for pair, weight in self.weights.items():
            weight = (1 - self.rule.decay) * weight + self.rule.rate * (set(pair) <= fired)  # noqa: PLW2901
            weight = min(weight, self.rule.cap)  # noqa: PLW2901
            self.weights[pair] = weight if weight >= self.rule.floor else 0.0


RULES = [
    PAPER.plasticity,
    replace(PAPER.plasticity, cap=0.05, temporal_weight=0.05),
    replace(PAPER.plasticity, decay=0.3),
    replace(PAPER.plasticity, decay=0.05, rate=0.2, cap=0.5, floor=0.1),
]
runs = st.tuples(
    st.frozensets(st.sampled_from(NODES), min_size=1, max_size=4),
    st.sampled_from([1, 1, 1, 2, 3, 8, 20, 137, 138, 139, 150]),
)
AB, CD = frozenset("ab"), frozenset("cd")


@given(rule=st.sampled_from(RULES), history=st.lists(runs, max_size=6), faded=st.sets(st.integers(0, 5)))
@example(rule=PAPER.plasticity, history=[(AB, 1), (CD, 138), (AB, 1)], faded=set())
@example(rule=PAPER.plasticity, history=[(AB, 1), (CD, 139), (AB, 1)], faded={1})
@example(rule=RULES[2], history=[(AB, 1), (CD, 1), (AB, 1), (CD, 1), (AB, 1)], faded={3})
@settings(max_examples=150, deadline=None)
def test_lazy_decay_is_the_papers_rule(rule: Plasticity, history: list[Run], faded: set[int]) -> None:
    config = replace(PAPER, plasticity=rule)
    room = Room(ReferenceStore(), config=config)
    room.remember(*(node(text, session="s" if text in "abc" else None) for text in NODES))
    literal = Literal(rule, {("a", "b"): rule.temporal_weight, ("b", "c"): rule.temporal_weight})
    for number, (fired, times) in enumerate(history):
        room.reinforce(*sorted(fired), times=times)
        for _ in range(times):
            literal.step(fired)
        if number in faded:
            room.store.fade("room", NOW, config)
        found = {key[1:]: weight for key, weight in room.links().items()}
        living = {pair: weight for pair, weight in literal.weights.items() if weight > 0}
        assert found.keys() == living.keys()
        assert found == pytest.approx(living, rel=0, abs=1e-9)


def test_default_link_outlives_ten_thousand_unrelated_events() -> None:
    room = _after_traffic(DEFAULT)
    (link,) = [n for n in room.store.neighbours("room", "a", NOW, DEFAULT) if n.id == "b"]
    assert link.weight == pytest.approx(min(DEFAULT.plasticity.cap, 20 * DEFAULT.plasticity.rate))


def test_paper_link_does_not() -> None:
    """Which is why DEFAULT has a clock of its own: .18 * .995^10000 is nothing."""
    assert _after_traffic(PAPER).store.neighbours("room", "a", NOW, PAPER) == []


def _after_traffic(config: Config) -> Room:
    room = Room(ReferenceStore(), config=config)
    room.remember(*"abcd")
    room.reinforce("a", "b", times=20)
    room.reinforce("c", "d", times=10_000)
    assert room.store.fade("room", NOW, config).archived == ()
    return room
