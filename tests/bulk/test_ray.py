"""Bulk loading by Ray. SQLite stands in for a server: several processes of one machine may write to one file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helamem_core.bulk import local, pieces
from helamem_core.bulk import ray as engine
from helamem_core.bulk.report import BulkReport, Failure
from helamem_core.errors import InvalidInput, MissingExtra
from tests.bulk.loading import CONFIG, WORKERS, killed_in_the_middle, load, opened, small_ray
from tests.bulk.samples import graph, turns, write_lines

pytestmark = pytest.mark.timeout(900)
__all__ = ["small_ray"]  # a fixture
SECRET = "pa55-w0rd-of-a-test"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A Ray of this module; a load uses the connection that is open."""
    ray = pytest.importorskip("ray")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(address="local", num_cpus=WORKERS, object_store_memory=200 * 2**20, include_dashboard=False)
    yield ray
    ray.shutdown()


@pytest.fixture
def urls(tmp_path: Path) -> tuple[str, str]:
    """Stores for one process and for many; the second exists, since making one is not their race to run."""
    one, many = (f"sqlite:///{tmp_path}/{name}.db" for name in ("one", "many"))
    opened(many, "me").close()
    return one, many


def loaded(url: str, *paths: str, **options: Any) -> BulkReport:
    return engine.load(engine.Sink(url=url, space="me", embedder="hashing", config=CONFIG), paths, **options)


def test_two_workers_make_the_memory_of_one_process(
    cluster: Any, tmp_path: Path, urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces.split, "__defaults__", (100_000,))
    one, many = urls
    first = write_lines(tmp_path / "1.jsonl", turns(1500))
    odd = {"text": "\ud800", "at": "2025-01-01", "session": "session-1"}
    bad = [{"text": "no id"}, odd, {"text": "x", "at": "yesterday", "session": "session-1"}]
    second = write_lines(tmp_path / "2.jsonl", iter([*bad, *turns(900, vectors=False, seed=5)]))
    failures: list[Failure] = []
    expected: list[Failure] = []
    seen: list[tuple[int, int | None]] = []
    assert len(pieces.split([first, second])) > 10
    report = loaded(
        many, first, second, workers=WORKERS, reject=failures.append, progress=lambda *told: seen.append(told)
    )
    with opened(one, "me") as memory:
        plain = local.load(memory, [first, second], reject=expected.append)
        of_one = graph(memory)
    with opened(many, "me") as memory:
        of_many = graph(memory)
    assert of_many == of_one
    assert (report.engine, report.workers, report.broken) == ("ray", WORKERS, None)
    assert (report.stored, report.unchanged, report.failed) == (plain.stored, plain.unchanged, plain.failed)
    assert [failure.line for failure in sorted(failures, key=lambda failure: failure.line)] == [1, 3]
    assert sorted(map(repr, failures)) == sorted(map(repr, expected))
    assert seen[-1] == (2403, 2403)
    assert len(seen) > WORKERS
    again = loaded(many, first, second, workers=WORKERS)
    assert (again.stored, again.failed) == (0, report.failed)
    with opened(many, "me") as memory:
        assert graph(memory) == of_one


def test_a_store_that_cannot_be_opened_fails_each_row_and_no_secret_is_written_down(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELAMEM_NEO4J_PASSWORD", f"{SECRET}-too")
    path = write_lines(tmp_path / "t.jsonl", turns(50))
    report = loaded(f"bolt://ann:{SECRET}@127.0.0.1:9", path, workers=1)
    assert (report.stored, report.failed) == (0, 50)
    assert report.broken
    logs = Path(cluster._private.worker.global_worker.node.get_session_dir_path())
    read = [file for file in logs.rglob("*") if file.is_file()]
    assert any(file.stat().st_size for file in read)
    assert not [file for file in read if SECRET.encode() in file.read_bytes()]
    assert SECRET not in json.dumps(report.to_dict()) + repr(report)


def test_a_sink_shows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELAMEM_NEO4J_PASSWORD", SECRET)
    sink = engine.Sink(url=f"bolt://ann:{SECRET}@host", space="me", embedder=None, config=CONFIG)
    assert sink.environment["HELAMEM_NEO4J_PASSWORD"] == SECRET
    assert SECRET not in repr(sink)
    assert "PATH" not in sink.environment


def test_a_worker_that_fails_to_write_stops_at_the_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    path = write_lines(tmp_path / "t.jsonl", turns(1200))
    (piece,) = pieces.split([path])
    table = engine._table(list(pieces.read(piece, {}))[::-1])
    sink = engine.Sink(url=f"sqlite:///{tmp_path}/one.db", space="me", embedder="hashing", config=CONFIG)
    worker = engine.Worker(replace(sink, environment={}))
    monkeypatch.setattr("helamem_core.stores.sqlite.SQLiteStore.remember", _breaks_at(7))
    (told,) = worker(table)["written"].to_pylist()
    with opened(sink.url, "me") as memory:
        held = [item.text for item in memory.list()]
    written = json.loads(told)
    assert written["broken"] == "no space left"
    assert held == list(dict.fromkeys(turn["text"] for turn in turns(1200)))[: len(held)]
    assert 0 < written["stored"] == len(held) < 64 * 7
    assert written["stored"] + written["unchanged"] + len(written["failures"]) == 1200


def test_bad_values_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="workers is 0"):
        loaded("sqlite:///x.db", workers=0)
    with pytest.raises(InvalidInput, match="No such file"):
        loaded("sqlite:///x.db", str(tmp_path / "none.jsonl"))


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"helamem\[ray\]"):
        loaded("sqlite:///x.db", write_lines(tmp_path / "t.jsonl", turns(1)))


def test_a_cluster_that_cannot_be_reached_is_told_and_nothing_is_reported_to_its_makers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray")

    def refused(**_: Any) -> None:
        raise ConnectionError("first line\nno cluster at bolt://ann:secret@host")

    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.setattr(ray, "init", refused)
    with pytest.raises(engine.EngineError, match=r"Ray failed to start: no cluster at bolt://\*\*\*@host") as caught:
        loaded("sqlite:///x.db", write_lines(tmp_path / "t.jsonl", turns(1)), address="10.0.0.1:6379")
    assert "secret" not in str(caught.value)
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_a_cluster_of_ones_own_that_does_not_start_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray")
    starts: list[dict[str, Any]] = []

    def slow(**options: Any) -> None:
        starts.append(options)
        raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.setattr(ray, "init", slow)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(engine.EngineError, match="timed out during startup"):
        loaded("sqlite:///x.db", write_lines(tmp_path / "t.jsonl", turns(1)), workers=4)
    assert [(start["address"], start["num_cpus"]) for start in starts] == [("local", 4)] * 3


@pytest.mark.slow
def test_killed_in_the_middle_and_run_again_nothing_is_twice_and_nothing_is_missing(
    tmp_path: Path, urls: tuple[str, str], small_ray: None
) -> None:
    one, many = urls
    path = write_lines(tmp_path / "t.jsonl", turns(20_000))
    held = killed_in_the_middle(many, "me", path)
    assert 0 < held < 19_794
    report = load(many, "me", path)
    assert (report.failed, report.unchanged + report.stored) == (0, 20_000)
    with opened(one, "me") as memory:
        local.load(memory, [path])
        of_one = graph(memory)
    with opened(many, "me") as memory:
        assert graph(memory) == of_one


def _breaks_at(call: int) -> Any:
    from helamem_core.stores.sqlite import SQLiteStore

    put, calls = SQLiteStore.remember, iter(range(1, 1000))

    def remember(self: SQLiteStore, *args: Any, **kwargs: Any) -> list[bool]:
        if next(calls) >= call:
            raise OSError("no space left")
        return put(self, *args, **kwargs)

    return remember
