"""Erased means gone from the bytes of the file and of its log, or reported as pending and finished later."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helamem_core.config import DEFAULT, Limits
from helamem_core.protocols import Store
from helamem_core.records import Embedded
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.fakes import MODEL, NOW, OTHER_MODEL, Room, axis, cue, node, patch, vector
from helamem_core.types import EmbedderIdentity

CANARY = "quetzalcoatl"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def room(path: Path) -> Iterator[Room]:
    with closing(SQLiteStore(path)) as store:
        yield Room(store)


def traces(path: Path) -> list[str]:
    """The files that hold the canary."""
    return [file.name for file in path.parent.iterdir() if CANARY.encode() in file.read_bytes()]


def fill(room: Room, count: int = 300) -> None:
    """Enough around the canary that pages are split, in every place that a word can be."""
    others = [node(f"memory number {n} of tea " + "leaf " * (n % 60), vector=axis(n % 9)) for n in range(count)]
    room.remember(*others[: count // 2])
    room.remember(
        node(
            f"the {CANARY} flies",
            id=f"{CANARY}-id",
            vector=axis(9),
            session=f"{CANARY}-session",
            speaker=CANARY,
            role=CANARY,
            metadata={CANARY: CANARY},
        )
    )
    room.remember(*others[count // 2 :])
    room.reinforce(f"{CANARY}-id", cue=cue(f"who is {CANARY}?", axis(10)))
    room.reinforce(f"{CANARY}-id", others[0].id)


def test_the_canary_is_found_before(path: Path, room: Room) -> None:
    fill(room)
    assert traces(path)


def test_forget_leaves_no_byte(path: Path, room: Room) -> None:
    fill(room)
    report = room.store.forget(room.space, [f"{CANARY}-id"])
    assert report.purged
    assert traces(path) == []
    assert room.store.check() == []


def test_dropping_a_space_leaves_no_byte(path: Path, room: Room) -> None:
    room.beside("other").remember("tea")
    fill(room)
    assert room.store.drop_space(room.space).purged
    assert traces(path) == []
    assert room.beside("other").found("tea") == ["tea"]


def test_what_faded_leaves_no_byte(path: Path, room: Room) -> None:
    fill(room)
    room.store.update(room.space, f"{CANARY}-id", patch(expires_at=NOW + 1), NOW)
    room.store.fade(room.space, NOW + 2, DEFAULT)
    assert traces(path) == []


def test_a_replaced_text_is_gone_once_closed(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        room = Room(store)
        room.remember(*[f"memory {n} of tea" for n in range(100)])
        room.remember(node(f"the {CANARY} flies", id="m"))
        store.update(room.space, "m", patch("nothing flies"), NOW)
        assert room.found(CANARY) == []
    assert traces(path) == []


def test_replaced_metadata_is_gone_once_closed(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        room = Room(store)
        room.remember(*[f"memory {n} of tea" for n in range(100)])
        room.remember(node("it flies", id="m", metadata={CANARY: [CANARY] * 100}))
        store.update(room.space, "m", patch(metadata={"note": "nothing flies"}), NOW)
        assert traces(path)
    assert traces(path) == []


def test_replaced_metadata_goes_with_the_next_forget(path: Path, room: Room) -> None:
    room.remember(node("it flies", id="m", metadata={CANARY: CANARY}), "tea")
    room.store.update(room.space, "m", patch(metadata={}), NOW)
    assert room.store.forget(room.space, ["tea"]).purged
    assert traces(path) == []


def test_replaced_metadata_goes_at_the_next_open(path: Path) -> None:
    with closing(SQLiteStore(path, timeout=0.1)) as store, closing(sqlite3.connect(path, isolation_level=None)) as db:
        room = Room(store)
        room.remember(node("it flies", id="m", metadata={CANARY: CANARY}))
        db.execute("BEGIN")
        assert db.execute("SELECT count(*) FROM episodes").fetchone() == (1,)
        store.update(room.space, "m", patch(metadata={}), NOW)
        store.close()
        assert traces(path)
    SQLiteStore(path).close()
    assert traces(path) == []


def test_cues_that_make_room_leave_no_byte(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        room = Room(store).tuned(limits=Limits(max_cues=1))
        room.remember("tea")
        room.reinforce("tea", cue=cue(f"where is {CANARY}?", axis(1)))
        room.now += 1
        room.reinforce("tea", cue=cue("where is the tea?", axis(2)))
        assert CANARY not in str(room.dump())
    assert traces(path) == []


def test_idle_cues_that_fade_leave_no_byte(path: Path, room: Room) -> None:
    room.remember("tea")
    room.reinforce("tea", cue=cue(f"where is {CANARY}?", axis(1)))
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM links")
        db.commit()
    room.store.fade(room.space, NOW, DEFAULT)
    assert room.store.stats(room.space, NOW, DEFAULT).cues == 0
    assert traces(path) == []


def test_a_cue_forgotten_by_name_leaves_no_byte(path: Path, room: Room) -> None:
    room.remember("tea")
    room.reinforce("tea", cue=cue(f"where is {CANARY}?", axis(1), id="cue:1"))
    report = room.store.forget(room.space, ["cue:1"])
    assert (report.ids, report.cues, report.purged) == ((), 1, True)
    assert traces(path) == []


def test_events_past_their_retention_leave_no_byte(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        room = Room(store).tuned(limits=Limits(event_retention=1.0))
        room.remember("tea")
        room.reinforce("tea", event=CANARY)
        room.now += 5
        room.reinforce("tea")
    assert traces(path) == []


def test_old_vectors_leave_no_byte_once_adopted(path: Path) -> None:
    old = vector(3, 1, 4, 1, 5, 9, 2, 6)
    with closing(SQLiteStore(path)) as store:
        room = Room(store)
        room.remember(node("tea", vector=old))
        store.stage(room.space, OTHER_MODEL, [Embedded("episode", "tea", "tea", axis(3))])
        store.adopt(room.space, OTHER_MODEL)
    assert [file.name for file in path.parent.iterdir() if old.tobytes() in file.read_bytes()] == []


def test_archiving_erases_nothing(path: Path, room: Room) -> None:
    """The words stay with the memory, to be indexed again: there is nothing to purge."""
    fill(room, 20)
    room.store.archive(room.space, [f"{CANARY}-id"], NOW)
    room.store.restore(room.space, [f"{CANARY}-id"])
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT erasures, purged FROM file").fetchone() == (0, 0)
    room.store.archive(room.space, [f"{CANARY}-id"], NOW)
    assert room.store.forget(room.space, [f"{CANARY}-id"]).purged
    assert traces(path) == []


def test_an_expired_memory_replaced_is_gone_once_closed(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        room = Room(store)
        room.remember(node(f"the {CANARY} flies", id="m", expires_at=NOW + 1))
        room.remember(node("nothing flies", id="m", recorded_at=NOW + 2))
    assert traces(path) == []


def test_staged_vectors_and_events_go_too(path: Path, room: Room) -> None:
    fill(room, 20)
    for item in room.store.unstaged(room.space, OTHER_MODEL, 99):
        room.store.stage(room.space, OTHER_MODEL, [Embedded(item.kind, item.id, item.text, axis(3))])
    room.store.drop_space(room.space)
    with closing(sqlite3.connect(path)) as db:
        tables = ["spaces", "episodes", "vectors", "staged", "postings", "links", "cues", "events", "erased"]
        assert {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables} == dict.fromkeys(
            tables, 0
        )


class TestPending:
    @pytest.fixture
    def room(self, path: Path) -> Iterator[Room]:
        with closing(SQLiteStore(path, timeout=0.1)) as store:
            yield Room(store)

    @pytest.fixture
    def reader(self, path: Path, room: Room) -> Iterator[sqlite3.Connection]:
        """Another process's connection in the middle of reading what is about to be erased."""
        fill(room, 20)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN")
            assert db.execute("SELECT count(*) FROM episodes").fetchone() == (21,)
            yield db

    def test_a_reader_holds_it_up_and_is_not_disturbed(
        self, path: Path, room: Room, reader: sqlite3.Connection
    ) -> None:
        report = room.store.forget(room.space, [f"{CANARY}-id"])
        assert report.ids == (f"{CANARY}-id",)
        assert not report.purged
        assert reader.execute("SELECT count(*) FROM episodes").fetchone() == (21,)
        assert room.found(CANARY) == []
        assert traces(path)

    def test_the_next_forget_finishes_it(self, path: Path, room: Room, reader: sqlite3.Connection) -> None:
        room.store.forget(room.space, [f"{CANARY}-id"])
        reader.execute("ROLLBACK")
        assert room.store.forget(room.space, []).purged
        assert traces(path) == []

    def test_the_next_open_finishes_it(self, path: Path, room: Room, reader: sqlite3.Connection) -> None:
        room.store.forget(room.space, [f"{CANARY}-id"])
        room.store.close()
        assert traces(path)
        reader.execute("ROLLBACK")
        SQLiteStore(path).close()
        assert traces(path) == []

    def test_a_backup_holds_nothing_erased(self, tmp_path: Path, room: Room, reader: sqlite3.Connection) -> None:
        room.store.forget(room.space, [f"{CANARY}-id"])
        (tmp_path / "backups").mkdir()
        copy = tmp_path / "backups" / "copy.db"
        room.store.backup(copy)
        assert CANARY.encode() not in copy.read_bytes()
        with closing(SQLiteStore(copy)) as store:
            assert Room(store).dump() == room.dump()
            assert store.check() == []


def test_everybody_reads_while_the_file_is_written_anew(path: Path, room: Room) -> None:
    fill(room, 3000)
    failures: list[BaseException] = []
    done = threading.Event()

    others = [SQLiteStore(path, timeout=5) for _ in range(2)]

    def read(store: Store) -> None:
        try:
            while not done.is_set():
                assert Room(store).found("memory", axis(3), k=3)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read, args=(store,)) for store in (room.store, *others)]
    for thread in threads:
        thread.start()
    for n in range(5):
        assert room.store.forget(room.space, [room.listed(limit=1)[0]]).purged, n
    done.set()
    for thread in threads:
        thread.join()
    for store in others:
        store.close()
    assert not failures


def test_adopting_another_model_leaves_no_old_vector(path: Path, room: Room) -> None:
    room.remember(node("tea", vector=axis(1)))
    model = EmbedderIdentity("narrow", 4)
    room.store.stage(room.space, model, [])
    room.store.adopt(room.space, model)
    assert room.store.identity(room.space) == model != MODEL
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
