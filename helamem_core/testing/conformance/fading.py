"""Leaving the active graph and coming back; links of near neighbours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helamem_core.config import DAY, DEFAULT, Forgetting, Linking, Plasticity
from helamem_core.errors import MemoryNotFound
from helamem_core.records import Embedded
from helamem_core.testing.conformance.engine import StoreCase, about, unchanged
from helamem_core.testing.fakes import NOW, OTHER_MODEL, Room, axis, cue, near, node, patch

LINKING = Linking(neighbours=2, threshold=0.5, scale=0.3)


class Archiving(StoreCase):
    """`archive` and `restore`."""

    def test_archived_is_out_of_sight_and_comes_back_whole(self, room: Room) -> None:
        """It is not recalled, spreads nothing and is listed apart; `restore` brings it back with its links."""
        room.remember(node("a", vector=axis(0)), node("b", vector=axis(1)))
        room.reinforce("a", "b", times=5)
        before = room.dump()
        assert room.store.archive("room", ["a"], NOW + 1) == ["a"]
        assert room.found("a b", axis(0)) == ["b"]
        assert room.recall("a b", axis(0)).items[0].why.lifts == ()
        assert (room.listed(), room.listed(archived=True)) == (["b"], ["a"])
        assert room.get("a").archived_at == NOW + 1
        stats = room.store.stats("room", NOW, DEFAULT)
        assert (stats.memories, stats.archived, stats.terms) == (1, 1, 1)
        assert room.store.restore("room", ["a"]) == ["a"]
        assert room.dump() == before

    def test_only_what_changed_is_named(self, room: Room) -> None:
        """Again is a no-op, the first time stays; an id given twice counts once."""
        room.remember("a", "b")
        assert room.store.archive("room", ["a"], NOW) == ["a"]
        assert room.store.archive("room", ["b", "a", "b"], NOW + 1) == ["b"]
        assert room.get("a").archived_at == NOW
        assert room.store.restore("room", ["b", "b"]) == ["b"]
        assert room.store.restore("room", ["b"]) == []

    def test_unknown_changes_nothing(self, room: Room) -> None:
        """All of them or none."""
        room.remember("a", "b")
        room.store.archive("room", ["b"], NOW)
        unchanged(room, lambda: room.store.archive("room", ["a", "nobody"], NOW), MemoryNotFound)
        unchanged(room, lambda: room.store.restore("room", ["b", "nobody"]), MemoryNotFound)
        with pytest.raises(MemoryNotFound) as caught:
            room.store.archive("room", ["x", "nobody", "x"], NOW)
        assert caught.value.ids == ("x", "nobody")

    def test_archived_turn_keeps_its_place(self, room: Room) -> None:
        """A session goes on after it."""
        room.remember(node("a", session="s"))
        room.store.archive("room", ["a"], NOW)
        room.remember(node("b", session="s"))
        assert room.get("b").previous == "a"


class Fading(StoreCase):
    """`fade`."""

    def test_weak_old_unused_memories_are_archived(self, room: Room) -> None:
        """Each of the three conditions is needed."""
        room = room.tuned(forgetting=Forgetting(weak=0.1, age=30 * DAY), plasticity=Plasticity(rate=0.1, decay=0.0))
        old = NOW - 31 * DAY
        room.remember(*(node(text, recorded_at=old) for text in ("gone", "linked", "used", "partner")), "young")
        room.remember(node("edge", recorded_at=NOW - 30 * DAY))
        room.reinforce("used")
        room.reinforce("partner", cue="linked")
        report = room.store.fade("room", NOW, room.config)
        assert (report.archived, report.expired) == (("gone",), ())
        assert room.listed(archived=True) == ["gone"]
        assert room.store.restore("room", ["gone"]) == ["gone"]

    def test_similar_memories_hold_each_other(self, room: Room) -> None:
        """A similarity link of weight counts like a learned one."""
        old = NOW - 99 * DAY
        room.remember(*(node(text, recorded_at=old, vector=axis(0)) for text in "ab"), node("c", recorded_at=old))
        room.store.link_similar("room", NOW, DEFAULT)
        assert room.store.fade("room", NOW, DEFAULT).archived == ("c",)

    def test_expired_is_erased(self, room: Room) -> None:
        """With its links; archived ones too."""
        room.remember(node("a", expires_at=NOW + 1), "b", node("c", expires_at=NOW + 1), node("d", expires_at=NOW + 2))
        room.reinforce(*"abcd")
        room.store.archive("room", ["c"], NOW)
        report = room.store.fade("room", NOW + 1, room.config)
        assert report.expired == ("a", "c")
        assert set(room.links()) == {("ASSOCIATED", "b", "d")}
        assert [line["episode"]["id"] for line in room.dump() if "episode" in line] == ["b", "d"]

    def test_dead_links_go_and_weights_are_written_back(self, room: Room) -> None:
        """What is read is the same before and after; the stored weight is the true one."""
        room = room.tuned(plasticity=Plasticity(rate=0.1, decay=0.5, floor=0.03))
        room.remember(*"abcd")
        room.reinforce("a", "b", times=8)
        room.reinforce("c", "d")
        room.reinforce("c", times=2)
        room.reinforce("a")
        before = room.links()
        assert room.store.fade("room", NOW, room.config).pruned == 1
        assert room.links() == about(before)
        (link,) = [line["link"] for line in room.dump() if "link" in line]
        assert link["weight"] == about(before["ASSOCIATED", "a", "b"])

    def test_cues_that_lead_nowhere_go(self, room: Room) -> None:
        """Their links died or were cut; a staged vector goes with them. Cues that lead somewhere stay."""
        room = room.tuned(plasticity=Plasticity(rate=0.1, cue_rate=0.1, decay=0.5, floor=0.03, max_degree=1))
        room.remember("a", "b")
        room.reinforce("a", cue=cue("dies", axis(1)))
        room.reinforce("a", times=2)
        room.reinforce("b", cue=cue("cut", axis(2)))
        room.reinforce("b", cue=cue("lives", axis(3)), times=2)
        rows = [Embedded("cue", f"cue:{text}", text, axis(4)) for text in ("dies", "cut", "lives")]
        room.store.stage("room", OTHER_MODEL, rows)
        assert {key[1] for key in room.links()} == {"cue:lives"}
        assert room.store.stats("room", NOW, room.config).cues == 3
        assert room.store.fade("room", NOW, room.config).pruned == 1
        assert [line["cue"]["text"] for line in room.dump() if "cue" in line] == ["lives"]
        assert (room.store.adopt("room", OTHER_MODEL), room.store.check()) == (1, [])

    def test_again_changes_nothing(self, room: Room) -> None:
        """Fault: maintenance changes something in each run."""
        room.remember(*(node(text, recorded_at=NOW - 99 * DAY, vector=axis(0)) for text in "abc"), "d")
        room.reinforce("a", "d")
        room.store.link_similar("room", NOW, DEFAULT)
        room.store.fade("room", NOW, DEFAULT)
        before = room.dump()
        report = room.store.fade("room", NOW, DEFAULT)
        assert (report.archived, report.expired, report.pruned) == ((), (), 0)
        assert room.dump() == before

    def test_fade_after_forget(self, room: Room) -> None:
        """Fault: pruning and summarising use dead ids."""
        room.remember(*(node(text, session="s", vector=axis(0)) for text in "abcd"))
        room.reinforce(*"abcd", cue="a")
        room.store.link_similar("room", NOW, DEFAULT)
        room.store.forget("room", ["b", "c"])
        room.store.fade("room", NOW, DEFAULT)
        room.store.link_similar("room", NOW, DEFAULT)
        assert room.store.check() == []
        assert {end for key in room.links() for end in key[1:]} == {"a", "d"}


class Linked(StoreCase):
    """`link_similar`."""

    def test_near_neighbours_are_linked(self, room: Room) -> None:
        """Above the threshold, at most so many each, weight = scale * cosine; unlike ones and waiting ones not."""
        room = room.tuned(linking=LINKING)
        room.remember(
            node("a", vector=axis(0)),
            node("b", vector=near(axis(0), 0.9, 1)),
            node("c", vector=near(axis(0), 0.4, 2)),
            node("d"),
        )
        assert room.store.link_similar("room", NOW, room.config) == 1
        assert room.links() == {("SIMILAR", "a", "b"): about(0.3 * 0.9)}

    def test_again_adds_nothing(self, room: Room) -> None:
        """Fault: maintenance adds links in each run."""
        room = room.tuned(linking=LINKING)
        room.remember(*(node(f"m{n}", vector=near(axis(0), 0.95, 1 + n)) for n in range(8)))
        made = room.store.link_similar("room", NOW, room.config)
        links = room.links()
        assert (made, room.store.link_similar("room", NOW, room.config)) == (len(links), 0)
        assert room.links() == links

    def test_links_that_were_there_keep_their_beginning(self, room: Room) -> None:
        """The weight follows the vectors; `since` says when the link was first made."""
        room.remember(node("a", vector=axis(0)), node("b", vector=near(axis(0), 0.9, 1)), "c")
        room.store.link_similar("room", NOW, room.config)
        room.embed({"c": axis(0)})
        assert room.store.link_similar("room", NOW + 9, room.config) == 2
        links = {line["link"]["target"]: line["link"] for line in room.dump() if "link" in line}
        assert (links["b"]["since"], links["b"]["last_at"]) == (NOW, NOW + 9)
        found = {n.id: n.since for n in room.store.neighbours("room", "a", NOW, room.config)}
        assert {id: since.timestamp() for id, since in found.items() if since} == {"b": NOW, "c": NOW + 9}

    def test_each_proposes_its_nearest(self, room: Room) -> None:
        """Equal ones by id: four alike under one neighbour each."""
        room = room.tuned(linking=replace(LINKING, neighbours=1))
        room.remember(*(node(text, vector=axis(0)) for text in "dcba"))
        room.store.link_similar("room", NOW, room.config)
        assert set(room.links()) == {("SIMILAR", "a", other) for other in "bcd"}

    def test_links_follow_the_memories(self, room: Room) -> None:
        """A link whose reason is gone goes with the next run; archived memories have no part."""
        room = room.tuned(linking=LINKING)
        room.remember(*(node(text, vector=axis(0)) for text in "abc"))
        room.store.link_similar("room", NOW, room.config)
        room.store.archive("room", ["c"], NOW)
        assert room.store.link_similar("room", NOW, room.config) == 0
        assert set(room.links()) == {("SIMILAR", "a", "b")}
        room.store.update("room", "b", patch("b", vector=axis(3)), NOW)
        assert room.store.link_similar("room", NOW, room.config) == 0
        assert room.links() == {}

    def test_they_do_not_fade_with_use(self, room: Room) -> None:
        """Similarity is no habit."""
        room.remember(*(node(text, vector=axis(0)) for text in "ab"))
        room.store.link_similar("room", NOW, DEFAULT)
        before = room.links()["SIMILAR", "a", "b"]
        room.reinforce("a", times=50)
        assert room.links()["SIMILAR", "a", "b"] == before
