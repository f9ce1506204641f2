"""What is stored, and what each memory is linked to as it arrives."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from helamem_core.errors import EmbedderMismatch
from helamem_core.protocols import Store
from helamem_core.records import Listing
from helamem_core.testing.conformance.engine import StoreCase, unchanged
from helamem_core.testing.fakes import MODEL, NOW, OTHER_MODEL, Room, axis, node, patch, view

ODD_TEXTS = [
    "a\x00b",
    "\ud83d",
    "\ud83d\ude00 smile",
    "Robert'); DROP TABLE episodes;--",
    'say "hi',
    "`) DETACH DELETE n //",
    "$where {x} %s :name ?1",
    "line\nbreak\ttab\r\n",
    "\u2028\u2029\ufeff\u200b",
    "e\u0301 is not é",
    "由...组成 的 用户服务器",
    "  edges kept  ",
    "",
    "long " * 20_000,
]
ODD_NAMES = ["it's", "`); DROP", "由...组成", "a.b", "%", "_", "*", "new\nline", " spaced ", "$set", "NULL", "1", "😀"]
METADATA: dict[str, Any] = {
    "tags": {"a": [1]},
    "标签": "模型",
    "with`tick": 1,
    "a.b": {"c d": "x"},
    "$gt": 5,
    "quote'\"": [],
    "deep": {"list": [1, "1", 1.5, True, None, {"x": {}}]},
    "big": 2**53 + 1,
    "small": -0.000123,
    "no": False,
    "nothing": None,
    "empty": "",
}


class Remembering(StoreCase):
    """`remember` and `present`."""

    def test_memory_comes_back_whole(self, room: Room) -> None:
        """Every field survives the store."""
        given = node(
            "the cat sat",
            id="x",
            role="assistant",
            speaker="Ann Lee",
            session="s",
            at=NOW - 5.25,
            expires_at=NOW + 60,
            metadata=METADATA,
            vector=axis(1),
        )
        assert room.remember(given) == [True]
        held = room.get("x")
        assert held.vector is not None
        assert np.array_equal(held.vector, axis(1))
        expected = dataclasses.replace(given, vector=None)
        assert _plain(dataclasses.replace(held, vector=None)) == _plain(expected)
        assert [type(value) for value in held.metadata["deep"]["list"]] == [int, str, float, bool, type(None), dict]

    def test_empty_batch_is_no_op(self, room: Room) -> None:
        """Fault: an empty batch raises."""
        assert room.remember() == []
        room.remember("tea")
        assert room.remember() == []
        assert room.listed() == ["tea"]

    def test_known_id_is_left_alone(self, room: Room) -> None:
        """Identity is immutable: another content under a known id changes nothing."""
        room.remember(node("first", id="x", vector=axis(0)))
        before = room.dump()
        assert room.remember(node("second", id="x", vector=axis(1))) == [False]
        assert room.dump() == before

    def test_id_twice_in_one_batch(self, room: Room) -> None:
        """The first one counts."""
        assert room.remember(node("first", id="x"), node("y"), node("second", id="x")) == [True, True, False]
        assert room.get("x").text == "first"

    def test_same_text_twice_is_two_turns(self, room: Room) -> None:
        """Fault: a repeated text swallows the earlier one."""
        assert room.remember(node("yes", id="a"), node("yes", id="b")) == [True, True]
        assert sorted(room.found("yes")) == ["a", "b"]

    def test_turns_of_a_session_follow_each_other(self, room: Room) -> None:
        """Two sessions mixed in one batch, and a later batch; turns without a session stand alone."""
        room.remember(node("a1", session="a"), node("b1", session="b"), node("a2", session="a"), node("x"), node("y"))
        room.remember(node("b2", session="b", at=NOW - 1000))
        before = {id: room.get(id).previous for id in ("a1", "a2", "b1", "b2", "x", "y")}
        assert before == {"a1": None, "a2": "a1", "b1": None, "b2": "b1", "x": None, "y": None}

    def test_unchanged_turn_does_not_link_again(self, room: Room) -> None:
        """A turn given again keeps its place in the session."""
        room.remember(node("a1", session="a"), node("a2", session="a"))
        room.remember(node("a1", session="a"), node("a3", session="a"))
        assert [room.get(id).previous for id in ("a1", "a2", "a3")] == [None, "a1", "a2"]

    def test_given_previous_is_ignored(self, room: Room) -> None:
        """The store alone says what came before."""
        room.remember(node("a"), node("b", previous="a"), node("c", previous="nobody"))
        assert [room.get(id).previous for id in ("b", "c")] == [None, None]

    def test_expired_id_is_free_again(self, room: Room) -> None:
        """A memory past its time gives up its id, and leaves nothing to the new one."""
        room.remember(node("old", id="x", expires_at=NOW + 10, vector=axis(0)), node("y", vector=axis(1)))
        room.reinforce("x", "y", times=3)
        room.now += 10
        assert room.store.present("room", ["x"], room.now) == {}
        assert room.remember(node("new", id="x", recorded_at=room.now)) == [True]
        held = room.get("x")
        assert (held.text, held.fires, held.uses, held.vector) == ("new", 0, 0, None)
        assert room.links() == {}
        assert room.found("old") == []

    def test_other_model_is_refused_as_a_whole(self, room: Room) -> None:
        """Fault: another model of the same width is mixed in; a batch is stored as a whole or not at all."""
        room.remember(node("tea", vector=axis(0)))
        batch = (node("words only"), node("coffee", vector=axis(1)))
        unchanged(room, lambda: room.remember(*batch, embedder=OTHER_MODEL), EmbedderMismatch)
        assert room.store.identity("room") == MODEL

    def test_words_bind_no_model(self, room: Room) -> None:
        """A memory without a vector does not decide which model the space uses."""
        room.remember("tea")
        assert room.store.identity("room") is None
        room.remember(node("coffee", vector=axis(0)), embedder=OTHER_MODEL)
        assert room.store.identity("room") == OTHER_MODEL

    @pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
    def test_odd_text_round_trips(self, room: Room, text: str) -> None:
        """Fault: NUL, lone surrogates, quotes and the like are lost or break the store."""
        given = node(text, id="x")
        room.remember(given)
        assert room.get("x").text == given.text
        assert room.listed() == ["x"]

    def test_odd_names_are_just_names(self, room: Room) -> None:
        """Fault: a name becomes part of a statement, or acts as a pattern."""
        for name in ODD_NAMES:
            room.remember(node("one", id=name, session=name, speaker=name, role=name))
            room.remember(node("two", id=f"{name}2", session=name))
        for name in ODD_NAMES:
            held = room.get(name)
            assert (held.id, held.session, held.speaker, held.role) == (name, name, name, name)
            assert room.get(f"{name}2").previous == name
            assert room.listed(filters={"speaker": name}) == [name]

    def test_what_was_read_does_not_change(self, room: Room) -> None:
        """A result is a snapshot: what happens later, or what a reader does to it, stays outside."""
        room.remember(node("a", vector=axis(0)), node("b"))
        present, listed = room.get("a"), room.recall("a", axis(0)).items[0].node
        room.reinforce("a", "b")
        assert (present.uses, listed.uses) == (0, 0)
        present.text = listed.text = "spoilt"
        assert room.get("a").text == "a"

    def test_metadata_is_nobody_elses(self, room: Room) -> None:
        """Fault: a reader or giver who changes what is in his hands changes the memory."""
        given: dict[str, Any] = {"tags": ["x"], "deep": {"n": [1]}}
        room.remember(node("a", metadata=given))
        self._spoil(given)
        held: Any = (
            room.get("a").metadata,
            room.recall("a").items[0].node.metadata,
            room.store.select("room", Listing(view=view()))[0].metadata,
            room.store.update("room", "a", patch("a"), NOW).metadata,
        )
        for metadata in held:
            self._spoil(metadata)
        assert room.get("a").metadata == {"tags": ["x"], "deep": {"n": [1]}}
        changed: dict[str, Any] = {"tags": [], "deep": {"n": []}}
        self._spoil(room.store.update("room", "a", patch(metadata=changed), NOW).metadata)
        self._spoil(changed)
        lines = list(room.store.dump("room"))
        room.store.load("copy", lines)
        self._spoil(next(line["episode"]["metadata"] for line in lines if "episode" in line))
        for space in (room, room.beside("copy")):
            assert space.get("a").metadata == {"tags": [], "deep": {"n": []}}

    def _spoil(self, metadata: Any) -> None:
        metadata["tags"].append("spoilt")
        metadata["deep"]["n"].append(9)
        metadata["new"] = 1

    def test_what_was_given_can_change(self, room: Room) -> None:
        """The caller's node is not the store's."""
        given = node("a", session="s")
        room.remember(node("first", session="s"), given)
        assert given.previous is None
        given.text = "spoilt"
        assert room.get("a").text == "a"

    def test_same_id_from_many_threads_is_one_memory(self, store: Store) -> None:
        """Fault: concurrent adds of one thing on an empty store make several."""
        with ThreadPoolExecutor(8) as pool:
            stored = list(pool.map(lambda _: Room(store).remember(node("x"))[0], range(20)))
        assert sum(stored) == 1
        assert Room(store).listed() == ["x"]


def _plain(item: Any) -> dict[str, Any]:
    return {name: dict(value) if name in ("metadata", "terms") else value for name, value in _fields(item)}


def _fields(item: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(item, field.name)) for field in dataclasses.fields(item)]
