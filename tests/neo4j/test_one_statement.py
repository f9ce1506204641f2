"""A recall is one statement in one round trip, a reinforcement likewise: no dynamics run in Python for this engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helamem_core.config import DEFAULT
from helamem_core.dynamics import forgetting, linking, plasticity, spreading
from helamem_core.local_neo4j import Server
from helamem_core.records import Reinforcement
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.neo4j.connection import StatementTime
from helamem_core.testing.fakes import MODEL, NOW, axis, cue, near, node, query, view
from tests.neo4j.wiping import opened

SPACE = "one statement"
PEOPLE = ["Ann", "Ben", "Cleo", "Dan"]


@pytest.fixture
def said() -> list[StatementTime]:
    return []


@pytest.fixture
def store(neo4j_server: Server, said: list[StatementTime]) -> Iterator[Neo4jStore]:
    made = opened(neo4j_server, on_statement=said.append)
    made.drop_space(SPACE)
    nodes = [
        node(f"{name} drinks tea", vector=near(axis(0), 0.7, at + 1), session="s") for at, name in enumerate(PEOPLE)
    ]
    made.remember(SPACE, nodes, embedder=MODEL, config=DEFAULT)
    yield made
    made.drop_space(SPACE)
    made.close()


def names(said: list[StatementTime]) -> list[str]:
    return [spent.name for spent in said]


def used(store: Neo4jStore) -> Reinforcement:
    ids = tuple(item.id for item in store.present(SPACE, [f"{name} drinks tea" for name in PEOPLE], NOW).values())
    asked = cue("what do they drink?", axis(0))
    return Reinforcement(ids=ids, cue=asked, event=None, now=NOW, config=DEFAULT, embedder=MODEL)


def test_a_recall_is_one_statement(store: Neo4jStore, said: list[StatementTime]) -> None:
    event = used(store)
    store.reinforce(SPACE, event)
    said.clear()
    found = store.recall(SPACE, query("tea", vector=axis(0), embedder=MODEL))
    assert names(said) == ["recall.recall"]
    assert {lift.kind for item in found.items for lift in item.why.lifts} == {"ASSOCIATED", "CUED", "NEXT"}
    said.clear()
    store.recall(SPACE, query("tea"))
    assert names(said) == ["recall.recall_by_words"]


def test_a_reinforcement_is_one_statement(store: Neo4jStore, said: list[StatementTime]) -> None:
    event = used(store)
    said.clear()
    assert store.reinforce(SPACE, event).applied
    assert names(said) == ["reinforce.reinforce"]


def test_no_formula_of_links_runs_in_python(store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a formula of links ran in Python")

    for module in (plasticity, spreading, linking, forgetting):
        for name in vars(module).copy():
            if callable(vars(module)[name]) and not isinstance(vars(module)[name], type) and name.islower():
                monkeypatch.setattr(module, name, refuse)
    event = used(store)
    store.reinforce(SPACE, event)
    assert store.recall(SPACE, query("tea", vector=axis(0))).items
    store.link_similar(SPACE, NOW, DEFAULT)
    store.fade(SPACE, NOW, DEFAULT)
    assert store.neighbours(SPACE, event.ids[0], NOW, DEFAULT)


def test_a_second_look_only_where_filters_left_too_little(store: Neo4jStore, said: list[StatementTime]) -> None:
    many = [node(f"tea number {at}", vector=near(axis(0), 0.9, 1 + at % 10), session="t") for at in range(400)]
    rare = [node(f"coffee number {at}", vector=near(axis(0), 0.5, 11), role="assistant") for at in range(3)]
    store.remember(SPACE, many + rare, embedder=MODEL, config=DEFAULT)
    said.clear()
    assert len(store.recall(SPACE, query("tea", vector=axis(0))).items) == 10
    assert names(said) == ["recall.recall"]
    said.clear()
    found = store.recall(SPACE, query("x", vector=axis(0), seen=view(filters={"role": "assistant"})))
    assert {item.node.role for item in found.items} == {"assistant"}
    assert len(found.items) == 3
    assert 2 <= len(said) <= 3
