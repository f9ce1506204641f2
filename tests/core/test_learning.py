"""What learning promises: used together is recalled together, and nothing else is made worse by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from helamem_core import Memory, MissingExtra, Recollection, Turn
from helamem_core.embedders import resolve
from helamem_core.protocols import Embedder
from helamem_core.testing.fakes import CountingIds, FakeClock
from tests.core.planted import ALIKE, FACTS, PlantedEmbedder

KEY, SARDINES, LADDER, CELLO = (
    next(fact for fact in FACTS if word in fact) for word in ("greenhouse", "sardines", "ladder", "cello")
)
CUE, PARAPHRASE, UNRELATED = (
    "What shall I cook for my guests tonight?",
    "What should I cook tonight for the guests?",
    "Is there snow in the mountains?",
)
NOTES = [f"Standup note {n}: nothing blocked, all tickets on track" for n in range(184)]
STANDUP = "What was said in the standup?"
PLANTED = (
    ALIKE
    | {PARAPHRASE: (CUE, 0.85)}
    | {note: (STANDUP, 0.9) for note in NOTES}
    | {f"{question} Tell me": (question, 0.9) for question in FACTS.values()}
)

Opener = Callable[[], Memory]


@pytest.fixture(params=["planted", "minilm"])
def embedder(request: pytest.FixtureRequest) -> Embedder | None:
    """An embedder that knows just what is planted, and the packaged model."""
    if request.param == "planted":
        return PlantedEmbedder(PLANTED)
    try:
        return resolve("minilm")
    except MissingExtra as missing:
        pytest.skip(str(missing))


@pytest.fixture
def opened(embedder: Embedder) -> Iterator[Opener]:
    """Opens empty memories."""
    with ExitStack() as stack:

        def opener() -> Memory:
            ids, clock = CountingIds(), FakeClock()
            opened = Memory.open("sqlite:///:memory:", space="s", embedder=embedder, ids=ids, clock=clock)
            return stack.enter_context(opened)

        yield opener


@pytest.fixture
def memory(opened: Opener) -> Memory:
    """A memory of the thirty facts; a fact is its own id."""
    memory = opened()
    memory.remember([Turn(fact, id=fact) for fact in FACTS])
    return memory


def found(memory: Memory, query: str, id: str, k: int = 10) -> Recollection | None:
    return next((item for item in memory.recall(query, k=k) if item.id == id), None)


def first_hits(memory: Memory) -> int:
    return sum(memory.recall(question).ids[:1] == [fact] for fact, question in FACTS.items())


def test_used_together_is_recalled_together(memory: Memory) -> None:
    """Two unlike memories used together 20 times; the partner of another pair, used as often, stays away."""
    before = memory.recall(FACTS[KEY], k=5).ids
    assert before[0] == KEY
    assert not {SARDINES, CELLO} & set(before)
    for _ in range(20):
        memory.reinforce([KEY, SARDINES])
        memory.reinforce([LADDER, CELLO])
    partner = found(memory, FACTS[KEY], SARDINES, k=5)
    assert partner is not None
    assert partner.path == "associative"
    assert ("ASSOCIATED", KEY) in [(lift.kind, lift.source) for lift in partner.why.lifts]
    after = memory.recall(FACTS[KEY], k=5)
    assert after[0].id == KEY
    assert CELLO not in after.ids


def test_shuffled_partners_teach_nothing(memory: Memory, opened: Opener) -> None:
    """As many links between the same memories, but not these two: no lift from one to the other."""
    others = [fact for fact in FACTS if fact not in (KEY, SARDINES)]
    for n in range(20):
        memory.reinforce([KEY, others[n]])
        memory.reinforce([SARDINES, others[-1 - n]])
    assert found(memory, FACTS[KEY], SARDINES, k=5) is None
    sardines = found(memory, FACTS[KEY], SARDINES, k=30)
    assert sardines is None or KEY not in [lift.source for lift in sardines.why.lifts]


def test_cue_brings_back_what_it_needed(memory: Memory) -> None:
    """No word and no meaning in common; a paraphrase of the cue finds it, an unrelated cue does not."""
    assert LADDER not in memory.recall(PARAPHRASE, k=5).ids
    before = memory.recall(UNRELATED, k=30).to_dict()
    for _ in range(5):
        memory.reinforce([LADDER], cue=CUE)
    ladder = found(memory, PARAPHRASE, LADDER, k=5)
    assert ladder is not None
    assert ladder.path == "associative"
    assert [lift.kind for lift in ladder.why.lifts] == ["CUED"]
    assert memory.recall(UNRELATED, k=30).to_dict() == before


def test_turn_as_cue_brings_back_what_it_needed(memory: Memory) -> None:
    """In a conversation the question is a turn, and so is the cue."""
    memory.remember(Turn(CUE, id="turn", session="s"))
    for _ in range(5):
        memory.reinforce([LADDER], cue="turn")
    ladder = found(memory, PARAPHRASE, LADDER, k=5)
    assert ladder is not None
    assert ("CUED", "turn") in [(lift.kind, lift.source) for lift in ladder.why.lifts]


def test_recollections_as_cue(memory: Memory) -> None:
    """What `recall` returned says what was asked, without embedding it again."""
    answer = memory.recall(CUE)
    memory.reinforce([LADDER], cue=answer)
    memory.reinforce([LADDER], cue=memory.recall(CUE))
    assert memory.stats().cues == 1
    ladder = found(memory, PARAPHRASE, LADDER)
    assert ladder is not None
    assert [lift.kind for lift in ladder.why.lifts] == ["CUED"]


def test_recall_alone_teaches_nothing(memory: Memory) -> None:
    for _ in range(3):
        for question in FACTS.values():
            memory.recall(question)
    stats = memory.stats()
    assert (stats.steps, stats.cues, stats.links["ASSOCIATED"], stats.links["CUED"]) == (0, 0, 0, 0)


def test_hub_never_tops_an_unrelated_query(opened: Opener) -> None:
    """184 near-identical notes, recalled and reinforced 100 times, beside five facts."""
    memory, facts = opened(), list(FACTS)[:5]
    memory.remember([Turn(note, id=note) for note in NOTES])
    memory.remember([Turn(fact, id=fact) for fact in facts])
    for _ in range(100):
        memory.reinforce(answer.ids, cue=answer) if (answer := memory.recall(STANDUP)) else None
    for fact in facts:
        assert memory.recall(FACTS[fact]).ids[0] == fact
        assert memory.recall(fact).ids[0] == fact
    assert memory.recall(STANDUP)[0].id in NOTES


def test_learning_from_all_that_was_retrieved_costs_no_first_place(memory: Memory) -> None:
    """Fault: mere co-retrieval. All answers of all questions are reinforced, over and over."""
    before = first_hits(memory)
    assert before >= 0.7 * len(FACTS)
    for _ in range(3):
        for question in FACTS.values():
            answer = memory.recall(f"{question} Tell me")
            memory.reinforce(answer, cue=answer)
    assert first_hits(memory) >= before


def test_the_papers_literal_rule_is_an_option(memory: Memory) -> None:
    """`learn="retrieved"` reinforces what came back."""
    memory.recall(FACTS[KEY], k=3, learn="retrieved")
    assert memory.stats().steps == 1
    assert memory.stats().links["ASSOCIATED"] == 3
