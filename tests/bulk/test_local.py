"""Bulk loading in one process: the memory that `remember` makes, resumed after whatever stopped it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helamem_core.bulk import local
from helamem_core.bulk.report import Failure
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.errors import InvalidInput, StoreUnavailable
from helamem_core.memory import Memory
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.types import Turn
from tests.bulk.samples import graph, turns, write_lines


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(f"sqlite:///{tmp_path}/bulk.db", space="me", embedder="hashing") as opened:
        yield opened


def remembered(tmp_path: Path, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the graph that `remember` makes of the same turns in one call."""
    with Memory.open(f"sqlite:///{tmp_path}/plain.db", space="me", embedder="hashing") as plain:
        vectors = [np.asarray(record["vector"], np.float32) for record in records]
        given = [Turn(**{key: value for key, value in record.items() if key != "vector"}) for record in records]
        plain.remember(given, vectors=vectors)
        return graph(plain)


def test_makes_the_memory_that_remember_makes(tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "BATCHES", 1)
    records = list(turns(700))
    seen: list[tuple[int, int | None]] = []
    path = write_lines(tmp_path / "t.jsonl", iter(records))
    report = local.load(memory, [path], progress=lambda done, total: seen.append((done, total)))
    assert (report.engine, report.workers, report.failed, report.turns) == ("local", 1, 0, 700)
    assert (report.stored, report.unchanged) == (693, 7)
    assert seen == [(256, 700), (512, 700), (700, 700)]
    assert graph(memory) == remembered(tmp_path, records)


def test_given_vectors_spare_the_embedder_and_the_others_are_embedded_in_their_place(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    embed = HashingEmbedder.embed

    def noted(self: HashingEmbedder, texts: Any, *, kind: Any) -> Any:
        asked.extend(texts)
        return embed(self, texts, kind=kind)

    monkeypatch.setattr(HashingEmbedder, "embed", noted)
    records = [record | {"id": f"r{at}", "session": "one"} for at, record in enumerate(turns(40))]
    for record in records[10:20]:
        del record["vector"]
    assert local.load(memory, [write_lines(tmp_path / "t.jsonl", iter(records))]).failed == 0
    assert asked == [record["text"] for record in records[10:20]]
    order = {item.id: item.previous for item in memory.list()}
    assert order == {f"r{at}": f"r{at - 1}" if at else None for at in range(40)}
    assert memory.stats().unembedded == 0


def test_a_row_that_fails_is_told_and_the_others_are_stored(tmp_path: Path, memory: Memory) -> None:
    good = list(turns(6))
    lines = [good[1], {"text": "x", "at": "yesterday"}, good[2] | {"vector": [1.0]}, {"text": "no id"}, good[4]]
    path = write_lines(tmp_path / "t.jsonl", iter(lines))
    failures: list[Failure] = []
    report = local.load(memory, [path], reject=failures.append)
    assert (report.stored, report.failed, report.broken) == (2, 3, None)
    assert sorted(failure.line for failure in failures) == [2, 3, 4]
    told = {failure.line: failure.error for failure in failures}
    assert "yesterday" in told[2]
    assert "its vector cannot be used" in told[3]
    assert "needs 'id' or 'at'" in told[4]
    assert all("vector" not in failure.turn for failure in failures)


def test_vectors_for_a_memory_of_words_fail_row_by_row(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", turns(3))
    with Memory.open("memory:", space="me", embedder="words") as words:
        report = local.load(words, [path])
    assert report.failed == 3
    assert "this memory works by words alone" in report.failures[0].error


def test_a_store_that_breaks_stops_the_load_and_the_next_one_goes_on(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "BATCHES", 1)
    records = list(turns(1500))
    path = write_lines(tmp_path / "t.jsonl", iter(records))
    put, calls = SQLiteStore.remember, itertools.count()

    def broken(self: SQLiteStore, *args: Any, **kwargs: Any) -> list[bool]:
        if next(calls) == 2:
            raise StoreUnavailable("the disk is gone")
        return put(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, "remember", broken)
        report = local.load(memory, [path])
    assert report.broken == "the disk is gone"
    assert (report.turns, report.failed) == (768, 256)
    assert all(failure.store for failure in report.failures)
    again = local.load(memory, [path])
    assert (again.failed, again.stored + again.unchanged) == (0, 1500)
    assert graph(memory) == remembered(tmp_path, records)


def test_a_store_that_breaks_behind_a_bad_row_stops_the_load_too(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = {"text": "x", "at": "yesterday", "vector": next(turns(1))["vector"]}
    embedded = [{key: value for key, value in record.items() if key != "vector"} for record in turns(5)]
    path = write_lines(tmp_path / "t.jsonl", iter([bad, *turns(5), *embedded]))
    put, calls = SQLiteStore.remember, itertools.count()

    def broken(self: SQLiteStore, *args: Any, **kwargs: Any) -> list[bool]:
        if not next(calls):
            raise StoreUnavailable("the disk is gone")
        return put(self, *args, **kwargs)

    monkeypatch.setattr(SQLiteStore, "remember", broken)
    report = local.load(memory, [path])
    assert report.broken == "the disk is gone"
    assert (report.stored, report.failed) == (0, 11)


def test_a_file_that_cannot_be_read_stores_nothing(tmp_path: Path, memory: Memory) -> None:
    path = write_lines(tmp_path / "t.jsonl", turns(3))
    with pytest.raises(InvalidInput, match="No such file"):
        local.load(memory, [path, str(tmp_path / "none.jsonl")])
    assert not memory.list()
