"""Verbs that go through a whole space do in a large one, page by page, what they do in a small one at once."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from helamem_core.config import DAY, DEFAULT, Config, Forgetting, Linking, Plasticity
from helamem_core.local_neo4j import Server
from helamem_core.protocols import Store
from helamem_core.records import Embedded
from helamem_core.stores.neo4j import Neo4jStore, steps, upkeep
from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.agreement import Fleet
from helamem_core.testing.fakes import NOW, OTHER_MODEL, Room, axis, canonical, cue, near, node
from helamem_core.types import EmbedderIdentity
from tests.neo4j.wiping import opened

MEMORIES = 60
NARROW = EmbedderIdentity("narrow", 8)
LOOSE = Config(
    plasticity=Plasticity(rate=0.2, cue_rate=0.2, decay=0.4, floor=0.02),
    linking=Linking(neighbours=2, threshold=0.4),
    forgetting=Forgetting(weak=0.25),
)
IDS = [f"m{at:02}" for at in range(MEMORIES)]


@pytest.fixture(params=["at once", "page by page"])
def fleet(store: Neo4jStore, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """The specification, and a store that takes a space of these few memories for a small one or for a large one."""
    monkeypatch.setattr(steps, "AT_ONCE", MEMORIES if request.param == "at once" else 0)
    monkeypatch.setattr(steps, "PAGE", 7)
    monkeypatch.setattr(upkeep, "LOOKED_UP", 11)
    return Fleet({"reference": ReferenceStore(), "neo4j": store})


def settle(store: Store, space: str) -> None:
    """Fill a space: links and cues that die or live, old, expiring, archived and waiting memories."""
    room = Room(store, space, LOOSE)
    room.remember(
        *(
            node(
                f"memory {id}",
                id=id,
                session="s",
                recorded_at=NOW - 40 * DAY if at % 3 else NOW,
                expires_at=NOW + 1 if at % 10 == 9 else None,
                vector=None if at % 8 == 7 else near(axis(at % 5), 0.6 + at / 200, 5 + at % 9),
            )
            for at, id in enumerate(IDS)
        )
    )
    for at in range(0, MEMORIES - 5, 5):
        room.reinforce(IDS[at], IDS[at + 5], IDS[-1 - at], cue=cue(f"question {at}", axis(at % 4)), times=1 + at % 3)
        room.reinforce(IDS[at], cue=cue(f"other {at}"), times=2)
    for _ in range(4):
        room.reinforce(*IDS[:20:5])
    store.archive(space, IDS[3:9:2], NOW)


def same(fleet: Fleet, space: str) -> None:
    fleet.ask("dump", lambda store: canonical(store.dump(space)))
    fleet.ask("stats", lambda store: store.stats(space, NOW + 1, LOOSE))
    store = fleet.stores["neo4j"]
    assert [fault for fault in store.check() if space in fault] == []


def test_fading(fleet: Fleet, space: str) -> None:
    fleet.ask("settle", lambda store: settle(store, space))
    fleet.ask("link", lambda store: store.link_similar(space, NOW, LOOSE))
    report = fleet.ask("fade", lambda store: store.fade(space, NOW + 1, LOOSE))
    assert report.pruned
    assert len(report.archived) > 3
    assert len(report.expired) == 6
    same(fleet, space)


def test_linking_similar_memories(fleet: Fleet, space: str) -> None:
    fleet.ask("settle", lambda store: settle(store, space))
    assert fleet.ask("link", lambda store: store.link_similar(space, NOW, LOOSE)) > MEMORIES / 2
    same(fleet, space)
    fleet.ask("archive", lambda store: store.archive(space, IDS[10:20], NOW))
    fleet.ask("link again", lambda store: store.link_similar(space, NOW + 9, LOOSE))
    same(fleet, space)


def test_changing_the_model(fleet: Fleet, space: str) -> None:
    fleet.ask("settle", lambda store: settle(store, space))
    fleet.ask("link", lambda store: store.link_similar(space, NOW, LOOSE))
    fleet.ask("forget", lambda store: store.forget(space, [IDS[0]]))
    todo = fleet.ask("unstaged", lambda store: store.unstaged(space, NARROW, 999))
    rows = [Embedded(item.kind, item.id, item.text, axis(at % 8, 8)) for at, item in enumerate(todo) if at % 6]
    fleet.ask("stage", lambda store: store.stage(space, NARROW, rows))
    third = [Embedded("episode", "m02", "memory m02", axis(0))]
    fleet.ask("stage for a third", lambda store: store.stage(space, OTHER_MODEL, third))
    assert fleet.ask("adopt", lambda store: store.adopt(space, NARROW)) == len(rows) - 1
    fleet.ask("pending", lambda store: store.pending(space, 999))
    fleet.ask("unstaged", lambda store: store.unstaged(space, NARROW, 999))
    fleet.ask("identity", lambda store: store.identity(space))
    same(fleet, space)


def test_a_change_of_model_that_is_cut_short_can_be_made_again(
    neo4j_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever step it stops before, no vector of the old model is left in a space of the new one."""
    monkeypatch.setattr(steps, "AT_ONCE", 0)
    monkeypatch.setattr(steps, "PAGE", 7)
    store, name = opened(neo4j_server), f"steps {uuid.uuid4().hex}"
    settle(store, name)
    rows = [Embedded(item.kind, item.id, item.text, axis(1, 8)) for item in store.unstaged(name, NARROW, 999)]
    store.stage(name, NARROW, rows)
    for step in (1, 4, 9, 14, 17):
        _stop_after(store, step, monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            store.adopt(name, NARROW)
        monkeypatch.undo()
        monkeypatch.setattr(steps, "AT_ONCE", 0)
        monkeypatch.setattr(steps, "PAGE", 7)
        assert [fault for fault in store.check() if name in fault] == []
        assert Room(store, name, DEFAULT).found("memory")
        left = store.unstaged(name, NARROW, 999)
        store.stage(name, NARROW, [Embedded(item.kind, item.id, item.text, axis(1, 8)) for item in left])
    assert store.adopt(name, NARROW) == len(rows)
    assert store.pending(name, 999) == []
    assert [fault for fault in store.check() if name in fault] == []
    store.drop_space(name)
    store.close()


def _stop_after(store: Neo4jStore, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so many transactions of the store be written, and then no more."""
    left, write = count, store._db.write

    def counted(work: Any) -> Any:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        return write(work)

    monkeypatch.setattr(store._db, "write", counted)
