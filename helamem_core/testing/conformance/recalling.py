"""What a question brings back, in which order and why."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from helamem_core.config import DAY, DEFAULT, PAPER, Config, Scoring, Selection, Spreading
from helamem_core.dynamics.scoring import DIGITS
from helamem_core.errors import MemoryNotFound
from helamem_core.protocols import Store
from helamem_core.records import Scored
from helamem_core.testing.conformance.engine import Engine, StoreCase, about
from helamem_core.testing.fakes import NOW, Room, axis, near, node, vector
from helamem_core.types import Lift

COSINE = Config(scoring=Scoring(lexical=0.0, speaker=0.0), spreading=Spreading(seeds=1, next=0.0))
"""The score is the cosine, and only the best spreads."""


class Recalling(StoreCase):
    """`recall`: base score, view, order."""

    def test_new_store_answers_at_once(self, store: Store) -> None:
        """Fault: use before setup hangs or raises."""
        room = Room(store, "nobody")
        assert room.recall("tea", axis(0)).items == ()
        assert (room.listed(), store.spaces(), store.present("nobody", ["x"], NOW)) == ([], [], {})
        assert (store.pending("nobody", 5), store.identity("nobody")) == ([], None)
        assert (store.forget("nobody", ["x"]).ids, store.fade("nobody", NOW, DEFAULT).archived) == ((), ())
        assert store.link_similar("nobody", NOW, DEFAULT) == 0
        assert store.stats("nobody", NOW, DEFAULT).memories == 0
        with pytest.raises(MemoryNotFound):
            store.neighbours("nobody", "x", NOW, DEFAULT)
        assert store.spaces() == []

    def test_found_by_meaning(self, room: Room) -> None:
        """The nearest vector comes first, though no word is shared."""
        room.remember(node("tea", vector=axis(0)), node("rain", vector=axis(1)), node("tram", vector=axis(2)))
        assert room.found("", near(axis(1), 0.9, 5))[0] == "rain"

    def test_unseen_until_embedded(self, room: Room) -> None:
        """Fault: a memory is unseen until it is embedded. Its words find it, and the answer says how many wait."""
        room.remember(node("the kettle whistles"), node("rain", vector=axis(1)))
        answer = room.recall("kettle whistles", axis(1))
        assert {item.node.id for item in answer.items} == {"the kettle whistles", "rain"}
        assert answer.unembedded == 1
        assert room.found("kettle whistles") == ["the kettle whistles"]

    def test_score_is_its_parts(self, room: Room) -> None:
        """`score = base + lifts` and `base = decay * parts`, for each result, under both presets."""
        _small_town(room)
        for config in (DEFAULT, PAPER):
            asked = Room(room.store, "room", config)
            items = asked.recall("Ann drinks tea in the rain", near(axis(0), 0.9, 1), k=20).items
            assert items
            for item in items:
                why = item.why
                parts = why.similarity + why.lexical + why.keywords + why.speaker
                assert why.base == about(why.decay * parts, tolerance=1e-9)
                assert item.score == about(why.base + sum(lift.amount for lift in why.lifts), tolerance=1e-9)
                assert type(item.score) is float

    def test_best_first_and_at_most_k(self, room: Room) -> None:
        """Under the default settings k is a bound, and the order is that of the scores."""
        _small_town(room)
        for k in (1, 2, 3, 50):
            items = room.recall("tea rain tram", axis(0), k=k).items
            assert len(items) == min(k, 6)
            assert list(items) == sorted(items, key=_rank)

    def test_ties_go_by_id(self, store: Store) -> None:
        """Equal scores are ordered by id, whatever the order of arrival."""
        for name, ids in (("up", "abcdef"), ("down", "fedcba")):
            room = Room(store, name)
            room.remember(*(node("same", id=id, vector=axis(0)) for id in ids))
            assert room.found("same", axis(0), k=4) == list("abcd")
            assert room.found("same", k=4) == list("abcd")

    def test_near_ties_go_by_id(self, room: Room) -> None:
        """Scores that differ only beyond six decimals are equal."""
        better = near(axis(0), 0.8, 1)
        better[0] = np.nextafter(better[0], np.float32(1))
        room.remember(node("b", vector=better), node("a", vector=near(axis(0), 0.8, 1)))
        assert room.tuned(scoring=COSINE.scoring).found("", axis(0)) == ["a", "b"]

    def test_view_bounds_are_closed(self, room: Room) -> None:
        """`since`, `until` and `as_of` include their moment."""
        room.remember(*(node(f"day {n}", id=f"d{n}", at=NOW + n, vector=axis(0)) for n in range(5)))
        assert sorted(room.found("", axis(0), since=NOW + 1, until=NOW + 3)) == ["d1", "d2", "d3"]
        assert sorted(room.found("day", as_of=NOW + 1)) == ["d0", "d1"]
        assert room.listed(since=NOW + 3) == ["d3", "d4"]

    def test_expired_is_invisible(self, room: Room) -> None:
        """From `expires_at` on no path finds it."""
        room.remember(node("gone", expires_at=NOW + 5, vector=axis(0)))
        assert room.found("gone", axis(0)) == ["gone"]
        room.now += 5
        assert (room.found("gone", axis(0)), room.listed()) == ([], [])
        assert room.store.present("room", ["gone"], room.now) == {}

    def test_named_speaker_counts(self, room: Room) -> None:
        """A memory of the speaker whom the question names scores more."""
        room = room.tuned(scoring=Scoring(speaker=0.2))
        room.remember(node("rain", id="a", speaker="Bob", vector=axis(0)))
        room.remember(node("rain", id="b", speaker="Ann Lee", vector=axis(0)))
        items = room.recall("what did Ann Lee say", axis(0)).items
        assert [(item.node.id, about(item.why.speaker)) for item in items] == [("b", 0.2), ("a", 0.0)]

    def test_speaker_alone_does_not_compete(self, room: Room) -> None:
        """Without a vector or a shared word, being by the named speaker is no answer."""
        room.remember(node("rain", speaker="Ann"))
        assert room.found("Ann") == []

    def test_paper_fades_with_age(self, room: Room) -> None:
        """Under the paper's settings the score falls to 1/e in 1e7 seconds; the future is not brighter."""
        room.remember(node("old", at=NOW - 1e7, vector=axis(0)), node("new", at=NOW + 1e7, vector=axis(0)))
        items = Room(room.store, "room", PAPER).recall("", axis(0)).items
        assert [item.why.decay for item in items] == [about(1.0), about(math.exp(-1))]

    def test_old_answer_outlives_noise(self, room: Room) -> None:
        """Fault: decay buries the right answer."""
        room.remember(node("the alarm code is 7319", id="old", at=NOW - 365 * DAY, vector=axis(0)))
        room.remember(*(node(f"noise {n}", vector=near(axis(0), 0.6, 1 + n % 9)) for n in range(50)))
        assert room.found("what is the alarm code", near(axis(0), 0.9, 12))[0] == "old"

    def test_recall_changes_nothing(self, engine: Engine, room: Room) -> None:
        """Fault: bookkeeping on each access rewrites rows. Files stay as large as they were."""
        _small_town(room)
        room.reinforce("tea", "rain", cue="tram")
        before, size = room.dump(), _size(engine)
        for n in range(200):
            room.recall(f"tea {n}", axis(n % 5))
        assert room.dump() == before
        assert _size(engine) <= size + 65_536


class Spread(StoreCase):
    """`recall`: what links lend, and how many results they may bring."""

    def test_partner_of_a_strong_seed_comes_along(self, room: Room) -> None:
        """The lift is rate * excess * weight / (1 + degree)^source_fan, and `why` names the link."""
        room = room.tuned(
            scoring=COSINE.scoring,
            spreading=Spreading(seeds=5, threshold=0.5, excess=True, associated=0.5, next=0.0, source_fan=0.5),
        )
        room.remember(node("seed", vector=near(axis(0), 0.9, 1)), node("partner", vector=axis(2)))
        room.remember(*(node(f"other {n}", vector=near(axis(0), 0.1 + n / 100, 3)) for n in range(5)))
        room.reinforce("seed", "partner", times=10)
        weight = room.links()["ASSOCIATED", "partner", "seed"]
        partner = next(item for item in room.recall("", axis(0), k=2).items if item.node.id == "partner")
        (lift,) = partner.why.lifts
        assert (lift.kind, lift.source, lift.weight) == ("ASSOCIATED", "seed", about(weight))
        assert lift.amount == about(0.5 * (0.9 - 0.5) * weight / 2**0.5)
        assert (partner.path, partner.score) == ("associative", about(lift.amount))

    def test_lifted_by_links_alone(self, room: Room) -> None:
        """What neither has a vector nor shares a word comes by its lifts only; its speaker's name adds nothing."""
        room = room.tuned(spreading=Spreading(threshold=0.5, associated=0.5, next=0.0), scoring=Scoring(speaker=0.3))
        room.remember(node("seed", vector=axis(0)), node("rain", speaker="Ann"))
        room.reinforce("seed", "rain", times=10)
        found = {item.node.id: item for item in room.recall("Ann", axis(0)).items}
        lifts = sum(lift.amount for lift in found["rain"].why.lifts)
        assert lifts > 0
        assert (found["rain"].why.base, found["rain"].score) == (0.0, about(lifts))

    def test_weak_seed_lends_nothing(self, room: Room) -> None:
        """A seed at or below the threshold does not spread."""
        room = room.tuned(scoring=COSINE.scoring, spreading=Spreading(threshold=0.85, next=0.0))
        room.remember(node("seed", vector=near(axis(0), 0.8, 1)), node("partner", vector=axis(2)))
        room.reinforce("seed", "partner", times=10)
        assert all(not item.why.lifts for item in room.recall("", axis(0)).items)

    def test_neighbouring_turns_are_lifted(self, room: Room) -> None:
        """The order of turns lends both ways, undivided."""
        room = room.tuned(scoring=COSINE.scoring, spreading=Spreading(seeds=1, threshold=0.5, excess=True, next=0.2))
        vectors = {"before": axis(1), "seed": near(axis(0), 0.9, 5), "after": axis(2), "far": axis(3)}
        room.remember(*(node(text, session="s", vector=found) for text, found in vectors.items()))
        lifts = {item.node.id: item.why.lifts for item in room.recall("", axis(0)).items}
        assert [lift.source for lift in lifts["before"] + lifts["after"]] == ["seed", "seed"]
        assert lifts["before"][0].amount == about(0.2 * (0.9 - 0.5))
        assert lifts["far"] == ()

    def test_unseen_neither_spreads_nor_is_lifted(self, room: Room) -> None:
        """A memory outside the view has no part in the answer."""
        room = room.tuned(scoring=COSINE.scoring, spreading=Spreading(threshold=0.1, seeds=None))
        room.remember(
            node("seed", vector=axis(0), metadata={"user": "a"}),
            node("partner", vector=axis(1), metadata={"user": "b"}),
        )
        room.reinforce("seed", "partner", times=10)
        (alone,) = room.recall("", axis(0), filters={"user": "b"}).items
        assert (alone.node.id, alone.why.lifts) == ("partner", ())
        assert room.found("", axis(0), filters={"user": "a"}) == ["seed"]

    def test_flips_are_bounded(self, room: Room) -> None:
        """At most `flips` results come by links alone, within k."""
        _star(room, partners=6)
        for flips in (0, 1, 3):
            asked = room.tuned(scoring=COSINE.scoring, spreading=_wide(), selection=Selection(flips=flips))
            paths = [item.path for item in asked.recall("", axis(0), k=8).items]
            assert (len(paths), paths.count("associative")) == (8, flips)

    def test_paper_adds_flips_to_the_k(self, room: Room) -> None:
        """With `flips_extra` the k best by base stay as they are and the flipped ones follow."""
        _star(room, partners=6)
        asked = room.tuned(scoring=COSINE.scoring, spreading=_wide(), selection=Selection(flips=2, flips_extra=True))
        paths = [item.path for item in asked.recall("", axis(0), k=4).items]
        assert paths == ["semantic"] * 4 + ["associative"] * 2

    def test_hub_lends_each_partner_less(self, room: Room) -> None:
        """The lift is divided by the fan, so a hub cannot win every query."""
        room = room.tuned(scoring=COSINE.scoring, spreading=_wide())
        room.remember(node("hub", vector=near(axis(0), 0.9, 1)), node("p0", vector=axis(2)))
        room.reinforce("hub", "p0")
        amounts = []
        for n in range(1, 5):
            lifts = {item.node.id: item.why.lifts for item in room.recall("", axis(0)).items}
            amounts.append(lifts["p0"][0].amount / lifts["p0"][0].weight)
            room.remember(node(f"p{n}", vector=axis(2 + n)))
            room.reinforce("hub", f"p{n}")
        assert amounts == sorted(amounts, reverse=True)
        assert len(set(amounts)) == len(amounts)

    def test_links_together_are_bounded(self, room: Room) -> None:
        """However many links lift a memory, they add no more than the ceiling, each its share of it."""
        free = room.tuned(
            scoring=COSINE.scoring, spreading=replace(_wide(), associated=10.0, target_fan=0.0, ceiling=1e6)
        )
        free.remember(*(node(f"s{n}", vector=near(axis(0), 0.9, 1 + n)) for n in range(5)), node("p", vector=axis(9)))
        for n in range(5):
            free.reinforce(f"s{n}", "p", times=3)
        bound = free.tuned(spreading=replace(free.config.spreading, ceiling=0.5))
        loose, tight = (
            next(item.why.lifts for item in each.recall("", axis(0)).items if item.node.id == "p")
            for each in (free, bound)
        )
        whole = sum(lift.amount for lift in loose)
        assert whole > 1
        assert [lift.amount for lift in tight] == about([lift.amount * 0.5 / whole for lift in loose])

    def test_competition_lends_less(self, room: Room) -> None:
        """A memory that many lead to gets less from each: links are divided by its degree too."""
        room = room.tuned(scoring=COSINE.scoring, spreading=_wide())
        room.remember(node("seed", vector=near(axis(0), 0.9, 1)), "lone", "busy", "x", "y")
        room.reinforce("seed", "lone")
        room.reinforce("seed", "busy")
        before = _lifts(room)
        room.reinforce("busy", "x")
        room.reinforce("busy", "y")
        after = _lifts(room)
        assert before["lone"].amount == about(after["lone"].amount)
        assert before["busy"].amount / before["busy"].weight == about(3 * after["busy"].amount / after["busy"].weight)

    def test_hub_cannot_top_unrelated_queries(self, room: Room) -> None:
        """Fault: a cluster hub tops unrelated queries."""
        notes = [node(f"standup note {n}", id=f"n{n}", vector=near(axis(0), 0.97, 6 + n % 10)) for n in range(184)]
        facts = [node(f"fact number {n}", id=f"f{n}", vector=axis(n)) for n in range(1, 6)]
        room.remember(*notes, *facts)
        for n in range(100):
            used = room.found("standup note", axis(0))
            room.reinforce(*used, event=f"e{n}")
        for n in range(1, 6):
            assert room.found("", near(axis(n), 0.8, 15))[0] == f"f{n}"
            assert room.found("", vector(0.5, (n, 0.8)))[0] == f"f{n}"


def _small_town(room: Room) -> None:
    room.remember(
        node("tea", speaker="Ann", session="s", vector=axis(0)),
        node("rain", speaker="Bob", session="s", vector=near(axis(0), 0.6, 1)),
        node("tram", session="s", at=NOW - 100 * DAY, vector=axis(2)),
        node("tea in the rain", vector=near(axis(0), 0.9, 3)),
        node("喝茶", vector=near(axis(0), 0.7, 4)),
        node("tea tram tea"),
    )
    room.reinforce("tea", "tram", "tea tram tea", times=3)


def _star(room: Room, partners: int) -> None:
    """One strong seed linked to unlike partners, and as many strangers nearer than they are."""
    room.remember(node("seed", vector=near(axis(0), 0.9, 1)))
    room.remember(*(node(f"p{n}", vector=axis(2 + n)) for n in range(partners)))
    room.remember(*(node(f"s{n}", vector=near(axis(0), 0.01 + n / 1000, 10)) for n in range(20)))
    for n in range(partners):
        room.reinforce("seed", f"p{n}", times=10)


def _lifts(room: Room) -> dict[str, Lift]:
    """The only lift of each memory that has one."""
    found = room.recall("", axis(0), k=50).items
    return {item.node.id: item.why.lifts[0] for item in found if item.why.lifts}


def _wide() -> Spreading:
    return Spreading(seeds=None, threshold=0.5, excess=True, associated=1.0, next=0.0, source_fan=0.5, target_fan=1.0)


def _rank(item: Scored) -> tuple[float, str]:
    return -round(item.score, DIGITS), item.node.id


def _size(engine: Engine) -> int:
    if engine.folder is None:
        return 0
    return sum(path.stat().st_size for path in engine.folder.rglob("*") if path.is_file())
