"""Servers that are dead, stopped, killed, foreign or locked: one clear error each, and nothing acknowledged is lost."""

from __future__ import annotations

import socket
import threading
import time
import uuid
from contextlib import closing

import pytest
from neo4j import GraphDatabase

from helamem_core import Memory, Turn
from helamem_core.config import DEFAULT, Config, Limits
from helamem_core.errors import ForeignStore, RememberError, SchemaTooNew, StoreError, StoreUnavailable
from helamem_core.local_neo4j import CALENDAR, LTS, Line, Server
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.testing.fakes import MODEL, NOW, axis, node, query
from tests.neo4j.wiping import emptied, opened, wipe
from tests.neo4j_servers import StartServer

PATIENCE = 6.0
BATCH = 50
TURNS = [Turn(f"turn number {at} about tea", id=f"t{at}", session="s") for at in range(600)]
SMALL_BATCHES = Config(limits=Limits(batch=BATCH))


@pytest.fixture(scope="module", params=[LTS, CALENDAR], ids=["5.26", "2026.09"])
def mortal(start_neo4j: StartServer, request: pytest.FixtureRequest) -> Server:
    """A server that may be stopped and killed; each test leaves it running."""
    line: Line = request.param
    return start_neo4j(line)


@pytest.fixture
def space() -> str:
    return uuid.uuid4().hex


def memory(server: Server, space: str) -> Memory:
    return Memory.open(
        server.bolt_url,
        space=space,
        embedder="hashing",
        config=SMALL_BATCHES,
        user=server.user,
        password=server.password,
    )


@pytest.mark.parametrize(("user", "query"), [("", ""), ("ann:hush@", "/db"), ("ann:hush@", "?database=hush")])
def test_a_dead_server_is_reported_soon_and_no_password_shown(user: str, query: str) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"bolt://{user}127.0.0.1:{taken.getsockname()[1]}{query}"
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match=r"no Neo4j answers at bolt://127.0.0.1") as caught:
            Neo4jStore(url)
    assert time.monotonic() - began < PATIENCE
    assert "hush" not in str(caught.value)


def test_a_server_that_never_answers_is_reported_soon() -> None:
    with closing(socket.socket()) as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            Neo4jStore(f"bolt://127.0.0.1:{deaf.getsockname()[1]}")
        assert time.monotonic() - began < PATIENCE


def test_a_server_that_stops_leaves_a_resumable_batch(mortal: Server, space: str) -> None:
    with memory(mortal, space) as here:

        def stop(done: int, total: int | None) -> None:
            if done == 200:
                mortal.stop()

        began = time.monotonic()
        with pytest.raises(RememberError) as caught:
            here.remember(TURNS, progress=stop)
        report = caught.value.report
        assert [item.outcome for item in report.items].count("stored") == 200
        assert [turn.id for turn in report.remaining] == [turn.id for turn in TURNS[200:]]
        with pytest.raises(StoreUnavailable):
            here.recall("tea")
        assert time.monotonic() - began < 60
        mortal.start()
        again = here.remember(report.remaining)
        assert {item.outcome for item in again.items} == {"stored"}
        assert here.stats().memories == len(TURNS)
        assert here.stats().links["NEXT"] == len(TURNS) - 1


def test_what_was_acknowledged_outlives_a_kill(mortal: Server, space: str) -> None:
    acknowledged: list[str] = []

    def write() -> None:
        with memory(mortal, space) as here:
            for turn in TURNS:
                try:
                    here.remember(turn)
                except (StoreError, RememberError):
                    return
                acknowledged.append(str(turn.id))

    writer = threading.Thread(target=write)
    writer.start()
    while len(acknowledged) < 40 and writer.is_alive():
        time.sleep(0.01)
    url = mortal.bolt_url
    mortal.kill()
    assert not mortal.is_running()
    writer.join()
    mortal.start()
    assert mortal.bolt_url == url
    with memory(mortal, space) as here:
        held = {episode.id for episode in here.list()}
        assert set(acknowledged) <= held
        assert len(held) <= len(acknowledged) + 1
        assert {item.outcome for item in here.remember(TURNS[:60]).items} <= {"stored", "unchanged"}
    with closing(opened(mortal)) as store:
        assert store.check() == []


def test_a_wrong_password_is_told_and_not_shown(server_5_26: Server) -> None:
    with pytest.raises(StoreUnavailable, match=r"refuses these credentials") as caught:
        Neo4jStore(server_5_26.bolt_url, user="neo4j", password="guessed-wrong")
    assert "guessed-wrong" not in str(caught.value)
    with pytest.raises(StoreUnavailable, match=r"refuses these credentials"):
        Neo4jStore(server_5_26.bolt_url)


def test_credentials_and_database_in_the_url(server_5_26: Server) -> None:
    host = server_5_26.bolt_url.removeprefix("bolt://")
    with Memory.open(
        f"neo4j://neo4j:{server_5_26.password}@{host}/neo4j", space="in the url", embedder="hashing"
    ) as here:
        here.remember("tea")
        assert str(server_5_26.password) not in repr(here)
        here.drop_space("in the url")


def test_a_database_that_is_not_there(neo4j_server: Server) -> None:
    with pytest.raises(StoreUnavailable, match=r"has no database 'elsewhere'"):
        opened(neo4j_server, database="elsewhere")


def run(server: Server, *statements: str) -> None:
    with GraphDatabase.driver(server.bolt_url, auth=server.auth) as driver:
        for statement in statements:
            driver.execute_query(statement, database_="neo4j")


def test_an_index_of_another_width_is_told(neo4j_server: Server) -> None:
    wipe(neo4j_server)
    run(
        neo4j_server,
        "CREATE VECTOR INDEX helamem_memories_77 FOR (n:Vector77) ON (n.embedding) OPTIONS "
        "{indexConfig: {`vector.dimensions`: 78, `vector.similarity_function`: 'cosine'}}",
    )
    try:
        with pytest.raises(ForeignStore, match=r"helamem_memories_77.* 'neo4j' is of 78 numbers .* not of 77"):
            opened(neo4j_server)
    finally:
        run(neo4j_server, "DROP INDEX helamem_memories_77")


def test_a_newer_schema_is_left_alone(neo4j_server: Server) -> None:
    wipe(neo4j_server)
    run(neo4j_server, "MATCH (h:HelaMem) SET h.version = h.version + 1")
    try:
        with pytest.raises(SchemaTooNew, match=r"has schema 2; .* up to 1"):
            opened(neo4j_server)
    finally:
        run(neo4j_server, "MATCH (h:HelaMem) SET h.version = h.version - 1")


def test_a_database_of_something_else_is_left_alone(neo4j_server: Server) -> None:
    wipe(neo4j_server)
    run(neo4j_server, "MATCH (h:HelaMem) DELETE h", "CREATE (:Episode {theirs: true})")
    try:
        with pytest.raises(ForeignStore, match=r"not helamem's"):
            opened(neo4j_server)
    finally:
        run(neo4j_server, "MATCH (e:Episode {theirs: true}) DELETE e")
        opened(neo4j_server).close()


def test_a_borrowed_driver_stays_open(neo4j_server: Server) -> None:
    with GraphDatabase.driver(neo4j_server.bolt_url, auth=neo4j_server.auth) as driver:
        store = Neo4jStore(neo4j_server.bolt_url, driver=driver)
        store.close()
        store.close()
        assert driver.execute_query("RETURN 1 AS one", database_="neo4j").records[0]["one"] == 1
    with pytest.raises(StoreError, match=r"closed"):
        store.spaces()


def test_a_new_store_answers_at_once(neo4j_server: Server) -> None:
    """Indexes are awaited: what was just stored under a new width is found."""
    with closing(emptied(neo4j_server, exact_up_to=0)) as store:
        wide = [node("tea", vector=axis(3, 48))]
        store.remember("fresh", wide, embedder=MODEL, config=DEFAULT)
        assert [item.node.id for item in store.recall("fresh", query("x", vector=axis(3, 48))).items] == ["tea"]
        assert store.present("fresh", ["tea"], NOW)
        store.drop_space("fresh")
