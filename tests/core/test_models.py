"""Which model a space has: changed by others in between, and texts that an embedder refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest

from helamem_core import (
    PAPER,
    Config,
    EmbedderError,
    EmbedderMismatchWarning,
    EmbeddingPendingWarning,
    Limits,
    Memory,
    Turn,
)
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.stores.reference import ReferenceStore
from helamem_core.types import EmbedderIdentity, Vector
from tests.core.opened import Open, clock, memory, opened, url

__all__ = ["clock", "memory", "opened", "url"]

OTHER = HashingEmbedder("other")


class Interrupted(HashingEmbedder):
    """The hashing embedder; something happens while it works, once."""

    happens: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()
        return super().embed(texts, kind=kind)


class Picky(HashingEmbedder):
    """The hashing embedder; it refuses every batch that has a text with the word `poison`, or all while `down`."""

    def __init__(self, name: str = "hashing") -> None:
        super().__init__(name)
        self.down = False
        self.calls = 0

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        self.calls += 1
        if self.down or any("poison" in text for text in texts):
            raise RuntimeError("400 bad request")
        return super().embed(texts, kind=kind)


class TestOthers:
    """Another process gives the space another model of the same width while this one is embedding."""

    @pytest.fixture
    def embedder(self) -> Interrupted:
        return Interrupted()

    @pytest.fixture
    def mine(self, opened: Open, embedder: Interrupted) -> Memory:
        memory = opened(embedder=embedder)
        memory.remember([Turn("the quick fox", id="fox"), Turn("a lazy dog", id="dog")])
        memory.reinforce("dog", cue="who sleeps?")
        assert memory.recall("fox")[0].why.similarity > 0
        embedder.happens = lambda: opened(store=memory._session.context.store).reembed(OTHER)
        return memory

    def test_recall_goes_by_words(self, mine: Memory) -> None:
        with pytest.warns(EmbedderMismatchWarning, match="'other'"):
            found = mine.recall("who was the quick one?")
        assert [(item.id, item.why.similarity) for item in found] == [("fox", 0.0)]
        assert (found.vector, found.embedder) == (None, None)
        assert mine.recall("quick")[0].why.similarity == 0  # told once: a warning would be an error here

    def test_a_cue_waits_for_its_vector(self, mine: Memory) -> None:
        assert mine.reinforce("dog", cue="who is lazy?").cued == 1
        assert (mine.stats().unembedded, mine.stats().embedder) == (1, OTHER.identity)

    def test_a_new_text_waits_for_its_vector(self, mine: Memory) -> None:
        with pytest.warns(EmbedderMismatchWarning, match="'other'"):
            changed = mine.update("fox", text="a slow fox")
        assert (changed.text, changed.embedded) == ("a slow fox", False)

    def test_what_was_recalled_before_teaches_after(self, opened: Open) -> None:
        """Fault: the old model's vector of a query becomes a cue's among those of the new one."""
        memory = opened()
        memory.remember(Turn("the quick fox", id="fox"))
        found = memory.recall("who is quick?")
        assert found.embedder == EmbedderIdentity("hashing", 256)
        memory.reembed(OTHER)
        memory.reinforce("fox", cue=found)
        lines = [line["cue"] for line in memory._session.context.store.dump("s") if "cue" in line]
        assert memory.stats().unembedded == 0
        assert memory.recall("who is quick?")[0].why.lifts[0].source == lines[0]["id"]


def test_a_recall_is_one_transaction() -> None:
    asked: list[str] = []

    class Watched(ReferenceStore):
        def identity(self, space: str) -> EmbedderIdentity | None:
            asked.append(space)
            return super().identity(space)

    with Memory.open(store=Watched(), space="s", embedder="hashing") as memory:
        memory.remember("the quick fox")
        memory.recall("quick")
        asked.clear()
        for _ in range(3):
            memory.reinforce(memory.recall("quick fox"), cue=memory.recall("fox"))
        assert asked == []
        memory.drop_space("s")
        assert (memory.recall("quick").vector, memory.recall("quick").items) == (None, ())
        memory.remember("the quick fox")
        assert memory.recall("quick")[0].why.similarity > 0


def test_without_a_rate_a_cue_is_not_even_embedded(opened: Open) -> None:
    embedder = Picky()
    memory = opened(embedder=embedder, config=PAPER)
    memory.remember(Turn("the quick fox", id="fox"))
    calls = embedder.calls
    assert memory.reinforce("fox", cue="who is quick?").cue is None
    assert (embedder.calls, memory.stats().cues, memory.stats().steps) == (calls, 0, 1)


class TestPoison:
    """One text that the embedder refuses keeps no other waiting."""

    def waiting(self, opened: Open, embedder: Picky, *texts: str) -> Memory:
        memory = opened(embedder=embedder, config=Config(limits=Limits(batch=3)))
        memory.remember("bound to the model")
        embedder.down = True
        with pytest.warns(EmbeddingPendingWarning):
            memory.remember([Turn(text, id=text) for text in texts])
        embedder.down = False
        return memory

    def embedded(self, memory: Memory) -> list[str]:
        return sorted(e.text for e in memory.list() if e.embedded and e.text != "bound to the model")

    def test_all_others_are_embedded(self, opened: Open) -> None:
        texts = ("poison 1", "a", "poison 2", "poison 3", "poison 4", "poison 5", "b", "c", "poison 6", "d")
        memory = self.waiting(opened, Picky(), *texts)
        with pytest.warns(EmbeddingPendingWarning, match=r"failed for 6 texts.*'poison 1', .*400") as warned:
            assert memory.embed_pending() == 4
        assert len(warned) == 1
        assert warned[0].filename == __file__
        assert self.embedded(memory) == ["a", "b", "c", "d"]
        with pytest.warns(EmbeddingPendingWarning, match="failed for 6 texts"):
            assert memory.embed_pending() == 0

    def test_cues_are_reached_too(self, opened: Open) -> None:
        embedder = Picky()
        memory = self.waiting(opened, embedder, "poison 1", "a")
        embedder.down = True
        with pytest.warns(EmbeddingPendingWarning):
            memory.reinforce("a", cue="poison?")
        with pytest.warns(EmbeddingPendingWarning):
            memory.reinforce("a", cue="why?")
        embedder.down = False
        with pytest.warns(EmbeddingPendingWarning, match="failed for 2 texts"):
            assert memory.embed_pending() == 2
        assert memory.stats().unembedded == 2

    def test_the_next_remember_passes_over_it_and_does_not_ask_again(self, opened: Open) -> None:
        embedder = Picky()
        memory = self.waiting(opened, embedder, "poison 1", "a", "poison 2", "b")
        with pytest.warns(EmbeddingPendingWarning, match="400"):
            memory.remember("more")
        assert self.embedded(memory) == ["a", "more"]
        assert memory.remember("and more").embedding_error is None
        assert self.embedded(memory) == ["a", "and more", "b", "more"]
        calls = embedder.calls
        memory.remember("yet more")
        assert embedder.calls == calls + 1

    def test_an_embedder_that_is_down_is_not_asked_for_every_text(self, opened: Open) -> None:
        embedder = Picky()
        memory = self.waiting(opened, embedder, *(f"text {n}" for n in range(50)))
        embedder.down = True
        calls = embedder.calls
        with pytest.raises(EmbedderError, match=r"0 texts got their vector, then.*400"):
            memory.embed_pending()
        assert embedder.calls - calls <= 5
        embedder.down = False
        assert memory.embed_pending() == 50

    def test_reembed_leaves_it_waiting(self, opened: Open) -> None:
        memory = opened(config=Config(limits=Limits(batch=3)))
        texts = ["poison 1", "poison 2", "poison 3", "poison 4", "a", "poison 5", "b"]
        memory.remember([Turn(text, id=text) for text in texts])
        with pytest.warns(EmbeddingPendingWarning, match="failed for 5 texts") as warned:
            assert memory.reembed(Picky("new")) == 2
        assert len(warned) == 1
        assert [e.text for e in memory.list() if e.embedded] == ["a", "b"]
        stats = memory.stats()
        assert (stats.embedder, stats.unembedded) == (EmbedderIdentity("new", 256), 5)
        with pytest.warns(EmbeddingPendingWarning, match="goes by words"):
            assert memory.recall("poison 1")[0].id == "poison 1"

    def test_reembed_changes_nothing_if_everything_fails(self, opened: Open) -> None:
        memory = opened()
        memory.remember(["poison 1", "poison 2"])
        with pytest.raises(EmbedderError, match="nothing has changed"):
            memory.reembed(Picky("new"))
        assert (memory.stats().embedder, memory.stats().unembedded) == (EmbedderIdentity("hashing", 256), 0)

    def test_reembed_broken_off_before_the_poison_is_finished_after(self, opened: Open) -> None:
        memory = opened(config=Config(limits=Limits(batch=1)))
        memory.remember(["a", "poison"])

        def stop(*_: Any) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.reembed(Picky("new"), progress=stop)
        with pytest.warns(EmbeddingPendingWarning, match="failed for 1 texts"):
            assert memory.reembed(Picky("new")) == 1
        assert memory.stats().embedder == EmbedderIdentity("new", 256)


def test_metadata_is_not_shared(memory: Memory) -> None:
    given: dict[str, Any] = {"tags": ["x"], "deep": {"n": 1}}
    memory.remember(Turn("the quick fox", id="fox", metadata=given))
    given["tags"].append("spoilt")
    held, listed = memory.get("fox"), memory.list()[0]
    assert held is not None
    changed = memory.update("fox", expires_at=None)
    for item in (held, listed, changed, memory.recall("fox")[0]):
        metadata: Any = item.metadata
        metadata["tags"].append("spoilt")
        metadata["deep"]["n"] = metadata["new"] = 2
    again = memory.get("fox")
    assert again is not None
    assert again.metadata == memory.recall("fox")[0].metadata == {"tags": ["x"], "deep": {"n": 1}}
