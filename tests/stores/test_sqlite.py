"""SQLite keeps the promises of every engine."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from helamem_core.config import DEFAULT
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.conformance import Engine, StoreConformance
from helamem_core.testing.fakes import Room, axis, cue, node


class TestSQLite(StoreConformance):
    @pytest.fixture
    def engine(self, tmp_path: Path) -> Engine:
        folder = tmp_path / "data"
        folder.mkdir()
        return Engine(open=lambda: SQLiteStore(folder / "memory.db"), durable=True, folder=folder, restore=SQLiteStore)


class TestSQLiteInMemory(StoreConformance):
    @pytest.fixture
    def engine(self) -> Engine:
        return Engine(open=SQLiteStore)


@pytest.mark.slow
def test_an_event_of_most_memories_takes_less_than_a_second(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "memory.db")) as store:
        room = Room(store)
        room.remember(*[node(f"m{n} tea", id=f"m{n}", vector=axis(n % 9)) for n in range(10_000)])
        ids = [f"m{n}" for n in range(0, 10_000, 10_000 // DEFAULT.limits.event_ids)]
        for n in range(2):
            start = time.perf_counter()
            assert room.reinforce(*ids, cue=cue(f"what {n}?", axis(n))).cued == len(ids)
            assert time.perf_counter() - start < 1
