"""Spaces move between engines whole, imports that die leave nothing, exports are of one moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from helamem_core.config import DAY, DEFAULT, PAPER, Config
from helamem_core.errors import MemoryNotFound, SpaceNotEmpty, StoreBusy, StoreUnavailable
from helamem_core.local_neo4j import Server
from helamem_core.protocols import Store
from helamem_core.records import CueRecord, Listing, Reinforcement
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.neo4j.connection import StatementTime, Transaction
from helamem_core.stores.neo4j.transfer import Import
from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.agreement import Fleet, recalled
from helamem_core.testing.fakes import MODEL, NOW, Room, axis, canonical, cue, near, node, query, view, weights
from tests.neo4j.wiping import opened

ROOT = Path(__file__).parents[2]
MANY = 600
"""Memories: more than an import stores or an export reads at once."""
PATIENCE = 3.0
"""Seconds in which a writer that nothing holds back is done."""
QUESTIONS = (
    ("green tea in the rain", axis(0)),
    ("用户的服务器部署在哪里", None),
    ("", near(axis(0), 0.9, 3)),
    ("why", axis(9)),
)


def lived_in(room: Room) -> Room:
    """Fill a space with something of everything: learned links, cues, archived and expiring memories, Chinese text."""
    room.remember(
        node(
            "green tea in the morning", session="s", speaker="Ann Lee", metadata={"n": [1, {"x": None}]}, vector=axis(0)
        ),
        node("rain in Berlin", session="s", expires_at=NOW + DAY, vector=near(axis(0), 0.8, 1)),
        node("用户服务器部署在腾讯云", session="t", speaker="王芳", vector=axis(2)),
        node("black tea 绿茶", session="s", at=NOW - 50 * DAY, vector=near(axis(0), 0.7, 4)),
        node("a tram that waits for its vector", session="t"),
        node("archived tea", vector=near(axis(0), 0.95, 5)),
    )
    asked: list[str | CueRecord] = [
        cue("why", axis(9)),
        cue("何时", near(axis(9), 0.6, 7)),
        cue("later"),
        "rain in Berlin",
        "a tram that waits for its vector",
    ]
    for at, by in enumerate(asked):
        used = ("green tea in the morning", "rain in Berlin", "用户服务器部署在腾讯云", "archived tea")[at % 3 :]
        room.reinforce(*used, cue=by, event=f"e{at}", times=2)
    room.reinforce("black tea 绿茶", "green tea in the morning", times=4)
    room.store.link_similar(room.space, NOW, room.config)
    room.store.archive(room.space, ["archived tea"], NOW)
    return room


def lines(store: Store, space: str) -> list[dict[str, Any]]:
    return canonical(json.loads(json.dumps(list(store.dump(space)))))


@pytest.mark.parametrize("config", [DEFAULT, PAPER], ids=["default", "paper"])
def test_a_memory_moves_from_sqlite_to_neo4j_and_back(store: Neo4jStore, space: str, config: Config) -> None:
    first, last = SQLiteStore(), SQLiteStore()
    lived_in(Room(first, space, config))
    assert store.load(space, first.dump(space)) == 6
    assert last.load(space, store.dump(space)) == 6
    assert lines(first, space) == lines(store, space) == lines(last, space)
    fleet = Fleet({"first": first, "neo4j": store, "last": last})
    for _ in range(2):
        for text, vector in QUESTIONS:
            asked = query(text, vector=vector, config=config)
            answer = fleet.ask(f"recall {text!r}", lambda s: s.recall(space, asked), recalled)  # noqa: B023
            assert answer.items
        held = fleet.ask("weights", lambda s: {str(k): w for k, w in weights(s.dump(space), config).items()})
        assert {"ASSOCIATED", "SIMILAR"} <= {key.split("'")[1] for key in held}
        fleet.ask("stats", lambda s: s.stats(space, NOW, config))
        assert not fleet.ask("event", lambda s: Room(s, space, config).reinforce("black tea 绿茶", event="e0")).applied
        fleet.ask(
            "learn",
            lambda s: Room(s, space, config).reinforce("rain in Berlin", "black tea 绿茶", cue=cue("why", axis(9))),
        )
        fleet.ask("remember", lambda s: Room(s, space, config).remember(node("and more", session="s", vector=axis(1))))
        fleet.ask("restore", lambda s: s.restore(space, ["archived tea"]))
        fleet.ask("fade", lambda s: s.fade(space, NOW + 2 * DAY, config))
    assert lines(store, space) == lines(last, space)
    assert [fault for fault in store.check() if space in fault] == []
    first.close()
    last.close()


def test_an_import_fills_more_than_one_batch(store: Neo4jStore, space: str) -> None:
    origin = ReferenceStore()
    many(Room(origin, space))
    exported = list(origin.dump(space))
    header, *turns = exported[: MANY + 1]
    shuffled = [header, *reversed(turns), *exported[MANY + 1 :]]
    assert store.load(space, iter(shuffled)) == MANY
    assert lines(store, space) == canonical(json.loads(json.dumps(shuffled)))
    assert [fault for fault in store.check() if space in fault] == []


def many(room: Room) -> None:
    """Fill a space with several pages of turns, and links across them."""
    room.remember(*(node(f"turn {at} 茶", id=f"m{at:04}", session="s", vector=axis(at % 16)) for at in range(MANY)))
    for at in range(0, MANY, 40):
        room.reinforce(f"m{at:04}", f"m{MANY - 1 - at:04}", cue=cue(f"question {at}", axis(at % 7)), event=f"e{at}")


@pytest.mark.parametrize(
    ("statement", "times"),
    [("spaces.ours", 1), ("remember.create", 2), ("transfer.add_turns", 1)],
    ids=["at the beginning", "among memories", "near the end"],
)
def test_a_killed_import_leaves_nothing_to_be_seen(
    neo4j_server: Server, store: Neo4jStore, space: str, tmp_path: Path, statement: str, times: int
) -> None:
    origin = ReferenceStore()
    many(Room(origin, space))
    exported = [json.dumps(line) for line in origin.dump(space)]
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(exported), encoding="utf-8")
    assert killed(neo4j_server, space, file, statement, times)
    assert not is_there(store, space)
    with pytest.raises(StoreBusy, match="imported or erased"):
        Room(store, space).remember("tea")
    assert store.load(space, map(json.loads, exported)) == MANY
    assert lines(store, space) == lines(origin, space)
    assert [fault for fault in store.check() if space in fault] == []
    with pytest.raises(SpaceNotEmpty):
        store.load(space, map(json.loads, exported))
    assert lines(store, space) == lines(origin, space)


def killed(server: Server, space: str, file: Path, statement: str, times: int) -> bool:
    """Let another process import and die; return whether it was killed."""
    script = Path(__file__).with_name("transfer_process.py")
    login = {"HELAMEM_NEO4J_USER": server.user or "", "HELAMEM_NEO4J_PASSWORD": server.password or ""}
    environment = os.environ | {name: value for name, value in login.items() if value}
    command = [sys.executable, str(script), server.bolt_url, space, str(file), statement, str(times)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, timeout=200)
    return done.returncode < 0


def is_there(store: Neo4jStore, space: str) -> bool:
    """Whether anything of a space can be seen."""
    with pytest.raises(MemoryNotFound):
        store.neighbours(space, "m0000", NOW, DEFAULT)
    return any(
        (
            space in store.spaces(),
            store.identity(space),
            store.present(space, ["m0000"], NOW),
            store.recall(space, query("turn 茶", vector=axis(0))).items,
            store.recall(space, query("turn 茶")).items,
            store.select(space, Listing(view=view())),
            store.stats(space, NOW, DEFAULT).memories,
            store.pending(space, 9),
            store.unstaged(space, MODEL, 9),
            len(list(store.dump(space))) > 2,
        )
    )


def test_what_a_killed_import_left_can_be_dropped(
    neo4j_server: Server, store: Neo4jStore, space: str, tmp_path: Path
) -> None:
    origin = ReferenceStore()
    many(Room(origin, space))
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(map(json.dumps, origin.dump(space))), encoding="utf-8")
    assert killed(neo4j_server, space, file, "remember.create", 2)
    store.drop_space(space)
    assert [fault for fault in store.check() if space in fault] == []
    assert Room(store, space).remember("tea") == [True]


def test_an_import_that_fails_on_the_way_erases_what_it_stored(
    store: Neo4jStore, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = ReferenceStore()
    many(Room(origin, space))
    run = Transaction.run

    def failing(self: Transaction, name: str, **parameters: Any) -> Any:
        if name == "transfer.add_links":
            raise StoreUnavailable("the server has gone")
        return run(self, name, **parameters)

    monkeypatch.setattr(Transaction, "run", failing)
    with pytest.raises(StoreUnavailable, match="the server has gone"):
        store.load(space, origin.dump(space))
    monkeypatch.undo()
    assert not is_there(store, space)
    assert Room(store, space).remember("tea") == [True]


def test_of_two_imports_the_later_one_wins(store: Neo4jStore, space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    origin, small = ReferenceStore(), ReferenceStore()
    many(Room(origin, space))
    Room(small, space).remember("tea", "rain")
    add = Import.add

    def overtaken(self: Import, page: Sequence[Any]) -> None:
        add(self, page)
        monkeypatch.undo()
        store.load(space, small.dump(space))

    monkeypatch.setattr(Import, "add", overtaken)
    with pytest.raises(StoreBusy, match="another import into it has begun"):
        store.load(space, origin.dump(space))
    assert lines(store, space) == lines(small, space)
    assert [fault for fault in store.check() if space in fault] == []


def test_an_export_is_of_one_moment_while_others_write(neo4j_server: Server, store: Neo4jStore, space: str) -> None:
    many(Room(store, space))
    other = opened(neo4j_server)
    writers: list[threading.Thread] = []

    def write() -> None:
        """Change the first and the last page, and the clock in the header."""
        event = Reinforcement(ids=("m0001", f"m{MANY - 2:04}"), cue=None, event=None, now=NOW, config=DEFAULT)
        other.reinforce(space, event)
        other.remember(space, [node(uuid.uuid4().hex)], embedder=None, config=DEFAULT)

    def in_the_middle(spent: StatementTime) -> None:
        if spent.name == "transfer.memories" and not writers:
            writers.append(threading.Thread(target=write))
            writers[0].start()
            writers[0].join(timeout=PATIENCE)

    write()
    before = lines(store, space)
    dumping = opened(neo4j_server, on_statement=in_the_middle)
    assert lines(dumping, space) == before
    writers[0].join()
    after = lines(store, space)
    assert after[0]["steps"] == before[0]["steps"] + 1
    assert sum("episode" in line for line in after) == MANY + 2
    copy = ReferenceStore()
    copy.load(space, store.dump(space))
    assert lines(copy, space) == after
    dumping.close()
    other.close()
