"""Forgetting is real: nothing of a forgotten memory is left on any path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helamem_core.config import DEFAULT
from helamem_core.errors import MemoryNotFound
from helamem_core.protocols import Store
from helamem_core.records import Embedded, Listing
from helamem_core.testing.conformance.engine import Engine, StoreCase, unchanged
from helamem_core.testing.fakes import MODEL, NOW, OTHER_MODEL, Room, axis, cue, node, patch, view

CANARY = "xylocanary"


class Forgetting(StoreCase):
    """`forget` and `drop_space`."""

    def test_every_path_agrees(self, room: Room) -> None:
        """Fault: a forgotten item is recalled yet not found by id."""
        room.remember(node("tea", vector=axis(0), session="s"), node("rain", vector=axis(1), session="s"))
        room.reinforce("tea", "rain", times=3)
        report = room.store.forget("room", ["tea"])
        assert (report.ids, report.links) == (("tea",), 1)
        assert room.found("tea", axis(0)) == ["rain"]
        assert room.recall("", axis(1)).items[0].why.lifts == ()
        assert (room.listed(), room.listed(archived=True)) == (["rain"], [])
        assert room.store.present("room", ["tea"], NOW) == {}
        assert room.store.neighbours("room", "rain", NOW, DEFAULT) == []
        for act in (
            lambda: room.store.neighbours("room", "tea", NOW, DEFAULT),
            lambda: room.store.update("room", "tea", patch("x"), NOW),
            lambda: room.store.archive("room", ["tea"], NOW),
            lambda: room.store.restore("room", ["tea"]),
            lambda: room.reinforce("tea"),
            lambda: room.reinforce("rain", cue="tea"),
        ):
            unchanged(room, act, MemoryNotFound)

    def test_unknown_ids_are_passed_over(self, room: Room) -> None:
        """Also when given twice, also none at all."""
        room.remember("a", "b")
        assert room.store.forget("room", ["nobody", "a", "a", "%"]).ids == ("a",)
        assert room.store.forget("room", []).ids == ()
        assert room.listed() == ["b"]

    def test_all_means_all(self, room: Room) -> None:
        """Fault: deleting all clears one page."""
        ids = [f"m{n}" for n in range(2_500)]
        room.remember(*(node("note", id=id) for id in ids))
        assert len(room.store.present("room", ids, NOW)) == len(ids)
        assert len(room.store.forget("room", ids).ids) == len(ids)
        assert (room.listed(), room.found("note")) == ([], [])
        assert room.store.stats("room", NOW, DEFAULT).terms == 0

    def test_links_go_with_their_ends(self, room: Room) -> None:
        """Fault: deleting leaves links with dead ends; what was shared stays."""
        room.remember(*"abcd")
        room.reinforce(*"abc")
        room.reinforce("c", "d", cue="a")
        room.store.forget("room", ["a"])
        assert set(room.links()) == {("ASSOCIATED", "b", "c"), ("ASSOCIATED", "c", "d")}
        assert room.store.check() == []

    def test_session_closes_over_the_gap(self, room: Room) -> None:
        """The turn after an erased one follows the turn before it."""
        room.remember(*(node(text, session="s") for text in "abcde"))
        room.store.forget("room", ["c", "b", "e"])
        room.remember(node("f", session="s"))
        assert [room.get(id).previous for id in "adf"] == [None, "a", "d"]
        room.store.forget("room", ["a"])
        assert room.get("d").previous is None

    def test_cue_that_led_only_there_goes(self, room: Room) -> None:
        """A cue that led to others too stays, without its words."""
        room.remember("a", "b")
        room.reinforce("a", cue=cue("one", axis(1)))
        room.reinforce("a", "b", cue=cue("two", axis(2)))
        room.reinforce("b", cue=cue("three", axis(3)))
        assert room.store.forget("room", ["a"]).cues == 1
        kept = {line["cue"]["id"]: line["cue"]["text"] for line in room.dump() if "cue" in line}
        assert kept == {"cue:two": None, "cue:three": "three"}
        assert set(room.links()) == {("CUED", "cue:two", "b"), ("CUED", "cue:three", "b")}

    def test_cue_asked_again_has_words_again(self, room: Room) -> None:
        """The same question after an erasure brings its own text back, and is one cue still."""
        room.remember("a", "b")
        room.reinforce("a", "b", cue=cue("two", axis(2)))
        room.store.forget("room", ["a"])
        room.reinforce("b", cue=cue("two", axis(2)))
        assert [line["cue"]["text"] for line in room.dump() if "cue" in line] == ["two"]

    def test_cue_can_be_named(self, room: Room) -> None:
        """It goes with its links and its words, and is no memory."""
        room.remember("a", "b")
        room.reinforce("a", "b", cue=cue(f"{CANARY} two", axis(2), id="cue:2"))
        room.reinforce("b", cue=cue("three", axis(3)))
        assert "cue:2" not in room.store.present("room", ["cue:2"], NOW)
        report = room.store.forget("room", ["cue:2", "cue:nobody", "cue:2"])
        assert (report.ids, report.links, report.cues, report.purged) == ((), 2, 1, True)
        assert set(room.links()) == {("ASSOCIATED", "a", "b"), ("CUED", "cue:three", "b")}
        assert CANARY not in json.dumps(room.dump())
        assert room.recall("", axis(2), k=1).items == ()
        assert room.store.check() == []
        unchanged(room, lambda: room.store.neighbours("room", "cue:2", NOW, DEFAULT), MemoryNotFound)

    def test_cue_named_beside_what_it_led_to_counts_once(self, room: Room) -> None:
        """Whether it went with its memories or was dropped by name."""
        room.remember("a", "b")
        room.reinforce("a", cue=cue("one", axis(1)))
        room.reinforce("a", "b", cue=cue("two", axis(2)))
        report = room.store.forget("room", ["cue:one", "a", "cue:two"])
        assert (report.ids, report.links, report.cues) == (("a",), 4, 2)
        assert (room.links(), room.store.stats("room", NOW, DEFAULT).cues) == ({}, 0)

    def test_cue_of_another_space_stays(self, room: Room) -> None:
        """Cues are erased in their space only."""
        beside = room.beside("beside")
        for each in (room, beside):
            each.remember("a")
            each.reinforce("a", cue=cue("one", axis(1)))
        assert room.store.forget("room", ["cue:one"]).cues == 1
        assert set(beside.links()) == {("CUED", "cue:one", "a")}

    def test_id_used_again_is_a_new_memory(self, room: Room) -> None:
        """Nothing of the erased one comes to the new one."""
        room.remember("a", "b")
        room.reinforce("a", "b", times=5)
        room.store.archive("room", ["a"], NOW)
        room.store.forget("room", ["a"])
        room.remember("a")
        held = room.get("a")
        assert (held.fires, held.uses, held.archived_at, room.links()) == (0, 0, None, {})

    def test_canary_is_nowhere(self, engine: Engine, room: Room) -> None:
        """Fault: an erased fact lives on in an index, an export, a cue, a staged vector or the bytes of a file."""
        _bury(room)
        report = room.store.forget("room", ["x"])
        assert report.purged
        assert CANARY not in json.dumps(room.dump())
        assert (room.found(CANARY), room.found("", axis(7))[:1]) == ([], ["rain"])
        assert all(CANARY not in text for text in _texts(room.store))
        room.store.close()
        assert _where(engine.folder, CANARY) == []

    def test_dropped_space_is_gone_altogether(self, engine: Engine, room: Room) -> None:
        """Fault: a reset leaves some table behind."""
        _bury(room)
        beside = room.beside("beside")
        beside.remember("stays")
        report = room.store.drop_space("room")
        assert set(report.ids) == {"x", "rain", "twice"}
        assert (room.store.spaces(), room.store.identity("room")) == (["beside"], None)
        assert [line for line in room.dump() if "helamem" not in line] == []
        assert room.dump()[0]["steps"] == 0
        assert (room.store.check(), beside.listed()) == ([], ["stays"])
        room.remember("twice")
        room.reinforce("twice", event="e")
        assert room.store.stats("room", NOW, DEFAULT).steps == 1
        room.store.close()
        assert _where(engine.folder, CANARY) == []

    def test_unknown_space_can_be_dropped(self, room: Room) -> None:
        """It is a no-op."""
        assert room.store.drop_space("nobody").ids == ()

    def test_update_erases_the_old_text(self, engine: Engine, room: Room) -> None:
        """Fault: a corrected text is still shown beside its neighbours, or kept in the file."""
        room.remember(node(f"the {CANARY} sings", id="x", vector=axis(0)), "rain")
        room.reinforce("x", "rain")
        room.store.update("room", "x", patch("the sparrow sings"), NOW)
        (link,) = room.store.neighbours("room", "rain", NOW, DEFAULT)
        assert link.text == "the sparrow sings"
        assert CANARY not in json.dumps(room.dump())
        room.store.close()
        assert _where(engine.folder, CANARY) == []

    def test_update_erases_the_old_metadata(self, engine: Engine, room: Room) -> None:
        """Fault: what was said in metadata stays in the file when it is replaced."""
        room.remember(node("the bird", id="x", metadata={CANARY: {"note": [f"of {CANARY}"] * 50}}), "rain")
        room.store.update("room", "x", patch(metadata={"note": "nothing"}), NOW)
        assert CANARY not in json.dumps(room.dump())
        room.store.close()
        assert _where(engine.folder, CANARY) == []


class Updating(StoreCase):
    """`update`: content changes, identity does not."""

    def test_place_and_links_stay(self, room: Room) -> None:
        """Session, order, uses and learned links outlive a new text."""
        room.remember(node("a", session="s"), node("b", session="s", speaker="Ann"), node("c", session="s"))
        room.reinforce("a", "b")
        links, before = room.links(), room.get("b")
        after = room.store.update("room", "b", patch("new words", vector=None), NOW + 9)
        assert after.text == "new words"
        for name in ("id", "session", "speaker", "previous", "at", "recorded_at", "fires", "uses", "metadata"):
            assert getattr(after, name) == getattr(before, name)
        assert room.get("c").previous == "b"
        assert room.links() == links

    def test_fields_not_named_stay(self, room: Room) -> None:
        """Metadata and expiry change alone, and `None` clears an expiry."""
        room.remember(node("a", vector=axis(0), metadata={"x": 1}, expires_at=NOW + 5))
        room.store.update("room", "a", patch(metadata={"y": 2}), NOW)
        held = room.get("a")
        assert (dict(held.metadata), held.expires_at, held.text) == ({"y": 2}, NOW + 5, "a")
        assert held.vector is not None
        room.store.update("room", "a", patch(expires_at=None), NOW)
        room.now += 100
        assert (dict(room.get("a").metadata), room.get("a").expires_at) == ({"y": 2}, None)

    def test_expired_or_unknown_is_not_found(self, room: Room) -> None:
        """There is nothing to update."""
        room.remember(node("a", expires_at=NOW))
        for id in ("a", "nobody"):
            with pytest.raises(MemoryNotFound):
                room.store.update("room", id, patch("x"), NOW)

    def test_similarity_links_go_with_the_old_text(self, room: Room) -> None:
        """They belonged to the old vector."""
        room.remember(node("a", vector=axis(0)), node("b", vector=axis(0)), node("c", vector=axis(0)))
        room.store.link_similar("room", NOW, DEFAULT)
        room.store.update("room", "a", patch(metadata={"x": 1}), NOW)
        assert len(room.links()) == 3
        room.store.update("room", "a", patch("new", vector=axis(1)), NOW)
        assert set(room.links()) == {("SIMILAR", "b", "c")}


def _bury(room: Room) -> None:
    """Hide the canary everywhere a store might keep it."""
    hidden = {"note": CANARY, CANARY: 1}
    room.remember(
        node(
            f"the {CANARY} sings",
            id="x",
            speaker=f"Dr {CANARY}",
            session=f"{CANARY}-1",
            metadata=hidden,
            vector=axis(7),
        ),
        node("rain", vector=axis(8)),
        node("twice"),
    )
    room.reinforce("x", "rain", cue=cue(f"where is the {CANARY}", axis(9), id="cue:1"), event="e")
    room.reinforce("x", cue=cue(f"who is {CANARY}", id="cue:2"))
    staged = [Embedded("episode", "x", f"the {CANARY} sings", axis(1))]
    room.store.stage("room", OTHER_MODEL, staged)
    room.store.update("room", "twice", patch("no such bird"), NOW)
    room.store.archive("room", ["twice"], NOW)
    room.found(CANARY, axis(7))


def _texts(store: Store) -> list[str]:
    listed = [str(item) for item in store.select("room", Listing(view=view()))]
    pending = [item.text for item in store.pending("room", 99) + store.unstaged("room", MODEL, 99)]
    return [*listed, *pending, *store.spaces(), str(store.stats("room", NOW, DEFAULT))]


def _where(folder: Path | None, word: str) -> list[str]:
    if folder is None:
        return []
    encodings = [word.encode("utf-8"), word.encode("utf-16-le")]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(code in path.read_bytes().lower() for code in encodings)]
