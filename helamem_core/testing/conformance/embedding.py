"""Texts that wait for a vector, and the change to another model."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from helamem_core.config import DEFAULT, Spreading
from helamem_core.errors import EmbedderMismatch
from helamem_core.protocols import Store
from helamem_core.records import Embedded
from helamem_core.testing.conformance.engine import StoreCase, about, unchanged
from helamem_core.testing.fakes import MODEL, NOW, OTHER_MODEL, Room, axis, cue, node, patch
from helamem_core.types import EmbedderIdentity

NARROW = EmbedderIdentity("narrow", 4)


class Embedding(StoreCase):
    """`pending` and `embed`."""

    def test_waiting_texts_are_embedded_later(self, room: Room) -> None:
        """The oldest first, as many as asked for; archived ones too."""
        room.remember("first", node("has one", vector=axis(0)), "second", "third")
        room.store.archive("room", ["second"], NOW)
        waiting = room.store.pending("room", 9)
        assert [(item.kind, item.id) for item in waiting] == [
            ("episode", "first"),
            ("episode", "second"),
            ("episode", "third"),
        ]
        assert [item.id for item in room.store.pending("room", 2)] == ["first", "second"]
        assert room.embed({"first": axis(1), "second": axis(2)}) == 2
        assert [item.id for item in room.store.pending("room", 9)] == ["third"]
        assert room.found("", axis(1))[0] == "first"

    def test_first_vectors_bind_the_model(self, room: Room) -> None:
        """Whether they come with the memory or later."""
        room.remember("first")
        assert room.embed({"first": axis(1)}, OTHER_MODEL) == 1
        assert room.store.identity("room") == OTHER_MODEL

    def test_no_rows_bind_nothing(self, room: Room) -> None:
        """An empty batch is a no-op."""
        room.remember("first")
        assert room.store.embed("room", OTHER_MODEL, []) == 0
        assert room.store.identity("room") is None

    def test_other_model_is_refused(self, room: Room) -> None:
        """Fault: vectors of two models are mixed."""
        room.remember(node("a", vector=axis(0)), "b")
        rows = [Embedded("episode", "b", "b", axis(1))]
        unchanged(room, lambda: room.store.embed("room", OTHER_MODEL, rows), EmbedderMismatch)
        unchanged(room, lambda: room.store.embed("room", NARROW, rows), EmbedderMismatch)

    def test_stale_vectors_are_dropped(self, room: Room) -> None:
        """The text changed or went meanwhile, or has its vector: the row is passed over."""
        room.remember("changed", "gone", node("has", vector=axis(0)), "waits")
        rows = [Embedded("episode", text, text, axis(3)) for text in ("changed", "gone", "has", "waits", "nobody")]
        room.store.update("room", "changed", patch("other"), NOW)
        room.store.forget("room", ["gone"])
        assert room.store.embed("room", MODEL, rows) == 1
        assert [item.id for item in room.store.pending("room", 9)] == ["changed"]
        assert room.found("", axis(0))[0] == "has"

    def test_words_work_while_vectors_are_of_no_use(self, room: Room) -> None:
        """Fault: an old vector's width kills recall. Without a query vector the words answer."""
        room.remember(node("tea", vector=axis(0, 4)), "rain", embedder=NARROW)
        assert room.found("tea") == ["tea"]
        assert room.store.identity("room") == NARROW

    def test_pages_of_what_waits(self, room: Room) -> None:
        """The first so many can be left out, cues after memories, so that what cannot be embedded blocks nothing."""
        room.remember("a", "b", "c")
        room.reinforce("a", cue=cue("one"))
        room.reinforce("b", cue=cue("two"))
        everything = ["a", "b", "c", "one", "two"]
        for offset, limit in itertools.product(range(7), (0, 1, 3, 9)):
            page = everything[offset : offset + limit]
            assert [item.text for item in room.store.pending("room", limit, offset)] == page
            assert [item.text for item in room.store.unstaged("room", OTHER_MODEL, limit, offset)] == page


class OtherModel(StoreCase):
    """Vectors say whose they are: another process may have changed the space's model since they were made."""

    def test_question_goes_by_words(self, room: Room) -> None:
        """Neither its vector nor its cue counts, and the answer says whose vectors the space holds."""
        room = room.tuned(spreading=Spreading(cued=0.5, cue_threshold=0.3))
        _reembedded(room)
        answer = room.recall("tea", axis(0), cue=axis(5), embedder=MODEL)
        assert answer == replace(room.recall("tea"), unembedded=answer.unembedded)
        assert (answer.embedder, [item.node.id for item in answer.items]) == (OTHER_MODEL, ["tea"])
        own = room.recall("", axis(0), cue=axis(5), embedder=OTHER_MODEL)
        assert own == room.recall("", axis(0), cue=axis(5))
        assert own.items[0].why.similarity == about(1.0)
        assert any(lift.kind == "CUED" for item in own.items for lift in item.why.lifts)

    def test_other_width_is_no_error(self, room: Room) -> None:
        """Fault: a vector of another width kills recall."""
        _reembedded(room)
        assert room.found("tea", axis(0, 4), embedder=NARROW) == ["tea"]
        assert room.reinforce("tea", cue=cue("new", axis(0, 4)), embedder=NARROW).cued == 1
        room.store.update("room", "tea", patch("tea", vector=axis(0, 4), embedder=NARROW), NOW)
        assert (room.store.check(), room.get("tea").vector) == ([], None)

    def test_cue_waits_for_its_vector(self, room: Room) -> None:
        """It is taken for no other cue, and keeps no vector of the other model."""
        _reembedded(room)
        assert room.reinforce("tea", cue=cue("new", axis(5)), embedder=MODEL).cue == "cue:new"
        assert [(item.kind, item.text) for item in room.store.pending("room", 9)] == [("cue", "new")]
        room.reinforce("tea", cue=cue("new", axis(6)), embedder=MODEL)
        assert len(room.store.pending("room", 9)) == 1
        assert room.reinforce("tea", cue=cue("again", axis(5)), embedder=OTHER_MODEL).cue == "cue:asked"
        room.reinforce("tea", cue=cue("new", axis(6)), embedder=OTHER_MODEL)
        assert room.store.pending("room", 9) == []

    def test_new_text_waits_for_its_vector(self, room: Room) -> None:
        """It is changed all the same."""
        _reembedded(room)
        changed = room.store.update("room", "tea", patch("coffee", vector=axis(3), embedder=MODEL), NOW)
        assert (changed.text, changed.vector) == ("coffee", None)
        assert [item.text for item in room.store.pending("room", 9)] == ["coffee"]
        changed = room.store.update("room", "rain", patch("snow", vector=axis(3), embedder=OTHER_MODEL), NOW)
        assert changed.vector is not None

    def test_space_without_vectors_has_no_model(self, room: Room) -> None:
        """Nothing but memories and what waits gives it one."""
        room.remember("tea")
        assert room.recall("tea", axis(0), embedder=MODEL) == room.recall("tea")
        room.reinforce("tea", cue=cue("asked", axis(5)), embedder=MODEL)
        room.store.update("room", "tea", patch("coffee", vector=axis(3), embedder=MODEL), NOW)
        assert room.store.identity("room") is None
        assert [item.text for item in room.store.pending("room", 9)] == ["coffee", "asked"]
        assert room.recall("", axis(0)).embedder is None


class Reembedding(StoreCase):
    """`stage`, `unstaged` and `adopt`."""

    def test_change_of_model(self, room: Room) -> None:
        """Old vectors answer until all at once the new ones do."""
        room.remember(node("a", vector=axis(0)), node("b", vector=axis(1)), "c")
        room.store.archive("room", ["b"], NOW)
        room.reinforce("a", cue=cue("asked", axis(5)))
        todo = room.store.unstaged("room", NARROW, 9)
        assert [(item.kind, item.text) for item in todo] == [
            ("episode", "a"),
            ("episode", "b"),
            ("episode", "c"),
            ("cue", "asked"),
        ]
        for number, item in enumerate(todo):
            room.store.stage("room", NARROW, [Embedded(item.kind, item.id, item.text, axis(number, 4))])
            assert len(room.store.unstaged("room", NARROW, 9)) == 3 - number
        assert (room.found("", axis(0))[0], room.store.identity("room")) == ("a", MODEL)
        assert room.store.adopt("room", NARROW) == 4
        assert room.store.identity("room") == NARROW
        assert room.found("", axis(2, 4))[0] == "c"
        assert room.store.pending("room", 9) == []
        assert len(room.store.unstaged("room", NARROW, 9)) == 4

    def test_cues_come_along(self, store: Store) -> None:
        """An earlier cue answers under its new vector."""
        room = Room(store).tuned(spreading=Spreading(cued=0.5, cue_threshold=0.6))
        room.remember(node("a", vector=axis(0)))
        room.reinforce("a", cue=cue("asked", axis(5)), times=3)
        rows = [Embedded("episode", "a", "a", axis(0, 4)), Embedded("cue", "cue:asked", "asked", axis(3, 4))]
        store.stage("room", NARROW, rows)
        store.adopt("room", NARROW)
        assert room.recall("", axis(3, 4)).items[0].why.lifts[0].source == "cue:asked"

    def test_interrupted_change_resumes(self, room: Room) -> None:
        """What is staged for one model does not count for another, and staging again replaces."""
        room.remember("a", "b", "c")
        room.store.stage("room", NARROW, [Embedded("episode", "a", "a", axis(0, 4))])
        assert [item.id for item in room.store.unstaged("room", NARROW, 9)] == ["b", "c"]
        assert [item.id for item in room.store.unstaged("room", OTHER_MODEL, 2)] == ["a", "b"]
        room.store.stage("room", NARROW, [Embedded("episode", "a", "a", axis(1, 4))])
        room.store.adopt("room", NARROW)
        held = room.get("a").vector
        assert held is not None
        assert held.tolist() == axis(1, 4).tolist()

    def test_unstaged_texts_wait(self, room: Room) -> None:
        """A memory without a staged vector is left without one, never with the old one."""
        room.remember(node("a", vector=axis(0)), node("b", vector=axis(1)))
        room.store.stage("room", OTHER_MODEL, [Embedded("episode", "a", "a", axis(2))])
        assert room.store.adopt("room", OTHER_MODEL) == 1
        assert [item.id for item in room.store.pending("room", 9)] == ["b"]
        assert room.found("", axis(1)) == ["a"]

    def test_edited_text_loses_its_staged_vector(self, room: Room) -> None:
        """Both before and after it was staged."""
        room.remember("a", "b")
        room.store.stage("room", NARROW, [Embedded("episode", "a", "a", axis(0, 4))])
        room.store.update("room", "a", patch("new"), NOW)
        room.store.stage("room", NARROW, [Embedded("episode", "b", "no longer", axis(0, 4))])
        assert [item.id for item in room.store.unstaged("room", NARROW, 9)] == ["a", "b"]
        assert room.store.adopt("room", NARROW) == 0

    def test_forgotten_text_loses_its_staged_vector(self, room: Room) -> None:
        """The same id anew has none."""
        room.remember("a")
        room.store.stage("room", NARROW, [Embedded("episode", "a", "a", axis(0, 4))])
        room.store.forget("room", ["a"])
        room.remember("a")
        assert [item.id for item in room.store.unstaged("room", NARROW, 9)] == ["a"]

    def test_adopting_ends_other_changes(self, room: Room) -> None:
        """Vectors staged for a third model go, and so do similarity links; learned ones stay."""
        room.remember(node("a", vector=axis(0)), node("b", vector=axis(0)))
        room.store.link_similar("room", NOW, DEFAULT)
        room.reinforce("a", "b")
        room.store.stage("room", OTHER_MODEL, [Embedded("episode", "a", "a", axis(1))])
        room.store.stage("room", NARROW, [Embedded("episode", "b", "b", axis(1, 4))])
        room.store.adopt("room", NARROW)
        assert set(room.links()) == {("ASSOCIATED", "a", "b")}
        assert len(room.store.unstaged("room", OTHER_MODEL, 9)) == 2

    @pytest.mark.parametrize("model", [NARROW, OTHER_MODEL])
    def test_new_vectors_need_the_new_model(self, room: Room, model: EmbedderIdentity) -> None:
        """After the change the old model is refused."""
        room.remember(node("a", vector=axis(0)))
        room.store.adopt("room", model)
        with pytest.raises(EmbedderMismatch):
            room.remember(node("b", vector=axis(0)), embedder=MODEL)


def _reembedded(room: Room) -> None:
    """Two memories and a cue, embedded anew by somebody else."""
    room.remember(node("tea", vector=axis(1)), node("rain", vector=axis(2)))
    room.reinforce("rain", cue=cue("asked", axis(3)), times=3)
    vectors = {"tea": axis(0), "rain": axis(4), "asked": axis(5)}
    todo = room.store.unstaged(room.space, OTHER_MODEL, 9)
    room.store.stage(
        room.space, OTHER_MODEL, [Embedded(item.kind, item.id, item.text, vectors[item.text]) for item in todo]
    )
    room.store.adopt(room.space, OTHER_MODEL)
