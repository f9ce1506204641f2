"""Opening: what is no store of ours is refused with the way out and left as it is."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest

from helamem_core.errors import (
    ForeignStore,
    InvalidInput,
    SchemaTooNew,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from helamem_core.stores import open_store
from helamem_core.stores.migrations import migrations
from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.fakes import NOW, Room, axis, cue, near, node

OURS = len(migrations())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def version(path: Path, number: int | None = None) -> int:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if number is not None:
            db.execute(f"PRAGMA user_version = {number}")
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_a_new_file_is_made_and_found_again(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        Room(store).remember("green tea")
        assert Room(store).found("tea") == ["green tea"]
    with closing(SQLiteStore(path)) as store:
        assert Room(store).found("tea") == ["green tea"]
    assert version(path) == OURS
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]


def test_an_empty_file_is_taken_as_new(path: Path) -> None:
    path.touch()
    with closing(SQLiteStore(path)) as store:
        assert store.spaces() == []
        assert store.check() == []


@pytest.mark.parametrize("held", [b"dear diary", b"SQLite format 3\0 but only at the start" + b"x" * 200])
def test_a_file_that_is_no_database_is_left_alone(path: Path, held: bytes) -> None:
    path.write_bytes(held)
    with pytest.raises(ForeignStore, match="name another path"):
        SQLiteStore(path)
    assert contents(path.parent) == {"memory.db": held}


@pytest.mark.parametrize("write_ahead", [False, True])
def test_another_programs_database_is_left_alone(path: Path, write_ahead: bool) -> None:
    with closing(sqlite3.connect(path)) as db:
        if write_ahead:
            db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE theirs (value TEXT)")
        db.commit()
    before = contents(path.parent)
    with pytest.raises(ForeignStore, match=r"memory\.db.*another program"):
        SQLiteStore(path)
    assert contents(path.parent) == before


def test_a_newer_file_is_left_alone_and_both_versions_are_named(path: Path) -> None:
    SQLiteStore(path).close()
    version(path, OURS + 1)
    before = contents(path.parent)
    with pytest.raises(SchemaTooNew, match=rf"version {OURS + 1}\b.*version {OURS}\b.*upgrade"):
        SQLiteStore(path)
    assert contents(path.parent) == before


def test_a_damaged_file_is_told_by_name(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        Room(store).remember(*[f"tea {n} " + "x" * 500 for n in range(100)])
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises(StoreError, match=r"memory\.db.*restore a backup"), closing(SQLiteStore(path)) as store:
        Room(store).found("tea")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"no/such' does not exist; make it first"):
        SQLiteStore(tmp_path / "no" / "such" / "memory.db")
    assert contents(tmp_path) == {}


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a folder"):
        SQLiteStore(tmp_path)


def test_what_cannot_be_written_is_told_before_anything_is_made(path: Path) -> None:
    with mock.patch("os.access", return_value=False), pytest.raises(StoreUnavailable, match="cannot be written"):
        SQLiteStore(path)
    assert not path.exists()


def test_a_lock_held_too_long_is_busy_and_reads_go_on(path: Path) -> None:
    with closing(SQLiteStore(path, timeout=0.1)) as store, closing(sqlite3.connect(path, isolation_level=None)) as db:
        Room(store).remember("tea")
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"memory\.db.*larger `timeout`"):
            Room(store).remember("rain")
        assert Room(store).found("tea") == ["tea"]
        db.execute("ROLLBACK")
        assert Room(store).remember("rain") == [True]


def test_many_open_a_new_file_at_once(path: Path) -> None:
    failures: list[BaseException] = []

    def open_and_write(number: int) -> None:
        try:
            with closing(SQLiteStore(path)) as store:
                Room(store).remember(f"tea {number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=open_and_write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with closing(SQLiteStore(path)) as store:
        assert len(Room(store).listed()) == 8
        assert store.check() == []


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_went_away_is_missed(path: Path, replaced: bool) -> None:
    """Fault: what is written into a deleted file is reported as stored."""
    with closing(SQLiteStore(path)) as store:
        room = Room(store)
        room.remember("tea")
        for file in list(path.parent.iterdir()):
            file.unlink()
        if replaced:
            SQLiteStore(path).close()
        for act in (
            lambda: room.remember("rain"),
            lambda: room.reinforce("tea"),
            lambda: store.forget(room.space, ["tea"]),
            lambda: store.backup(path.with_name("copy")),
            lambda: store.drop_space(room.space),
        ):
            with pytest.raises(StoreUnavailable, match=re.escape(str(path))):
                act()
        assert path.exists() == replaced
    assert path.exists() == replaced
    with closing(SQLiteStore(path)) as store:
        assert Room(store).remember("rain") == [True]


def test_a_file_moved_back_is_the_same(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        Room(store).remember("tea")
        path.rename(path.with_name("elsewhere"))
        with pytest.raises(StoreUnavailable, match="deleted or replaced"):
            Room(store).remember("rain")
        path.with_name("elsewhere").rename(path)
        assert Room(store).remember("rain") == [True]


def test_a_closed_store_says_so(path: Path) -> None:
    store = SQLiteStore(path)
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="is closed"):
        store.spaces()


def test_synchronous_is_checked() -> None:
    with pytest.raises(InvalidInput, match="'off'"):
        SQLiteStore(synchronous="off")  # type: ignore[arg-type]


class TestBorrowed:
    @pytest.fixture
    def lent(self, path: Path) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(path, check_same_thread=False)) as db:
            yield db

    def test_it_is_used_and_left_open(self, lent: sqlite3.Connection) -> None:
        with closing(SQLiteStore(connection=lent)) as store:
            Room(store).remember("tea")
            assert Room(store).found("tea") == ["tea"]
        assert lent.execute("SELECT text FROM episodes").fetchall() == [("tea",)]
        with closing(SQLiteStore(connection=lent)) as store:
            assert Room(store).found("tea") == ["tea"]

    def test_another_programs_is_refused(self, lent: sqlite3.Connection) -> None:
        lent.execute("CREATE TABLE theirs (value TEXT)")
        with pytest.raises(ForeignStore):
            SQLiteStore(connection=lent)
        lent.execute("SELECT value FROM theirs")

    def test_it_must_be_in_no_transaction(self, lent: sqlite3.Connection) -> None:
        lent.execute("BEGIN")
        with pytest.raises(InvalidInput, match="in a transaction"):
            SQLiteStore(connection=lent)
        assert lent.in_transaction

    def test_its_open_transaction_is_not_touched(self, lent: sqlite3.Connection) -> None:
        store = SQLiteStore(connection=lent)
        lent.execute("BEGIN")
        with pytest.raises(StoreError, match="in a transaction"):
            store.spaces()
        assert lent.in_transaction


class TestUrls:
    @pytest.fixture(autouse=True)
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    @pytest.mark.parametrize("name", ["memory.db", "Über Größe.DB", "50%25 off.db", "记忆.db", "a b+c.db"])
    def test_a_path_is_taken_as_it_is_written(self, tmp_path: Path, name: str) -> None:
        for url in (f"sqlite:///{name}", f"sqlite:///{tmp_path}/{name}"):
            with closing(open_store(url)) as store:
                Room(store).remember("tea")
            assert os.listdir(tmp_path) == [name]  # noqa: PTH208

    def test_a_relative_path_stays_where_it_was_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "elsewhere").mkdir()
        with closing(open_store("sqlite:///memory.db")) as store:
            monkeypatch.chdir(tmp_path / "elsewhere")
            Room(store).remember("tea")
            assert Room(store).found("tea") == ["tea"]
        assert os.listdir() == []  # noqa: PTH208

    def test_memory(self) -> None:
        assert isinstance(open_store("memory:"), ReferenceStore)
        with closing(open_store("sqlite:///:memory:")) as store:
            assert isinstance(store, SQLiteStore)
            assert store.spaces() == []
        assert os.listdir() == []  # noqa: PTH208

    def test_options_reach_the_engine(self) -> None:
        open_store("sqlite:///memory.db", timeout=1.0, synchronous="normal").close()

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "memory.db",
            "sqlite:memory.db",
            "sqlite://memory.db",
            "SQLITE:///memory.db",
            "neo4j:host",
            "sqlite:///",
        ],
    )
    def test_what_it_knows_is_named(self, url: str) -> None:
        with pytest.raises(InvalidInput, match=r"sqlite:///relative/path"):
            open_store(url)

    @pytest.mark.parametrize(
        "url",
        [
            "neo4j+t://ann:hush@host:7687/db",
            "postgres://ann:hu/sh?hush#hush@host",
            "x://a@b:hush hush'hush@host",
            "ann:hush@host",
            "ann://:hush:hush@host",
            "neo4j+t://host?password=hush",
        ],
    )
    def test_no_password_is_shown(self, url: str) -> None:
        with pytest.raises(InvalidInput, match="host") as caught:
            open_store(url)
        assert not re.search("hush|hu/sh", str(caught.value))

    @pytest.mark.parametrize("url", ["sqlite:///memory.db?mode=ro", "sqlite:///memory.db#part", "sqlite:///a\0b"])
    def test_queries_are_refused(self, url: str) -> None:
        with pytest.raises(InvalidInput):
            open_store(url)
        assert os.listdir() == []  # noqa: PTH208

    def test_unknown_options_are_refused(self) -> None:
        for url in ("sqlite:///memory.db", "memory:"):
            with pytest.raises(InvalidInput, match="speed"):
                open_store(url, speed=11)


def test_a_file_of_the_version_before_recalls_the_same(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        fill(Room(store))
        expected = answers(Room(store))
        held = Room(store).dump()
    back_to_version_1(path)
    with closing(SQLiteStore(path)) as store:
        assert answers(Room(store)) == expected
        assert Room(store).dump() == held
        assert store.check() == []
    assert version(path) == OURS


def test_every_version_has_a_migration_that_sets_it(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        for number, script in enumerate(migrations(), 1):
            db.executescript(script)
            assert db.execute("PRAGMA user_version").fetchone() == (number,)


def fill(room: Room) -> None:
    """Memories with learned links, of which some come from a turn that asked and some from a cue of its own."""
    room.remember(node("where is the tea?", id="ask", vector=axis(0), session="s"))
    room.remember(node("in the cupboard", id="cupboard", vector=axis(1), session="s"))
    room.remember(node("behind the rice", id="rice", vector=axis(2), expires_at=NOW + 9))
    room.remember(node("old news", id="old", vector=axis(3)))
    room.reinforce("cupboard", "rice", cue="ask", times=3)
    room.reinforce("rice", "old", cue=cue("what else?", axis(4)))
    room.store.archive(room.space, ["old"], NOW)


def answers(room: Room) -> list[object]:
    questions = [("tea", near(axis(0), 0.95, 7)), ("rice", None), ("", near(axis(4), 0.95, 7)), ("cupboard", axis(1))]
    return [[(item.node, item.score, item.path, item.why) for item in room.recall(*asked).items] for asked in questions]


def back_to_version_1(path: Path) -> None:
    """Rewrite a file as the first version of the schema would have it: the same rows, fewer columns."""
    old = path.with_name("old.db")
    with closing(sqlite3.connect(old)) as db:
        db.executescript(migrations()[0])
        db.execute("ATTACH ? AS ours", (str(path),))
        db.execute("DELETE FROM file")
        tables = ["file", "spaces", "episodes", "vectors", "staged", "postings", "links", "cues", "events", "erased"]
        for table in tables:
            names = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
            db.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM ours.{table}")
        db.commit()
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    old.replace(path)
