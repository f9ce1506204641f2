"""Many threads and processes on one space: no update is lost, and hardly a transaction is tried twice."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from helamem_core import Memory, Turn
from helamem_core.config import DEFAULT
from helamem_core.local_neo4j import Server
from helamem_core.records import Reinforcement
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.neo4j.connection import Transaction
from helamem_core.testing.fakes import MODEL, NOW, axis, node, query

WRITERS = 8
ROUNDS = 25


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each statement was sent."""
    sent: Counter[str] = Counter()
    run = Transaction.run

    def counted(self: Transaction, name: str, **parameters: Any) -> Any:
        sent[name] += 1
        return run(self, name, **parameters)

    monkeypatch.setattr(Transaction, "run", counted)
    return sent


def hub(store: Neo4jStore, space: str) -> None:
    nodes = [node("the hub", id="hub", vector=axis(0))]
    nodes += [node(f"spoke {at}", id=f"spoke {at}", vector=axis(1 + at % 10)) for at in range(WRITERS)]
    store.remember(space, nodes, embedder=MODEL, config=DEFAULT)


def recall_and_close(store: Neo4jStore, space: str) -> None:
    assert store.recall(space, query("hub", vector=axis(0), k=1)).items
    store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_fork_has_a_driver_of_its_own(store: Neo4jStore, space: str) -> None:
    """It works and closes the store, and the parent goes on with the connections that it had."""
    hub(store, space)
    for _ in range(2):
        child = multiprocessing.get_context("fork").Process(target=recall_and_close, args=(store, space))
        child.start()
        child.join(30)
        assert child.exitcode == 0
        assert store.recall(space, query("hub", vector=axis(0), k=1)).items


def test_writers_of_one_hub_lose_nothing(store: Neo4jStore, space: str, tries: Counter[str]) -> None:
    hub(store, space)

    def write(at: int) -> None:
        for turn in range(ROUNDS):
            event = Reinforcement(ids=("hub", f"spoke {at}"), cue=None, event=f"{at} {turn}", now=NOW, config=DEFAULT)
            assert store.reinforce(space, event).applied

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    events = WRITERS * ROUNDS
    links = [line["link"] for line in store.dump(space) if "link" in line]
    assert store.present(space, ["hub"], NOW)["hub"].uses == events
    assert [link["count"] for link in links] == [ROUNDS] * WRITERS
    assert store.stats(space, NOW, DEFAULT).steps == events
    assert tries["reinforce.reinforce_by_words"] <= events * 1.01
    assert store.check() == []
    store.drop_space(space)


def test_the_same_event_from_everywhere_counts_once(store: Neo4jStore, space: str) -> None:
    hub(store, space)
    event = Reinforcement(ids=("hub", "spoke 0"), cue=None, event="once", now=NOW, config=DEFAULT)
    with ThreadPoolExecutor(WRITERS) as pool:
        reports = list(pool.map(lambda _: store.reinforce(space, event), range(WRITERS)))
    assert sum(report.applied for report in reports) == 1
    store.drop_space(space)


def test_the_same_turns_from_everywhere_are_stored_once(store: Neo4jStore, space: str) -> None:
    nodes = [node(f"turn {at} of many", vector=axis(at % 10), session="s") for at in range(30)]
    with ThreadPoolExecutor(WRITERS) as pool:
        stored = list(pool.map(lambda _: store.remember(space, nodes, embedder=MODEL, config=DEFAULT), range(WRITERS)))
    assert sum(map(sum, stored)) == len(nodes)
    assert store.stats(space, NOW, DEFAULT).links["NEXT"] == len(nodes) - 1
    assert store.check() == []
    store.drop_space(space)


def from_a_process(url: str, user: str | None, password: str | None, space: str, mark: str) -> None:
    with Memory.open(url, space=space, embedder="hashing", user=user, password=password) as memory:
        for at in range(10):
            stored = memory.remember(Turn(f"process {mark} says number {at}", id=f"{mark}/{at}", session=mark))
            memory.reinforce(stored.ids, cue="who says what?", event_id=f"{mark}/{at}")


def test_processes_share_a_space(neo4j_server: Server, store: Neo4jStore, space: str) -> None:
    context = multiprocessing.get_context("spawn")
    server = (neo4j_server.bolt_url, neo4j_server.user, neo4j_server.password)
    workers = [context.Process(target=from_a_process, args=(*server, space, mark)) for mark in "abc"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    counts = store.stats(space, NOW, DEFAULT)
    assert (counts.memories, counts.links["NEXT"], counts.steps) == (30, 27, 30)
    assert store.check() == []
    store.drop_space(space)
