"""A space is a wall."""

from __future__ import annotations

import pytest

from helamem_core.config import DEFAULT
from helamem_core.errors import MemoryNotFound
from helamem_core.protocols import Store
from helamem_core.records import Recalled
from helamem_core.testing.conformance.engine import StoreCase
from helamem_core.testing.fakes import NOW, OTHER_MODEL, Room, axis, cue, near, node, patch
from helamem_core.types import EmbedderIdentity

NAMES = [
    ("acme", "acme-corp"),
    ("john_doe", "john-doe"),
    ("%", "anybody"),
    ("_", "x"),
    ("*", "x"),
    ("Acme", "acme"),
    ("acme ", "acme"),
    ("a/b", "a"),
    ("a.b", "a"),
    ("é", "e\u0301"),
    ("用户", "用户1"),
    ("'; DROP TABLE spaces; --", "x"),
    ("1", "01"),
]


class Tenancy(StoreCase):
    """Nothing passes from one space to another, and names compare exactly."""

    @pytest.mark.parametrize(("one", "other"), NAMES, ids=[f"{n}" for n in range(len(NAMES))])
    def test_names_compare_exactly(self, store: Store, one: str, other: str) -> None:
        """Faults: siblings leak, "_" and "%" act as wildcards, names are folded."""
        for name in (one, other):
            Room(store, name).remember(node(f"secret of {name}", id="x", vector=axis(0)))
        for name in (one, other):
            room = Room(store, name)
            texts = [item.node.text for item in room.recall("secret", axis(0)).items]
            assert texts == [f"secret of {name}"]
        assert store.spaces() == sorted([one, other])
        store.drop_space(one)
        assert store.spaces() == [other]
        assert Room(store, other).found("secret", axis(0)) == ["x"]

    def test_every_leg_is_scoped(self, store: Store) -> None:
        """Fault: one retrieval leg is unfiltered. Same sentences in both; vector, words, links, cues, lists."""
        a, b = _twins(store)
        for room in (a, b):
            mine = f"{room.space}:"
            for text, vector in (("tea", None), ("", axis(0)), ("tea", axis(0)), ("nothing", axis(5))):
                for item in room.recall(text, vector, k=50).items:
                    assert item.node.id.startswith(mine)
                    assert all(lift.source.startswith((mine, f"cue:{room.space}")) for lift in item.why.lifts)
            assert all(id.startswith(mine) for id in room.listed())
            found = store.neighbours(room.space, f"{mine}tea", NOW, DEFAULT)
            assert found
            assert all(n.id.startswith((mine, f"cue:{room.space}")) for n in found)

    def test_scope_is_not_dropped_on_read(self, store: Store) -> None:
        """Fault: stored as one user, found as another."""
        a, _ = _twins(store)
        stranger = a.beside("c")
        assert (stranger.found("tea", axis(0)), stranger.listed()) == ([], [])
        assert store.present("c", a.listed(), NOW) == {}
        assert [line for line in stranger.dump() if "helamem" not in line] == []
        assert store.spaces() == ["a", "b"]

    def test_other_spaces_ids_are_not_found(self, store: Store) -> None:
        """By no verb."""
        a, b = _twins(store)
        before = b.dump()
        for act in (
            lambda: store.update("a", "b:tea", patch("x"), NOW),
            lambda: store.archive("a", ["b:tea"], NOW),
            lambda: store.restore("a", ["b:tea"]),
            lambda: store.neighbours("a", "b:tea", NOW, DEFAULT),
            lambda: store.neighbours("a", "cue:b", NOW, DEFAULT),
            lambda: a.reinforce("a:tea", "b:tea"),
            lambda: a.reinforce("a:tea", cue="b:tea"),
        ):
            with pytest.raises(MemoryNotFound):
                act()
        assert store.forget("a", ["b:tea", "cue:b"]).ids == ()
        assert b.dump() == before

    def test_work_in_one_leaves_the_other(self, store: Store) -> None:
        """Fault: a rebuild in one group wipes all."""
        a, b = _twins(store)
        before, answer = b.dump(), b.recall("tea rain", near(axis(0), 0.9, 1), k=20)
        a.remember(*(node(f"tea {n}", vector=axis(0)) for n in range(20)))
        a.reinforce("a:tea", "a:rain", times=5)
        a.reinforce("a:tea", cue=cue("b", axis(5)), event="b-event")
        store.update("a", "a:tea", patch("tea tea tea", vector=axis(1)), NOW)
        store.link_similar("a", NOW, DEFAULT)
        store.archive("a", ["a:rain"], NOW)
        store.fade("a", NOW + 1e9, DEFAULT)
        store.forget("a", ["a:tea"])
        store.adopt("a", OTHER_MODEL)
        store.drop_space("a")
        assert b.dump() == before
        assert _answer(b.recall("tea rain", near(axis(0), 0.9, 1), k=20)) == _answer(answer)

    def test_one_tenants_words_never_move_anothers_ranking(self, store: Store) -> None:
        """Document frequencies are of the space."""
        _, b = _twins(store)
        before = _answer(b.recall("tea rain tram", k=20))
        Room(store, "noisy").remember(*(node(f"rain rain {n}") for n in range(200)))
        assert _answer(b.recall("tea rain tram", k=20)) == before

    def test_update_cannot_move_a_memory(self, store: Store) -> None:
        """Fault: changed metadata moves a memory to another user."""
        a, b = _twins(store)
        before = b.dump()
        store.update("a", "a:tea", patch(metadata={"user_id": "b", "space": "b", "id": "b:tea"}), NOW)
        assert a.get("a:tea").metadata["space"] == "b"
        assert b.dump() == before

    def test_same_ids_live_side_by_side(self, store: Store) -> None:
        """Ids, sessions, cues and events are of their space."""
        a, b = Room(store, "a"), Room(store, "b")
        for room in (a, b):
            assert room.remember(node("x", session="s"), node("y", session="s")) == [True, True]
            assert room.reinforce("x", "y", cue=cue("q", axis(0)), event="e").applied
        store.forget("a", ["x"])
        assert (a.get("y").previous, b.get("y").previous) == (None, "x")
        assert len(b.links()) == 3

    def test_models_are_of_their_space(self, store: Store) -> None:
        """Two spaces may hold vectors of two models and widths."""
        a, b = Room(store, "a"), Room(store, "b")
        wide = EmbedderIdentity("wide", 64)
        a.remember(node("x", vector=axis(0)))
        b.remember(node("x", vector=axis(0, 64)), embedder=wide)
        assert (store.identity("a") == wide, store.identity("b")) == (False, wide)
        assert (a.found("", axis(0)), b.found("", axis(0, 64))) == (["x"], ["x"])


def _twins(store: Store) -> tuple[Room, Room]:
    """Two spaces that differ only in the ids, and a little in what was used."""
    rooms = Room(store, "a"), Room(store, "b")
    for times, room in enumerate(rooms, start=1):
        for text, vector in (("tea", axis(0)), ("rain", near(axis(0), 0.8, 1)), ("tram", None)):
            room.remember(node(text, id=f"{room.space}:{text}", session="s", vector=vector))
        ids = room.listed()
        room.reinforce(*ids, cue=cue(room.space, axis(5)), times=times)
        room.reinforce(ids[0])
        room.remember(node("snow", id=f"{room.space}:snow", recorded_at=NOW - 1e8, expires_at=NOW + 1e8))
    return rooms


def _answer(recalled: Recalled) -> list[tuple[str, float]]:
    return [(item.node.id, round(item.score, 9)) for item in recalled.items]
