"""`check` finds each kind of damage, and says in which space."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.fakes import MODEL, NOW, Room, axis, cue, node, vector

DAMAGE = {
    "dead end": "DELETE FROM cues",
    "follow one that is gone": "UPDATE episodes SET previous = 99 WHERE id = 'rain'",
    "not indexed by their words": "DELETE FROM postings WHERE term = 'tea'",
    "index entries belong to no memory": "UPDATE postings SET episode = 99 WHERE term = 'rain'",
    "lack their vector": "DELETE FROM vectors WHERE number = 1",
    "vectors belong to nothing": "INSERT INTO vectors VALUES (99, x'00')",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(path)) as store:
        room = Room(store)
        room.remember(node("green tea", vector=axis(0), session="s"), node("rain", vector=axis(1), session="s"))
        room.remember(node("old tea"))
        room.reinforce("green tea", "rain", cue=cue("what?", axis(2)))
        store.archive(room.space, ["old tea"], NOW)
        yield store


def test_a_sound_file_has_none(store: SQLiteStore) -> None:
    assert store.check() == []


@pytest.mark.parametrize("fault", DAMAGE)
def test_damage_is_found(path: Path, store: SQLiteStore, fault: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(DAMAGE[fault])
        db.commit()
    found = store.check()
    assert any(fault in sentence for sentence in found), found
    assert all("room" in sentence or "of no memory" in sentence for sentence in found)


def test_a_vector_of_another_width_is_found_and_never_compared(store: SQLiteStore) -> None:
    room = Room(store)
    room.remember(node("narrow", vector=vector(1, dimension=4)), embedder=MODEL)
    assert any("another width" in sentence for sentence in store.check())
    assert "narrow" not in room.found("", axis(0))
    assert "narrow" in room.found("narrow", axis(0))
