"""Remember, recall, reinforce, through the public API."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

from helamem_core import (
    Config,
    ContentConflict,
    EmbedderIdentity,
    EmbeddingPendingWarning,
    InvalidInput,
    Limits,
    Memory,
    RememberError,
    StoreBusy,
    StoreUnavailable,
    Turn,
)
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.fakes import NOW, CountingIds, FakeClock
from tests.core.opened import Flaky, LateDimension, Open, clock, memory, opened, url

__all__ = ["clock", "memory", "opened", "url"]

SMALL = Config(limits=Limits(batch=2))


def test_first_steps(memory: Memory) -> None:
    report = memory.remember([Turn("I moved to Lisbon in May", speaker="Alice", session="a"), "the cat sleeps"])
    found = memory.recall("where is Lisbon?")
    assert found[0].id == report.ids[0]
    assert type(found[0].score) is float
    assert json.loads(json.dumps(found.to_dict()))["items"][0]["why"]["lexical"] > 0
    assert "Alice: I moved to Lisbon in May" in found.as_context(200)
    learned = memory.reinforce(found[:1], cue=found)
    assert learned.cue is not None
    assert [n.kind for n in memory.neighbours(learned.cue)] == ["CUED"]


def test_a_new_space_answers_at_once(memory: Memory) -> None:
    assert list(memory.recall("anything")) == []
    assert memory.list() == []
    assert memory.get("x") is None
    assert memory.stats().memories == 0
    assert memory.remember([]).items == ()
    assert memory.spaces() == []


class TestRemember:
    def test_with_an_id_again_is_a_no_op(self, memory: Memory) -> None:
        turn = Turn("hello", id="a", speaker="Bo", metadata={"n": [1, {"deep": True}]}, at="2025-01-02T03:04:05Z")
        assert memory.remember(turn).count("stored") == 1
        assert memory.remember([turn, turn]).count("unchanged") == 2
        assert memory.remember(Turn("hello", id="a")).count("unchanged") == 1
        assert memory.stats().memories == 1

    @pytest.mark.parametrize(
        "other",
        [
            {"text": "bye"},
            {"role": "tool"},
            {"speaker": "Al"},
            {"at": date(2025, 1, 1).isoformat()},
            {"metadata": {"a": 2}},
        ],
    )
    def test_other_content_under_an_id_is_refused(self, memory: Memory, other: dict[str, Any]) -> None:
        given: dict[str, Any] = {"text": "hello", "id": "a", "speaker": "Bo", "metadata": {"a": 1}}
        memory.remember(Turn(**given))
        with pytest.raises(RememberError, match=f"another {next(iter(other))}") as caught:
            memory.remember(Turn(**given | other))
        assert isinstance(caught.value.__cause__, ContentConflict)
        held = memory.get("a")
        assert held is not None
        assert (held.text, held.role, held.speaker) == ("hello", "user", "Bo")

    def test_with_a_time_again_is_a_no_op_and_without_a_new_turn(self, memory: Memory) -> None:
        turn = Turn("same", at=datetime(2025, 1, 1, tzinfo=UTC))
        first, second = memory.remember(turn), memory.remember([turn, Turn("same", at="2025-01-01T01:00+01:00")])
        assert first.ids + first.ids == second.ids
        assert second.count("unchanged") == 2
        assert len(set(memory.remember(["same", "same"]).ids)) == 2

    def test_doubles_in_one_batch(self, memory: Memory) -> None:
        report = memory.remember([Turn("a", id="1"), Turn("a", id="1"), Turn("b", id="1")], on_error="report")
        assert [item.outcome for item in report.items] == ["stored", "unchanged", "failed"]

    def test_one_bad_turn_fails_alone(self, memory: Memory) -> None:
        turns: list[Any] = [
            "good",
            "",
            Turn("x", id="cue:1"),
            Turn("x", metadata={"t": datetime.now(UTC)}),
            {"text": "x"},
        ]
        with pytest.raises(RememberError, match="4 of 5") as caught:
            memory.remember(turns)
        report = caught.value.report
        assert [item.outcome for item in report.items] == ["stored"] + ["failed"] * 4
        assert "isoformat" in str(report.items[3].error) or "ISO 8601" in str(report.items[3].error)
        assert len(report.remaining) == 3
        assert memory.stats().memories == 1

    @pytest.mark.parametrize("turns", [{"text": "x"}, b"x", 5, None])
    def test_what_are_no_turns(self, memory: Memory, turns: Any) -> None:
        with pytest.raises(InvalidInput, match="turns is"):
            memory.remember(turns)

    def test_turns_of_a_call_keep_their_order_in_time(self, memory: Memory) -> None:
        texts = [f"turn {n}" for n in range(20)]
        memory.remember([Turn(text, session="s") for text in texts])
        assert [episode.text for episode in memory.list()] == texts
        assert memory.list()[0].at.timestamp() == NOW
        assert [e.text for e in memory.list(order="-at", limit=2, offset=1)] == ["turn 18", "turn 17"]
        assert memory.list()[3].previous == memory.list()[2].id

    def test_a_generator_streams(self, opened: Open) -> None:
        store = ReferenceStore()
        memory = opened(store=store, config=SMALL)
        stored_before: list[int] = []

        def turns() -> Iterator[str]:
            for n in range(6):
                stored_before.append(memory.stats().memories)
                yield f"turn {n}"

        progress: list[tuple[int, int | None]] = []
        memory.remember(turns(), progress=lambda done, total: progress.append((done, total)))
        assert stored_before == [0, 0, 2, 2, 4, 4]
        assert progress == [(2, None), (4, None), (6, None)]

    def test_an_interrupt_leaves_the_batches_before(self, opened: Open) -> None:
        memory = opened(config=SMALL)

        def turns() -> Iterator[str]:
            yield from ["a", "b", "c"]
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.remember(turns())
        assert memory.stats().memories == 2

    def test_a_store_that_fails_in_the_middle_leaves_a_state_to_resume(self, clock: FakeClock) -> None:
        class Failing(ReferenceStore):
            writes = itertools.count(1)
            failing = True

            def remember(self, *args: Any, **kwargs: Any) -> list[bool]:
                if next(self.writes) == 2 and self.failing:
                    raise StoreBusy("locked")
                return super().remember(*args, **kwargs)

        store = Failing()
        with Memory.open(store=store, space="s", embedder="hashing", config=SMALL, clock=clock) as memory:
            turns = (f"turn {n}" for n in range(7))
            with pytest.raises(RememberError, match="locked") as caught:
                memory.remember(turns)
            assert isinstance(caught.value.__cause__, StoreBusy)
            report = caught.value.report
            assert [item.outcome for item in report.items] == ["stored"] * 2 + ["failed"] * 5
            assert [turn.id for turn in report.remaining] == [item.id for item in report.items[2:]]
            clock.advance(100)
            again = memory.remember(report.remaining)
            assert again.count("stored") == 5
            assert memory.remember(report.remaining).count("unchanged") == 5
            assert [episode.text for episode in memory.list()] == [f"turn {n}" for n in range(7)]

    def test_what_was_stored_though_it_seemed_lost_is_unchanged(self) -> None:
        """Fault: the server commits a batch and goes before it can say so."""

        class Lost(ReferenceStore):
            lost = True

            def remember(self, *args: Any, **kwargs: Any) -> list[bool]:
                stored = super().remember(*args, **kwargs)
                if self.lost:
                    raise StoreUnavailable("gone")
                return stored

        store = Lost()
        with Memory.open(store=store, space="s", embedder="hashing", clock=FakeClock(NOW + 0.123456)) as memory:
            report = memory.remember([f"turn {n}" for n in range(200)], on_error="report")
            assert report.count("failed") == 200
            store.lost = False
            assert memory.remember(report.remaining).count("unchanged") == 200
            assert [episode.text for episode in memory.list()] == [f"turn {n}" for n in range(200)]

    def test_a_turn_that_expired_makes_room(self, memory: Memory, clock: FakeClock) -> None:
        memory.remember(Turn("old", id="a", expires_at=datetime.fromtimestamp(NOW + 10, UTC)))
        clock.advance(11)
        assert memory.get("a") is None
        assert memory.remember(Turn("new", id="a")).count("stored") == 1

    def test_nul_and_lone_surrogates_are_cleaned_and_round_trip(self, memory: Memory) -> None:
        turn = Turn("a\x00b \ud83d", id="x", speaker="B\x00", metadata={"k\x00": "v\ud83d", "标签": ["模型"]})
        memory.remember(turn)
        held = memory.get("x")
        assert held is not None
        assert (held.text, held.speaker) == ("a\ufffdb \ufffd", "B\ufffd")
        assert held.metadata == {"k\ufffd": "v\ufffd", "标签": ["模型"]}
        assert memory.remember(turn).count("unchanged") == 1


class TestVectors:
    def test_given_vectors_spare_the_embedder(self, opened: Open) -> None:
        embedder = Flaky()
        memory = opened(embedder=embedder)
        rows = HashingEmbedder().embed(["one", "two"]) * 3
        memory.remember(["one", "two"], vectors=rows)
        assert embedder.asked == []
        assert memory.recall("zzz", vector=rows[1])[0].text == "two"
        assert memory.recall("zzz", vector=list(rows[1]))[0].why.similarity == pytest.approx(1.0)

    @pytest.mark.parametrize(
        ("rows", "told"),
        [
            (np.ones((2, 3)), "shape"),
            (np.ones((1, 256)), "1 vectors for 2"),
            (np.ones(256), "shape"),
            ([[1.0] * 256], "1 vectors"),
        ],
    )
    def test_vectors_that_do_not_fit_store_nothing(self, memory: Memory, rows: Any, told: str) -> None:
        with pytest.raises(InvalidInput, match=told):
            memory.remember(["one", "two"], vectors=rows)
        assert memory.stats().memories == 0

    def test_a_bad_row_fails_alone(self, memory: Memory) -> None:
        rows: Sequence[Any] = [[1.0] * 256, [float("nan")] * 256, [0.0] * 256, [1.0] * 3, "text"]
        report = memory.remember([f"t{n}" for n in range(5)], vectors=rows, on_error="report")
        assert [item.outcome for item in report.items] == ["stored"] + ["failed"] * 4

    def test_vectors_and_turns_stream_together(self, opened: Open) -> None:
        memory = opened(config=SMALL)
        rows = iter(HashingEmbedder().embed(["a", "b", "c"]))
        with pytest.raises(InvalidInput, match="as many"):
            memory.remember((f"t{n}" for n in range(4)), vectors=rows)
        assert memory.stats().memories == 2

    @pytest.mark.parametrize("given", [[1.0], [0.0] * 256, [float("inf")] * 256, "text", [[1.0] * 256]])
    def test_a_bad_query_vector_is_refused(self, memory: Memory, given: Any) -> None:
        memory.remember("hello")
        with pytest.raises(InvalidInput, match="vector"):
            memory.recall("hello", vector=given)

    def test_a_model_that_learns_its_dimension_late(self, opened: Open) -> None:
        memory = opened(embedder=LateDimension())
        memory.remember("hello world")
        assert memory.recall("hello world")[0].why.similarity > 0
        assert memory.stats().embedder == EmbedderIdentity("late", 256)

    def test_given_vectors_tell_the_dimension(self, opened: Open) -> None:
        memory = opened(embedder=LateDimension())
        report = memory.remember(["a", "b"], vectors=[[1.0] * 256, [1.0] * 5], on_error="report")
        assert [item.outcome for item in report.items] == ["stored", "failed"]
        identity = memory.stats().embedder
        assert identity is not None
        assert identity.dimension == 256


class TestFailingEmbedder:
    def test_turns_are_stored_found_by_words_and_embedded_later(self, opened: Open) -> None:
        embedder = Flaky()
        memory = opened(embedder=embedder)
        embedder.failing = True
        with pytest.warns(EmbeddingPendingWarning, match="429") as warned:
            report = memory.remember(["the quick brown fox", "lazy dog"])
        assert len(warned) == 1
        assert warned[0].filename == __file__
        assert report.unembedded == 2
        assert "429" in str(report.embedding_error)
        found = memory.recall("quick fox")
        assert (found[0].text, found.unembedded, found.vector) == ("the quick brown fox", 2, None)
        embedder.failing = False
        assert memory.remember("another").unembedded == 0
        assert memory.stats().unembedded == 0
        assert memory.recall("brown fox")[0].why.similarity > 0

    def test_recall_goes_by_words(self, opened: Open) -> None:
        embedder = Flaky()
        memory = opened(embedder=embedder)
        memory.remember("the quick brown fox")
        embedder.failing = True
        with pytest.warns(EmbeddingPendingWarning, match="goes by words"):
            found = memory.recall("quick")
        assert (len(found), found.vector) == (1, None)
        with pytest.warns(EmbeddingPendingWarning):
            memory.reinforce(found.ids, cue="something else")
        assert memory.stats().unembedded == 1
        with pytest.warns(EmbeddingPendingWarning):
            assert memory.update(found.ids[0], text="a slow fox").embedded is False
        embedder.failing = False
        assert memory.embed_pending() == 2
        assert memory.embed_pending() == 0

    def test_one_text_that_it_cannot_embed_spares_the_others(self, opened: Open) -> None:
        memory = opened(embedder=Flaky())
        with pytest.warns(EmbeddingPendingWarning, match="zeros"):
            report = memory.remember(["fine", "poison", "good"])
        assert report.unembedded == 1
        assert [e.embedded for e in memory.list()] == [True, False, True]

    @pytest.mark.parametrize("answer", [np.ones((1, 256)), np.ones((2, 5)), [["a"], ["b"]], None, np.ones(512)])
    def test_what_is_no_embedding(self, opened: Open, answer: Any) -> None:
        class Wrong(HashingEmbedder):
            def embed(self, texts: Any, **_: Any) -> Any:
                return answer

        memory = opened(embedder=Wrong())
        with pytest.warns(EmbeddingPendingWarning):
            assert memory.remember(["one", "two"]).unembedded == 2

    def test_words_only(self, opened: Open) -> None:
        memory = opened(embedder="words")
        report = memory.remember("the quick brown fox")
        assert (report.unembedded, report.embedding_error, memory.embedder) == (1, None, None)
        assert memory.recall("quick")[0].path == "semantic"
        for refused in (memory.embed_pending, memory.reembed):
            with pytest.raises(InvalidInput, match="words"):
                refused()
        with pytest.raises(InvalidInput, match="vectors need"):
            memory.remember("x", vectors=[[1.0]])


def test_ids_and_clock_are_arguments(opened: Open) -> None:
    memory = opened(ids=CountingIds("n"))
    assert memory.remember(["a", "b"]).ids == ["n1", "n2"]
