"""How links are learned, fade and are bounded."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations

import pytest

from helamem_core.config import DEFAULT, PAPER, Limits, Plasticity
from helamem_core.errors import MemoryNotFound
from helamem_core.protocols import Store
from helamem_core.testing.conformance.engine import Engine, StoreCase, about, unchanged
from helamem_core.testing.fakes import NOW, Room, node

PLAIN = Plasticity(rate=0.1, cue_rate=0.2, decay=0.1, floor=0.001, cap=1.0)
"""Round numbers for examples by hand."""


class Reinforcing(StoreCase):
    """`reinforce` among memories."""

    def test_what_fires_together_is_linked(self, room: Room) -> None:
        """All pairs, once, with the rate as weight; both ends see the link."""
        room = room.tuned(plasticity=PLAIN)
        room.remember("c", "a", "b", "d")
        report = room.reinforce("c", "a", "b")
        assert (report.applied, report.associated, report.cued, report.cue) == (True, 3, 0, None)
        assert room.links() == {("ASSOCIATED", *pair): about(0.1) for pair in combinations("abc", 2)}
        for one, other in (("a", "b"), ("b", "a")):
            link = next(n for n in room.store.neighbours("room", one, NOW, room.config) if n.id == other)
            assert (link.kind, link.outgoing, link.count) == ("ASSOCIATED", True, 1)
            assert (link.weight, link.text) == (about(0.1), other)

    def test_one_memory_alone_makes_no_link(self, room: Room) -> None:
        """It fires and counts as used."""
        room.remember("a")
        assert room.reinforce("a").associated == 0
        held = room.get("a")
        assert (held.fires, held.uses, held.last_used_at, room.links()) == (1, 1, NOW, {})

    def test_weights_add_up_to_the_cap(self, room: Room) -> None:
        """Firing together adds the rate, up to the cap; the count goes on."""
        room = room.tuned(plasticity=replace(PLAIN, cap=0.35, temporal_weight=0.35))
        room.remember("a", "b")
        seen = []
        for _ in range(5):
            room.reinforce("a", "b")
            seen.append(room.links()["ASSOCIATED", "a", "b"])
        assert seen == about([0.1, 0.2, 0.3, 0.35, 0.35])
        assert room.store.neighbours("room", "a", NOW, room.config)[0].count == 5

    def test_link_fades_when_an_end_fires_alone(self, room: Room) -> None:
        """By the clock of fires: each end's firing without the other fades it, other traffic does not."""
        room = room.tuned(plasticity=PLAIN)
        room.remember("a", "b", "c", "d")
        room.reinforce("a", "b", times=4)
        room.reinforce("c", "d", times=50)
        assert room.links()["ASSOCIATED", "a", "b"] == about(0.4)
        room.reinforce("a", "c")
        room.reinforce("b")
        assert room.links()["ASSOCIATED", "a", "b"] == about(0.4 * 0.9**2)
        room.reinforce("b", "a")
        assert room.links()["ASSOCIATED", "a", "b"] == about(0.4 * 0.9**2 + 0.1)

    def test_paper_fades_every_link_at_every_step(self, room: Room) -> None:
        """By the clock of steps, also those that have nothing to do with it."""
        room = room.tuned(plasticity=replace(PLAIN, clock="steps"))
        room.remember("a", "b", "c", "d")
        room.reinforce("a", "b", times=2)
        room.reinforce("c", "d", times=3)
        assert room.links()["ASSOCIATED", "a", "b"] == about((0.1 * 0.9 + 0.1) * 0.9**3)

    def test_dead_link_begins_anew(self, room: Room) -> None:
        """Below the floor a link counts nowhere, and firing together makes a new one."""
        room = room.tuned(plasticity=replace(PLAIN, decay=0.5, floor=0.03))
        room.remember("a", "b", "c")
        room.reinforce("a", "b")
        room.reinforce("a", times=2)
        assert ("ASSOCIATED", "a", "b") not in room.links()
        assert room.store.neighbours("room", "a", NOW, room.config) == []
        assert room.store.stats("room", NOW, room.config).links["ASSOCIATED"] == 0
        room.now += 5
        room.reinforce("a", "b")
        (link,) = room.store.neighbours("room", "a", room.now, room.config)
        assert (link.weight, link.count, link.since) == (about(0.1), 1, link.last_at)

    def test_link_that_fires_as_it_would_die_lives_on(self, room: Room) -> None:
        """The paper's rule decays, strengthens, and only then prunes: .05 * .5 is below the floor, plus .1 is not."""
        room = room.tuned(plasticity=replace(PLAIN, clock="steps", decay=0.5, floor=0.03))
        room.remember("a", "b", "c")
        room.reinforce("a", "b")
        room.reinforce("c")
        room.reinforce("a", "b")
        (link,) = room.store.neighbours("room", "a", NOW, room.config)
        assert (link.weight, link.count) == (about(0.05 * 0.5 + 0.1), 2)

    def test_hundred_memories_are_one_quick_event(self, room: Room) -> None:
        """The default `Limits.event_ids`: every pair is linked, and the degrees are held."""
        ids = [f"m{n:03}" for n in range(DEFAULT.limits.event_ids)]
        room.remember(*(node("note", id=id) for id in ids))
        assert room.reinforce(*ids, times=2).associated == len(ids) * (len(ids) - 1) // 2
        for id in (ids[0], ids[-1]):
            assert len(room.store.neighbours("room", id, NOW, room.config)) <= room.config.plasticity.max_degree

    def test_event_is_applied_once(self, room: Room) -> None:
        """The same event id again changes nothing, even with other memories; without an id each counts."""
        room.remember("a", "b", "c")
        assert room.reinforce("a", "b", event="e").applied
        before = room.dump()
        report = room.reinforce("a", "c", event="e")
        assert (report.applied, report.associated) == (False, 0)
        assert room.dump() == before
        room.reinforce("a", "b", times=2)
        assert room.store.stats("room", NOW, DEFAULT).steps == 3

    def test_event_ids_are_exact_and_of_their_space(self, room: Room) -> None:
        """No case folding, no patterns, no other space's events."""
        room.remember("a", "b")
        other = room.beside("other")
        other.remember("a", "b")
        applied = [room.reinforce("a", "b", event=event).applied for event in ("e", "E", "e ", "%", "_")]
        assert applied == [True] * 5
        assert other.reinforce("a", "b", event="e").applied

    def test_event_is_remembered_for_its_time(self, room: Room) -> None:
        """At the end of the retention it still counts, after it no more."""
        room = room.tuned(limits=Limits(event_retention=100.0))
        room.remember("a", "b")
        room.reinforce("a", "b", event="e")
        room.now += 100
        assert not room.reinforce("a", "b", event="e").applied
        room.now += 0.5
        assert room.reinforce("a", "b", event="e").applied

    @pytest.mark.parametrize("ids", [("a", "nobody"), ("nobody",), ("a", "expired")])
    def test_unknown_memory_changes_nothing(self, room: Room, ids: tuple[str, ...]) -> None:
        """The error names what is missing; clocks, events and links stay."""
        room.remember("a", node("expired", expires_at=NOW), "b")
        unchanged(room, lambda: room.reinforce(*ids, event="e"), MemoryNotFound)
        with pytest.raises(MemoryNotFound) as caught:
            room.reinforce(*ids)
        assert caught.value.ids == (ids[-1],)
        with pytest.raises(MemoryNotFound) as caught:
            room.reinforce(*ids, cue=ids[-1])
        assert caught.value.ids == (ids[-1],)
        assert room.reinforce("a", "b", event="e").applied

    def test_unknown_turn_as_cue_changes_nothing(self, room: Room) -> None:
        """A cue named by id must be there."""
        room.remember("a", "b")
        unchanged(room, lambda: room.reinforce("a", "b", cue="nobody"), MemoryNotFound)

    def test_degree_is_capped(self, room: Room) -> None:
        """The weakest links of a node go; equal ones by id, the last first."""
        room = room.tuned(plasticity=replace(PLAIN, max_degree=2, decay=0.0))
        room.remember("hub", "a", "b", "c", "d")
        room.reinforce("hub", "b", times=3)
        for other in ("c", "a", "d"):
            room.reinforce("hub", other)
        assert set(room.links()) == {("ASSOCIATED", "b", "hub"), ("ASSOCIATED", "a", "hub")}
        room.reinforce("hub", "d", times=1)
        assert ("ASSOCIATED", "d", "hub") not in room.links()

    def test_both_ends_are_judged_before_a_link_goes(self, room: Room) -> None:
        """One event of four memories under a degree of two leaves the cycle that both ends agree on."""
        room = room.tuned(plasticity=replace(PLAIN, max_degree=2, decay=0.0))
        room.remember("a", "b", "c", "d")
        room.reinforce("a", "b", "c", "d")
        assert {key[1:] for key in room.links()} == {("a", "b"), ("a", "c"), ("b", "c")}

    def test_temporal_link_of_the_paper(self, room: Room) -> None:
        """Under PAPER consecutive turns start with an association of .5 that fades; under DEFAULT they have none."""
        paper = Room(room.store, "paper", PAPER)
        for each in (room, paper):
            each.remember(node("z", session="s"), node("a", session="s"), node("x"))
        assert room.links() == {}
        assert paper.links() == {("ASSOCIATED", "a", "z"): 0.5}
        paper.reinforce("x")
        assert paper.links()["ASSOCIATED", "a", "z"] == about(0.5 * 0.995)
        paper.reinforce("a", "z")
        assert paper.links()["ASSOCIATED", "a", "z"] == about(0.5 * 0.995**2 + 0.01)

    def test_temporal_links_count_towards_the_degree(self, room: Room) -> None:
        """Fault: turns that only follow each other grow hubs without bound. The ends are judged once a batch."""
        room = room.tuned(plasticity=replace(PLAIN, max_degree=1, temporal="associated"))
        room.remember(*(node(text, session="s") for text in "abc"))
        assert set(room.links()) == {("ASSOCIATED", "a", "b")}
        for text in "de":
            room.remember(node(text, session="s"))
        assert set(room.links()) == {("ASSOCIATED", "a", "b"), ("ASSOCIATED", "c", "d")}

    def test_temporal_link_goes_before_a_stronger_one(self, room: Room) -> None:
        """The new link of a turn that has learned more is the weakest of it."""
        room = room.tuned(plasticity=replace(PLAIN, max_degree=1, temporal="associated", temporal_weight=0.05))
        room.remember("x", node("a", session="s"))
        room.reinforce("x", "a")
        room.remember(node("b", session="s"))
        assert set(room.links()) == {("ASSOCIATED", "a", "x")}

    def test_used_link_outlives_other_traffic(self, room: Room) -> None:
        """Under DEFAULT what was used 20 times is there after 200 other events."""
        room.remember("a", "b", "c", "d")
        room.reinforce("a", "b", times=20)
        before = room.links()["ASSOCIATED", "a", "b"]
        room.reinforce("c", "d", times=200)
        assert room.links()["ASSOCIATED", "a", "b"] == about(before)

    def test_many_memories_at_once(self, room: Room) -> None:
        """Fifty memories make 1,225 links."""
        room.remember(*(f"m{n:02}" for n in range(50)))
        assert room.reinforce(*(f"m{n:02}" for n in range(50))).associated == 1225
        assert len(room.links()) == 1225

    def test_threads_on_one_hub_lose_nothing(self, engine: Engine, store: Store) -> None:
        """Fault: writers at one node deadlock, or overwrite each other's weights."""
        room = Room(store).tuned(plasticity=replace(PLAIN, rate=0.01, decay=0.0))
        room.remember("hub", *(f"p{n}" for n in range(8)))
        stores = [engine.open() for _ in range(8)] if engine.durable else [store] * 8

        def work(n: int) -> None:
            Room(stores[n], config=room.config).reinforce("hub", f"p{n}", times=10)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert room.get("hub").fires == 80
        assert sorted(room.links().values()) == about([0.1] * 8)
        for opened in stores if engine.durable else []:
            opened.close()
