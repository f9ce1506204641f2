"""Recall and reinforce, through the public API."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest

from helamem_core import (
    EmbeddingPendingWarning,
    InvalidFilter,
    InvalidInput,
    Memory,
    MemoryNotFound,
    Recollections,
    Turn,
    completers,
)
from helamem_core.config import DEFAULT, PAPER, Config, Limits
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.recollecting import MAX_TERMS
from tests.core.opened import Flaky, Open, clock, memory, opened, url

__all__ = ["clock", "memory", "opened", "url"]


class TestRecall:
    @pytest.mark.parametrize(
        "query", ["", " ", "`", "the of and", '"hi', "foo AND", "(python", "a\x00\ud83d", "x " * 10_000]
    )
    def test_any_text_is_a_query(self, memory: Memory, query: str) -> None:
        memory.remember("memory:safe C++ agentic-os")
        assert len(memory.recall(query)) <= 1

    @pytest.mark.parametrize(
        "options",
        [
            {"k": 0},
            {"k": 10_001},
            {"k": True},
            {"k": 2.5},
            {"kinds": ["fact"]},
            {"kinds": []},
            {"learn": "all"},
            {"max_tokens": -1},
            {"since": "yesterday"},
            {"until": 5},
            {"cue_completer": object()},
            {"cue_completer": "nobody"},
        ],
    )
    def test_bad_options_are_refused(self, memory: Memory, options: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput, match=next(iter(options)).replace("cue_", "").split("_")[0]):
            memory.recall("x", **options)

    def test_bad_filters_are_refused(self, memory: Memory) -> None:
        with pytest.raises(InvalidFilter):
            memory.recall("x", filters={"a": {"$regex": "b"}})
        assert list(memory.recall("x", filters={}, kinds="episode")) == []

    def test_times(self, memory: Memory) -> None:
        days = ["2025-03-01", "2025-03-02", "2025-03-03"]
        memory.remember([Turn("lunch", at=f"{day}T12:00:00", id=day) for day in days])

        def ids(**bounds: Any) -> list[str]:
            return sorted(memory.recall("lunch", **bounds).ids)

        assert ids(since="2025-03-02") == days[1:]
        assert ids(until="2025-03-02") == days[:2]
        assert ids(as_of=date(2025, 3, 1)) == days[:1]
        assert ids(as_of=datetime(2025, 3, 2, 11)) == days[:1]
        assert ids(since="2025-03-02T13:00+01:00", until="2025-03-02T12:00Z") == days[1:2]

    def test_a_budget_leaves_out_what_would_not_be_shown(self, memory: Memory) -> None:
        memory.remember(["the cat " + "sleeps long " * 30, "the cat", "the cat eats"])
        found = memory.recall("the cat", max_tokens=60)
        assert len(found) == 2
        assert found.as_context(60).count("cat") == 2
        assert list(memory.recall("the cat", max_tokens=0)) == []

    def test_recall_changes_nothing_unless_asked(self, memory: Memory) -> None:
        memory.remember(["the cat", "the cat eats"])
        memory.recall("cat")
        assert memory.stats().steps == 0
        found = memory.recall("cat", learn="retrieved")
        stats = memory.stats()
        assert (stats.steps, stats.links["ASSOCIATED"], stats.links["CUED"]) == (1, 1, 2)
        assert [e.uses for e in memory.list()] == [1] * len(found)

    def test_a_completer_turns_the_vector_but_not_the_cue(self, opened: Open) -> None:
        target = HashingEmbedder().embed(["lisbon"])[0]

        class Completer:
            def complete(self, cue: Any) -> Any:
                return target * 5, 1.0

        memory = opened(cue_completer=Completer())
        memory.remember(["lisbon", "porto"])
        found = memory.recall("zzz")
        assert found[0].text == "lisbon"
        assert found.vector is not None
        assert np.array_equal(found.vector, HashingEmbedder().embed(["zzz"])[0])

    @pytest.mark.parametrize(
        "answer", [None, ([1.0], 1.0), ([0.0] * 256, 1.0), ([1.0] * 256, 2.0), ([1.0] * 256, "much")]
    )
    def test_a_completer_that_fails_is_passed_by(self, opened: Open, answer: Any) -> None:
        class Completer:
            def complete(self, cue: Any) -> Any:
                return answer

        memory = opened()
        memory.remember(["lisbon", "porto"])
        with pytest.warns(RuntimeWarning, match="completer failed"):
            assert memory.recall("porto", cue_completer=Completer())[0].text == "porto"


def test_a_named_completer_is_made_once(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    class Same:
        def complete(self, cue: Any) -> Any:
            return cue, 1.0

    class Point:
        def __init__(self, name: str, factory: Any) -> None:
            self.name, self.load = name, lambda: factory

    def same() -> Same:
        made.append("same")
        return Same()

    monkeypatch.setattr(completers, "entry_points", lambda group: [Point("same", same)])
    memory = opened(cue_completer="same")
    memory.remember("x")
    memory.recall("x")
    memory.recall("x", cue_completer="same")
    assert made == ["same"]
    with pytest.raises(InvalidInput, match="'hippo'; installed: same"):
        memory.recall("x", cue_completer="hippo")


def test_a_long_query_is_looked_up_by_its_first_words(memory: Memory) -> None:
    memory.remember([Turn("kumquat", id="first"), Turn("zeppelin", id="last")])
    query = " ".join(["kumquat", *[f"w{n}" for n in range(2 * MAX_TERMS)], "zeppelin"])
    lexical = {item.id: item.why.lexical for item in memory.recall(query, k=2)}
    assert lexical["first"] > 0 == lexical["last"]


class TestReinforce:
    def test_ids_in_every_form(self, memory: Memory) -> None:
        ids = memory.remember(["a cat", "a dog"]).ids
        found = memory.recall("a cat and a dog")
        for form in (ids, found, found[:2], iter(ids), [*ids, *ids], [found[0], memory.get(ids[1])]):
            assert memory.reinforce(form).associated == (1 if memory.stats().steps else 0)  # type: ignore[arg-type]
        assert memory.stats().steps == 6
        assert memory.reinforce(ids[0]).associated == 0

    def test_nothing_used_changes_nothing(self, memory: Memory) -> None:
        memory.remember(Turn("a", id="a"))
        assert memory.reinforce([], cue="x", event_id="e").applied is False
        assert memory.reinforce(["a"], event_id="e").applied is True
        assert memory.reinforce(["a"], event_id="e").applied is False
        assert memory.stats().steps == 1

    def test_a_cue_is_a_turn_if_it_names_one_else_a_text(self, memory: Memory) -> None:
        memory.remember([Turn("where do I live?", id="q"), Turn("Lisbon", id="a")])
        assert memory.reinforce(["a"], cue="q").cue == "q"
        text = memory.reinforce(["a"], cue="where is home?")
        assert text.cue is not None
        assert text.cue.startswith("cue:")
        assert memory.reinforce(["a"], cue=memory.recall("where is home?")).cue == text.cue
        assert memory.stats().cues == 1

    @pytest.mark.parametrize(
        ("ids", "options"),
        [
            (["a"], {"cue": " "}),
            (["a"], {"cue": 5}),
            ({"a": 1}, {}),
            ([5], {}),
            (5, {}),
            (["a"], {"event_id": ""}),
            ([""], {}),
        ],
    )
    def test_bad_input_is_refused(self, memory: Memory, ids: Any, options: Any) -> None:
        memory.remember(Turn("a", id="a"))
        with pytest.raises(InvalidInput):
            memory.reinforce(ids, **options)
        assert memory.stats().steps == 0

    def test_too_many_ids_are_refused(self, opened: Open) -> None:
        memory = opened(config=Config(limits=Limits(event_ids=3)))
        ids = memory.remember([f"note {n}" for n in range(4)]).ids
        with pytest.raises(InvalidInput, match=r"4 memories.*Limits\.event_ids is 3.*several calls"):
            memory.reinforce(ids)
        assert memory.stats().steps == 0
        assert memory.reinforce([*ids[:3], *ids[:3]]).associated == 3

    def test_only_the_best_that_came_back_are_learned(self, opened: Open) -> None:
        memory = opened(config=Config(limits=Limits(event_ids=3)))
        memory.remember([f"note {n} of tea" for n in range(9)])
        found = memory.recall("tea", k=9, learn="retrieved")
        assert len(found) == 9
        assert {episode.id for episode in memory.list() if episode.uses} == set(found.ids[:3])

    @pytest.mark.parametrize("preset", [DEFAULT, PAPER])
    def test_both_presets_bound_it(self, preset: Config) -> None:
        assert preset.limits.event_ids == 100

    def test_what_another_space_recalled_is_refused(self, memory: Memory) -> None:
        other = memory.in_space("other")
        for each in (memory, other):
            each.remember(Turn("a secret of tea", id="a"))
        theirs = other.recall("a secret of tea")
        assert (theirs.space, theirs[0].space) == ("other", "other")
        for act in (
            lambda: memory.reinforce("a", cue=theirs),
            lambda: memory.reinforce([], cue=theirs),
            lambda: memory.reinforce(theirs),
            lambda: memory.reinforce(theirs[0]),
            lambda: memory.reinforce(item for item in theirs),
            lambda: memory.forget(theirs),
            lambda: memory.archive([theirs[0]]),
            lambda: memory.restore(theirs),
        ):
            with pytest.raises(InvalidInput, match=r"'other'.*'s'"):
                act()
        assert (memory.stats().steps, memory.stats().memories) == (0, 1)
        assert other.reinforce(theirs, cue=theirs).applied
        assert memory.reinforce(Recollections("by hand", theirs.items[:0])).applied is False

    def test_the_space_is_not_part_of_what_is_shown(self, memory: Memory) -> None:
        memory.remember(Turn("tea", id="a"))
        found = memory.recall("tea")
        assert "space" not in found.to_dict() | found[0].to_dict()
        assert "space" not in repr(found)
        assert found[0] == replace(found[0], space=None)

    def test_a_cue_is_forgotten_by_its_id(self, memory: Memory) -> None:
        memory.remember(Turn("tea", id="a"))
        cue = memory.reinforce("a", cue="what do I drink?").cue
        assert cue is not None
        assert (memory.get(cue), len(memory.neighbours("a"))) == (None, 1)
        report = memory.forget([cue])
        assert (report.ids, report.links, report.cues) == ((), 1, 1)
        assert (memory.get(cue), memory.neighbours("a"), memory.stats().cues) == (None, [], 0)

    def test_unknown_ids(self, memory: Memory) -> None:
        memory.remember(Turn("a", id="a"))
        with pytest.raises(MemoryNotFound, match="'b'"):
            memory.reinforce(["a", "b"])
        assert memory.stats().steps == 0

    def test_a_cue_before_the_first_vector_waits_for_its_own(self, opened: Open) -> None:
        embedder = Flaky()
        memory = opened(embedder=embedder)
        embedder.failing = True
        with pytest.warns(EmbeddingPendingWarning):
            memory.remember(Turn("a fox", id="a"))
        memory.reinforce("a", cue="reynard")
        assert memory.stats().unembedded == 2
        embedder.failing = False
        assert memory.embed_pending() == 2
        assert memory.recall("reynard")[0].why.lifts[0].kind == "CUED"
