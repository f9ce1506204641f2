"""What the conformance suite cannot see: the graph after an erasure, batches that replace, erasures cut short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from helamem_core.config import DEFAULT, PAPER
from helamem_core.errors import MemoryNotFound, StoreBusy
from helamem_core.local_neo4j import Server
from helamem_core.protocols import Store
from helamem_core.records import Embedded
from helamem_core.stores.neo4j import Neo4jStore, erase
from helamem_core.stores.neo4j.casts import digest
from helamem_core.stores.neo4j.connection import Transaction
from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.fakes import MODEL, NOW, OTHER_MODEL, Room, axis, cue, node, patch

CANARY = "xylocanary"
(STEM,) = node(CANARY).terms
IN_NODES = """
MATCH (n {space: $space})
WHERE any(key IN keys(n) WHERE toStringOrNull(n[key]) CONTAINS $word OR any(
  item IN CASE WHEN n[key] IS :: LIST<ANY> THEN n[key] ELSE [] END WHERE toStringOrNull(item) CONTAINS $word
))
RETURN n
"""
IN_LINKS = """
MATCH (n {space: $space})-[r]-()
WHERE any(key IN keys(r) WHERE toStringOrNull(r[key]) CONTAINS $word)
RETURN r
"""
IN_WORDS = "CALL db.index.fulltext.queryNodes('helamem_words', $digest) YIELD node RETURN node"


@pytest.fixture
def driver(neo4j_server: Server) -> Iterator[Driver]:
    with GraphDatabase.driver(neo4j_server.bolt_url, auth=neo4j_server.auth) as driver:
        yield driver


@pytest.fixture
def room(store: Neo4jStore, space: str) -> Room:
    return Room(store, space)


def found(driver: Driver, statement: str, **parameters: Any) -> int:
    return len(driver.execute_query(statement, parameters).records)


def traces(driver: Driver, space: str) -> list[int]:
    """How many nodes, links and index entries have the canary."""
    return [
        found(driver, IN_NODES, space=space, word=CANARY),
        found(driver, IN_LINKS, space=space, word=CANARY),
        found(driver, IN_WORDS, digest=digest(space, STEM)),
        found(driver, "MATCH (n:Keyword {space: $space, term: $word}) RETURN n", space=space, word=STEM),
    ]


def bury(room: Room) -> None:
    room.remember(
        node(
            f"the {CANARY} sings of {CANARY}",
            id="x",
            speaker=f"Dr {CANARY}",
            session=f"{CANARY}-1",
            metadata={"note": [CANARY], CANARY: {"deep": CANARY}},
            vector=axis(7),
        ),
        node("rain", vector=axis(8), session=f"{CANARY}-1"),
    )
    room.reinforce("x", "rain", cue=cue(f"where is the {CANARY}", axis(9), id="cue:1"))
    room.reinforce("x", cue=cue(f"who is {CANARY}", id="cue:2"))
    room.store.stage(room.space, OTHER_MODEL, [Embedded("episode", "x", f"the {CANARY} sings of {CANARY}", axis(1))])
    room.store.stage(room.space, OTHER_MODEL, [Embedded("cue", "cue:1", f"where is the {CANARY}", axis(1))])


def test_no_node_no_link_and_no_index_has_what_was_erased(driver: Driver, room: Room) -> None:
    bury(room)
    room.store.update(room.space, "rain", patch("snow"), NOW)
    assert all(traces(driver, room.space)[place] for place in (0, 2, 3))
    room.store.forget(room.space, ["x"])
    assert traces(driver, room.space)[1:] == [0, 0, 0]
    named = driver.execute_query(IN_NODES, {"space": room.space, "word": CANARY}).records
    assert [record["n"]["id"] for record in named] == ["rain"]  # its own session is called so
    room.store.forget(room.space, ["rain"])
    assert traces(driver, room.space) == [0, 0, 0, 0]
    assert room.store.check() == []


def test_an_updated_text_leaves_no_word_behind(driver: Driver, room: Room) -> None:
    room.remember(node(f"the {CANARY} sings", id="x", vector=axis(0)), node("a sparrow", id="y", vector=axis(1)))
    room.store.update(room.space, "x", patch("the sparrow sings", vector=axis(2)), NOW)
    assert traces(driver, room.space) == [0, 0, 0, 0]
    assert sorted(room.found("sparrow")) == ["x", "y"]
    room.store.archive(room.space, ["x"], NOW)
    assert found(driver, IN_WORDS, digest=digest(room.space, "sing")) == 0
    room.store.restore(room.space, ["x"])
    assert found(driver, IN_WORDS, digest=digest(room.space, "sing")) == 1
    assert room.store.check() == []


@pytest.mark.parametrize("config", [DEFAULT, replace(PAPER, plasticity=replace(PAPER.plasticity, max_degree=1))])
def test_batches_replace_expired_memories_as_the_specification_does(room: Room, config: Any) -> None:
    """Before the batch and within it, in the middle of a session, with links and cues of what was there."""

    def tell(store: Store) -> tuple[Any, ...]:
        told = Room(store, room.space, config)
        ends: dict[str, Any] = {"expires_at": NOW + 1, "session": "s"}
        told.remember("z", node("a", **ends), node("b", session="s"), node("c", **ends, vector=axis(1)))
        told.reinforce("a", "b", "c", cue=cue("who", axis(3)))
        told.reinforce("c", cue="a")
        late: dict[str, Any] = {"recorded_at": NOW + 2, "session": "s"}
        batch = [
            node("new", id="d", **late),
            node("a again", id="a", **late, expires_at=NOW + 3),
            node("d twice", id="d", **late),
            node("c again", id="c", **late),
            node("a, a third time", id="a", **{**late, "recorded_at": NOW + 4}),
            node("new", id="e", **late),
            node("b is there", id="b", **late),
        ]
        stored = store.remember(room.space, batch, embedder=MODEL, config=config)
        told.now = NOW + 5
        chain = {id: told.get(id).previous for id in "zabcde"}
        return stored, chain, told.links(), told.dump()

    expected = tell(ReferenceStore())
    assert expected[0] == [True, True, False, True, True, True, False]
    assert tell(room.store) == expected
    assert room.store.check() == []


def test_an_erasure_that_was_cut_short_goes_on(store: Neo4jStore, room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile the space is absent: nothing is found in it, and nothing can be remembered."""
    room.remember(*(node("note", id=f"m{n}", vector=axis(n % 9)) for n in range(25)))
    room.reinforce("m0", "m24", cue=cue("why"))
    monkeypatch.setattr(erase, "_BATCH", 10)
    store._db.write(lambda tx: tx.run("drop_space.begin", space=room.space, loader="cut short"))
    first = store._db.write(lambda tx: tx.one("drop_space.episodes", space=room.space, batch=10))
    assert (len(first["ids"]), first["links"]) == (10, 2)
    assert (room.space in store.spaces(), store.identity(room.space), room.listed()) == (False, None, [])
    assert store.stats(room.space, NOW, DEFAULT).memories == 0
    with pytest.raises(StoreBusy, match="erase it"):
        room.remember("new")
    with pytest.raises(MemoryNotFound):
        store.archive(room.space, ["m24"], NOW)
    assert any(room.space in line for line in store.check())
    rest = store.drop_space(room.space)
    assert (set(rest.ids), rest.links, rest.cues) == ({f"m{n}" for n in range(10, 25)}, 1, 1)
    assert store.drop_space(room.space).ids == ()
    room.remember("new")
    assert (room.listed(), store.check()) == (["new"], [])


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("MATCH (s:Space {name: $space}) SET s.memories = 7", "1 of its counts"),
        ("MATCH (e:Episode {space: $space, id: 'a'}) DETACH DELETE e", "of its words are counted wrongly"),
        ("MATCH (k:Keyword {space: $space}) WITH k LIMIT 1 SET k.memories = 5", "1 of its words"),
        ("MATCH (e:Episode {space: $space, id: 'a'}) REMOVE e:Waiting", "1 memories are not labelled"),
        ("MATCH (e:Episode {space: $space, id: 'b'}) SET e.archived_at = 1.0", "1 memories are not labelled"),
        ("MATCH (c:Cue {space: $space}) REMOVE c:Asked", "1 cues are not labelled"),
        ("MATCH (a {space: $space, id: 'a'}), (b {space: $space, id: 'b'}) CREATE (b)-[:SIMILAR]->(a)", "1 links"),
        ("MATCH (s:Space {name: $space}) SET s.dimension = 3", "vectors are of another width"),
        ("CREATE (:Event {space: $space + ' lost', id: 'e', at: 1.0})", "1 nodes are of it, and it is not there"),
        ("MATCH (s:Space {name: $space}) SET s.loading = true", "was being imported or erased"),
    ],
)
def test_what_is_inconsistent_is_told(driver: Driver, room: Room, damage: str, told: str) -> None:
    room.remember("a", node("b", vector=axis(1)))
    room.reinforce("a", cue=cue("why", axis(2)))
    driver.execute_query(damage, space=room.space)
    try:
        assert any(room.space in line and told in line for line in room.store.check())
    finally:
        driver.execute_query("MATCH (v:Event {space: $space}) DELETE v", space=f"{room.space} lost")


def test_an_erasure_that_another_one_overtook_leaves_what_came_since(
    store: Neo4jStore, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two at once the first one to end may let new memories in: they are none of the other's business."""
    room.remember(*(node("note", id=f"m{n}") for n in range(25)))
    monkeypatch.setattr(erase, "_BATCH", 10)
    run, batches = Transaction.run, count()

    def overtaken(self: Transaction, name: str, **parameters: Any) -> Any:
        if name == "spaces.ours" and next(batches) == 1:
            store.drop_space(room.space)
            room.remember("new")
        return run(self, name, **parameters)

    monkeypatch.setattr(Transaction, "run", overtaken)
    assert len(store.drop_space(room.space).ids) == 10
    assert (room.listed(), store.check()) == (["new"], [])
