"""Several processes and threads on one file, and processes that are killed.

`HELAMEM_SHARE_SECONDS=30` lets two processes share a file for longer than the default.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from helamem_core.config import DEFAULT
from helamem_core.errors import StoreUnavailable
from helamem_core.protocols import Store
from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.sqlite import MEMORY, SQLiteStore
from helamem_core.stores.sqlite.connections import FORK_PATIENCE
from helamem_core.testing.fakes import NOW, Room, axis, cue, node, weights

ROOT = Path(__file__).parents[2]
SHARE_SECONDS = os.environ.get("HELAMEM_SHARE_SECONDS", "8")
KILLS = 50


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(path)) as store:
        yield store


def run(*arguments: object) -> Any:
    script = Path(__file__).with_name("sqlite_processes.py")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def together(*acts: Callable[[], object]) -> None:
    """Run acts in threads at once; raise what any of them raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(acts))

    def perform(act: Callable[[], object]) -> None:
        try:
            start.wait()
            act()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=perform, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_killed_in_the_middle_of_writing(path: Path) -> None:
    found = run("kill", path, KILLS)
    assert found["interrupted"] == KILLS
    assert found["acknowledged"] >= 3 * KILLS
    assert found["lost"] == []
    assert found["faults"] == []
    assert found["answers"] == 10


def test_two_processes_share_a_file(path: Path) -> None:
    *sides, after = run("share", path, SHARE_SECONDS)
    for side in sides:
        assert "error" not in side, side
        assert side["written"] > 10, side
        assert side["read"] > 50, side
    assert after == {"faults": []}


def test_threads_that_teach_one_hub_lose_nothing(store: SQLiteStore) -> None:
    room = Room(store)
    room.remember(node("hub"), *[node(f"spoke {n}") for n in range(8)])

    def teach(n: int) -> None:
        for turn in range(25):
            assert room.reinforce("hub", f"spoke {n}", event=f"{n}-{turn}").applied

    together(*[lambda n=n: teach(n) for n in range(8)])
    assert room.get("hub").uses == room.get("hub").fires == 200
    assert store.stats(room.space, NOW, DEFAULT).steps == 200
    links = [line["link"] for line in store.dump(room.space) if "link" in line]
    assert sorted(link["count"] for link in links) == [25] * 8
    assert store.check() == []


def test_readers_see_whole_states_while_others_write(path: Path, store: SQLiteStore) -> None:
    room, done = Room(store), threading.Event()
    room.remember(*[node(f"steady {n} tea", vector=axis(n)) for n in range(5)])

    def write() -> None:
        with closing(SQLiteStore(path)) as other:
            mine = Room(other)
            for n in range(60):
                pair = [f"{half} half {n} tea" for half in ("one", "other")]
                mine.remember(*[node(text, vector=axis(5)) for text in pair])
                other.archive(mine.space, pair, NOW) if n % 2 else other.forget(mine.space, pair)
        done.set()

    def read() -> None:
        while not done.is_set():
            found = room.found("tea", axis(5), k=1000)
            halves = [id for id in found if "half" in id]
            assert len(found) - len(halves) == 5
            assert len(halves) % 2 == 0, halves

    together(write, read, read)
    assert sorted(room.found("tea", axis(5), k=1000)) == [f"steady {n} tea" for n in range(5)]


def test_another_process_is_never_behind(path: Path, store: SQLiteStore) -> None:
    """Each verb of one store is seen by another that has the space in memory already."""
    with closing(SQLiteStore(path)) as other:
        here, there = Room(store), Room(other)
        here.remember(node("green tea", vector=axis(0)), node("rain", vector=axis(1)))
        assert there.found("tea", k=1) == ["green tea"]
        store.archive(here.space, ["green tea"], NOW)
        assert there.found("tea") == []
        store.restore(here.space, ["green tea"])
        assert there.found("tea") == ["green tea"]
        here.reinforce("rain", cue=cue("weather", axis(4)), times=5)
        assert there.found("", axis(4), k=1) == ["rain"]
        store.forget(here.space, ["green tea"])
        assert there.found("tea") == []
        store.drop_space(here.space)
        assert there.found("rain") == []
        here.remember(node("new rain", vector=axis(1)))
        assert there.found("rain") == ["new rain"]


def test_spaces_leave_memory_when_they_are_too_many(path: Path) -> None:
    with closing(SQLiteStore(path, cache_bytes=1)) as store:
        rooms = [Room(store, f"space {n}") for n in range(5)]
        for n, room in enumerate(rooms):
            room.remember(node(f"tea of space {n}", vector=axis(n)))
        for _ in range(2):
            for n, room in enumerate(rooms):
                assert room.found("tea", axis(n)) == [f"tea of space {n}"]
        assert len(store._cache._entries) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_fork_opens_its_own_connections(path: Path, store: SQLiteStore) -> None:
    Room(store).remember(node("tea", vector=axis(0)))
    assert Room(store).found("tea") == ["tea"]
    child = multiprocessing.get_context("fork").Process(target=use_inherited, args=(store,))
    child.start()
    for n in range(20):
        Room(store).remember(f"parent's tea {n}")
    child.join(60)
    assert child.exitcode == 0
    assert len(Room(store).found("tea", k=100)) == 41
    assert store.check() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("where", ["file", "memory", "reference"])
@pytest.mark.parametrize("busy", ["r", "w", "rw"])
def test_a_fork_while_other_threads_work(path: Path, where: str, busy: str) -> None:
    """Fault: the child can never write, since it inherits locks that only the parent's threads could release."""
    with closing(
        ReferenceStore() if where == "reference" else SQLiteStore(path if where == "file" else MEMORY)
    ) as store:
        room, done = Room(store), threading.Event()
        room.remember(*[node(f"tea {n}", vector=axis(n % 9)) for n in range(100)])

        def work(kind: str) -> None:
            n = 0
            while not done.is_set():
                n += 1
                assert room.found("tea", axis(n % 9)) if kind == "r" else room.remember(f"{kind} {n}")

        def forks() -> None:
            try:
                for n in range(5):
                    assert child(partial(teach, room, f"child {n}")) == 0
            finally:
                done.set()

        together(forks, *[partial(work, kind) for kind in busy])
        assert store.check() == []
        written = {f"child {n}" for n in range(5)} & set(room.listed())
        assert len(written) == (5 if where == "file" else 0)


def teach(room: Room, text: str) -> None:
    room.remember(node(text, vector=axis(1)))
    room.reinforce(text, "tea 1")
    assert room.found(text)


def child(act: Callable[[], object]) -> int:
    """Run an act in a fork; return its exit status, 1 if it raised, 14 (a signal) if it never ended."""
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    signal.alarm(20)
    try:
        act()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_inside_an_export_does_not_wait_and_is_told(store: SQLiteStore) -> None:
    room = Room(store)
    room.remember(*[f"tea {n}" for n in range(3)])
    lines = store.dump(room.space)
    assert next(lines)["space"] == room.space
    start = time.monotonic()
    assert child(lambda: refused(room)) == 0
    assert time.monotonic() - start < FORK_PATIENCE
    assert sum("episode" in line for line in lines) == 3
    assert child(lambda: teach(room, "child")) == 0
    room.remember("rain")
    assert store.check() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_an_import_that_goes_on_in_a_fork_is_stored_once(store: SQLiteStore) -> None:
    """Fault: parent and child commit the same transaction."""
    room = Room(store)
    room.remember(*[f"tea {n}" for n in range(3)])
    lines, forked = list(store.dump(room.space)), []

    def records() -> Iterator[dict[str, Any]]:
        yield from lines[:2]
        forked.append(os.fork())
        yield from lines[2:]

    try:
        assert store.load("copy", records()) == 3
    except StoreUnavailable:
        os._exit(0 if forked == [0] else 1)
    if forked == [0]:
        os._exit(2)
    assert os.waitpid(forked[0], 0)[1] == 0
    assert Room(store, "copy").listed() == room.listed()
    room.remember("rain")
    assert store.check() == []


def refused(room: Room) -> None:
    for act in (lambda: room.remember("rain"), room.listed, lambda: room.found("tea")):
        with pytest.raises(StoreUnavailable, match="forked in the middle"):
            act()
    room.store.close()


def use_inherited(store: Store) -> None:
    for n in range(20):
        Room(store).remember(f"child's tea {n}")
    assert len(Room(store).found("tea", k=100)) >= 21
    store.close()


def test_recalling_writes_nothing(path: Path, store: SQLiteStore) -> None:
    room = Room(store)
    room.remember(*[node(f"tea {n}", vector=axis(n % 9)) for n in range(30)])
    room.reinforce("tea 1", "tea 2", cue=cue("which?", axis(3)), times=3)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}
    learned = weights(store.dump(room.space))
    for n in range(10_000):
        assert room.found(f"tea {n % 30}", axis(n % 9), k=3)
    assert weights(store.dump(room.space)) == learned
    assert {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")} == before


def test_an_export_under_way_holds_one_state(store: SQLiteStore) -> None:
    room = Room(store)
    room.remember(*[f"tea {n}" for n in range(3)])
    lines = store.dump(room.space)
    assert next(lines)["space"] == room.space
    room.remember("rain")
    store.archive(room.space, ["tea 1"], NOW)
    assert [(line["episode"]["id"], line["episode"]["archived_at"]) for line in lines if "episode" in line] == [
        (f"tea {n}", None) for n in range(3)
    ]
