"""The cue fires too: a later, similar one brings back what the earlier one needed."""

from __future__ import annotations

from dataclasses import replace

from helamem_core.config import DEFAULT, Limits, Plasticity, Spreading
from helamem_core.errors import MemoryNotFound
from helamem_core.testing.conformance.engine import StoreCase, about, unchanged
from helamem_core.testing.fakes import NOW, Room, axis, cue, near, node

PLAIN = Plasticity(rate=0.1, cue_rate=0.2, decay=0.1, floor=0.001)
CUED = Spreading(cued=0.5, cue_threshold=0.6, cues=10, cue_fan=1.0, next=0.0, associated=0.0)


class Cues(StoreCase):
    """`reinforce` with a cue, and what it does to `recall`."""

    def test_turn_as_cue_leads_to_what_it_used(self, room: Room) -> None:
        """The link goes out from the cue; the cue fires but is not used."""
        room = room.tuned(plasticity=PLAIN)
        room.remember("question", "a", "b")
        report = room.reinforce("a", "b", cue="question")
        assert (report.associated, report.cued, report.cue) == (1, 2, "question")
        links = {n.id: n for n in room.store.neighbours("room", "question", NOW, room.config)}
        assert {id: (n.kind, n.outgoing, n.weight) for id, n in links.items()} == {
            "a": ("CUED", True, about(0.2)),
            "b": ("CUED", True, about(0.2)),
        }
        back = [n for n in room.store.neighbours("room", "a", NOW, room.config) if n.kind == "CUED"]
        assert [(n.id, n.outgoing) for n in back] == [("question", False)]
        held = room.get("question")
        assert (held.fires, held.uses, held.last_used_at) == (1, 0, None)

    def test_cue_among_the_used_is_not_linked_to_itself(self, room: Room) -> None:
        """It fires once."""
        room.remember("question", "a")
        assert room.reinforce("question", "a", cue="question").cued == 1
        assert room.get("question").fires == 1
        assert all(source != target for _, source, target in room.links())

    def test_cue_of_its_own_is_no_memory(self, room: Room) -> None:
        """It is a node without recall, list or count among memories; its links can be seen."""
        room.remember(node("a", vector=axis(0)))
        asked = cue("where is it", axis(3))
        assert room.reinforce("a", cue=asked).cue == asked.id
        assert room.found("where is it", axis(3)) == ["a"]
        assert room.listed() == ["a"]
        assert room.store.present("room", [asked.id], NOW) == {}
        stats = room.store.stats("room", NOW, room.config)
        assert (stats.memories, stats.cues, stats.links["CUED"]) == (1, 1, 1)
        (link,) = room.store.neighbours("room", asked.id, NOW, room.config)
        assert (link.id, link.kind, link.outgoing) == ("a", "CUED", True)
        (back,) = room.store.neighbours("room", "a", NOW, room.config)
        assert (back.id, back.text, back.outgoing) == (asked.id, "where is it", False)

    def test_similar_cue_brings_it_back(self, room: Room) -> None:
        """The lift is rate * trace * weight / links with trace ((cos - t) / (1 - t))^2."""
        room = room.tuned(plasticity=PLAIN, spreading=CUED)
        room.remember(node("a", vector=axis(0)), node("b", vector=axis(1)))
        room.reinforce("a", cue=cue("asked", axis(5)), times=3)
        lifts = {item.node.id: item.why.lifts for item in room.recall("", near(axis(5), 0.8, 6)).items}
        (lift,) = lifts["a"]
        assert (lift.kind, lift.source) == ("CUED", "cue:asked")
        assert lift.amount == about(0.5 * ((0.8 - 0.6) / 0.4) ** 2 * 0.6)
        assert lifts["b"] == ()

    def test_cue_vector_alone_brings_it_back(self, room: Room) -> None:
        """Also where memories are looked up by words only, and none of them has a vector."""
        room.remember("tea", "rain")
        room.reinforce("rain", cue=cue("what falls", axis(5)))
        for vector in (None, axis(0)):
            items = {item.node.id: item for item in room.recall("tea", vector, cue=axis(5)).items}
            assert [lift.kind for lift in items["rain"].why.lifts] == ["CUED"]
            assert items["tea"].why.lexical > 0

    def test_cue_of_many_lends_each_less(self, room: Room) -> None:
        """What a cue has is shared among its links."""
        room = room.tuned(plasticity=PLAIN, spreading=CUED)
        room.remember(*"abcd")
        room.reinforce("a", cue=cue("narrow", axis(5)))
        room.reinforce("a", "b", "c", "d", cue=cue("wide", axis(6)))
        (narrow,), (wide,) = (room.recall("", axis(n), k=1).items[0].why.lifts for n in (5, 6))
        assert narrow.amount / narrow.weight == about(4 * wide.amount / wide.weight)

    def test_unlike_cue_does_not(self, room: Room) -> None:
        """Below the threshold an earlier cue is silent."""
        room = room.tuned(spreading=CUED)
        room.remember(node("a", vector=axis(0)))
        room.reinforce("a", cue=cue("asked", axis(5)), times=5)
        assert all(not item.why.lifts for item in room.recall("", near(axis(5), 0.55, 6)).items)

    def test_turns_as_cues_answer_like_others(self, room: Room) -> None:
        """A turn that served as cue lifts what it led to, but not while it is archived."""
        room = room.tuned(spreading=CUED)
        room.remember(node("question", vector=axis(5)), node("a"))
        room.reinforce("a", cue="question", times=3)
        found = {item.node.id: item for item in room.recall("", axis(5)).items}
        assert (found["a"].path, found["a"].why.lifts[0].source) == ("associative", "question")
        room.store.archive("room", ["question"], NOW)
        assert room.found("", axis(5)) == []

    def test_turns_as_cues_are_of_their_time(self, room: Room) -> None:
        """One said after `as_of` does not answer; `since`, `until` and filters are about results, not about cues."""
        room = room.tuned(spreading=CUED)
        room.remember(node("question", vector=axis(5), at=NOW - 10), node("a", at=NOW - 20, metadata={"x": 1}))
        room.reinforce("a", cue="question", times=3)
        for bounds in ({"as_of": NOW - 10}, {"until": NOW - 15}, {"since": NOW - 30, "until": NOW - 20}):
            assert "a" in room.found("", axis(5), **bounds), bounds
        assert room.found("", axis(5), filters={"x": 1}) == ["a"]
        assert room.found("", axis(5), as_of=NOW - 11) == []

    def test_only_the_most_similar_cues_count(self, room: Room) -> None:
        """`cues` bounds how many; equal ones go by id."""
        room = room.tuned(spreading=replace(CUED, cues=2))
        room.remember(*"abc")
        for target, cosine in (("a", 0.8), ("b", 0.9), ("c", 0.8)):
            room.reinforce(target, cue=cue(target, near(axis(5), cosine, {"a": 6, "b": 7, "c": 8}[target])))
        assert sorted(room.found("", axis(5))) == ["a", "b"]

    def test_completed_vector_leaves_the_cue_alone(self, room: Room) -> None:
        """Earlier cues are compared with the raw query, memories with the completed one."""
        room = room.tuned(spreading=CUED)
        room.remember(node("a", vector=axis(0)), node("b"))
        room.reinforce("b", cue=cue("asked", axis(5)), times=3)
        assert set(room.found("", axis(0), cue=axis(5))) == {"a", "b"}
        assert room.found("", axis(5), cue=axis(0)) == ["a"]

    def test_near_identical_cues_are_one(self, room: Room) -> None:
        """A cue as similar as `cue_merge` joins the earlier one, which keeps its words; others are new."""
        room = room.tuned(limits=Limits(cue_merge=0.98))
        room.remember("a")
        first = room.reinforce("a", cue=cue("where is it", axis(5))).cue
        assert room.reinforce("a", cue=cue("where's it", near(axis(5), 0.99, 6))).cue == first
        assert room.reinforce("a", cue=cue("why", near(axis(5), 0.97, 6))).cue == "cue:why"
        assert room.store.stats("room", NOW, DEFAULT).cues == 2
        kept = {line["cue"]["id"]: line["cue"]["text"] for line in room.dump() if "cue" in line}
        assert kept == {"cue:where is it": "where is it", "cue:why": "why"}

    def test_cue_without_vector_waits_for_it(self, room: Room) -> None:
        """It is listed as pending, and answers once it has its vector."""
        room = room.tuned(spreading=CUED)
        room.remember(node("a", vector=axis(0)))
        room.reinforce("a", cue=cue("asked"), times=2)
        assert [(item.kind, item.text) for item in room.store.pending("room", 9)] == [("cue", "asked")]
        assert room.store.stats("room", NOW, DEFAULT).unembedded == 1
        assert not room.recall("", axis(5)).items[0].why.lifts
        assert room.embed({"asked": axis(5)}) == 1
        assert room.recall("", axis(5)).items[0].why.lifts[0].source == "cue:asked"

    def test_longest_unused_cue_goes(self, room: Room) -> None:
        """`max_cues` bounds them; a used one stays."""
        room = room.tuned(limits=Limits(max_cues=2))
        room.remember("a")
        for text, number in (("one", 1), ("two", 2), ("one", 1), ("three", 3)):
            room.now += 1
            room.reinforce("a", cue=cue(text, axis(number)))
        assert {line["cue"]["text"] for line in room.dump() if "cue" in line} == {"one", "three"}
        assert {key[1] for key in room.links()} == {"cue:one", "cue:three"}
        assert room.store.check() == []

    def test_cue_degree_is_capped_at_both_ends(self, room: Room) -> None:
        """A cue keeps its strongest targets, a memory its strongest cues."""
        room = room.tuned(plasticity=replace(PLAIN, max_degree=2, decay=0.0))
        room.remember(*"abc")
        room.reinforce("a", "b", "c", cue=cue("wide", axis(1)))
        assert {key[1:] for key in room.links() if key[0] == "CUED"} == {("cue:wide", "a"), ("cue:wide", "b")}
        for number, text in enumerate(("x", "y", "z")):
            room.reinforce("c", cue=cue(text, axis(4 + number)))
        assert {key[1] for key in room.links() if key[0] == "CUED" and key[2] == "c"} == {"cue:x", "cue:y"}

    def test_no_cue_takes_part_without_a_rate(self, room: Room) -> None:
        """With `cue_rate` 0 (paper) no node is made, nothing but the used memories fires, and no cue is reported."""
        room = room.tuned(plasticity=replace(PLAIN, cue_rate=0.0))
        room.remember("question", "a", "b")
        for asked in ("question", cue("asked", axis(5))):
            report = room.reinforce("a", "b", cue=asked)
            assert (report.applied, report.associated, report.cued, report.cue) == (True, 1, 0, None)
        assert {key[0] for key in room.links()} == {"ASSOCIATED"}
        assert [room.get(id).fires for id in ("question", "a", "b")] == [0, 2, 2]
        assert room.store.stats("room", NOW, room.config).cues == 0
        unchanged(room, lambda: room.reinforce("a", cue="nobody"), MemoryNotFound)

    def test_cue_links_fade_like_others(self, room: Room) -> None:
        """When the cue or the memory fires without the other."""
        room = room.tuned(plasticity=PLAIN)
        room.remember("question", "a", "b")
        room.reinforce("a", cue="question")
        room.reinforce("a")
        room.reinforce("b", cue="question")
        assert room.links()["CUED", "question", "a"] == about(0.2 * 0.9**2)
