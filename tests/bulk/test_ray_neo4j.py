"""Bulk loading by Ray into a Neo4j: the graph of one process, also after a kill, and how fast."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest

from helamem_core.bulk import local
from helamem_core.config import DEFAULT
from tests.bulk.loading import WORKERS, killed_in_the_middle, load, opened, small_ray
from tests.bulk.samples import graph, turns, write_lines

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
__all__ = ["small_ray"]  # a fixture
FEW = 1_000
MANY = 50_000


class Server(Protocol):
    """What of a server the tests need."""

    @property
    def bolt_url(self) -> str: ...
    @property
    def user(self) -> str | None: ...
    @property
    def password(self) -> str | None: ...


@pytest.fixture
def url(request: pytest.FixtureRequest, line: str, small_ray: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The server's url; its password travels in the environment."""
    pytest.importorskip("ray")
    server: Server = request.getfixturevalue(f"server_{line}")
    if server.password is not None:
        monkeypatch.setenv("HELAMEM_NEO4J_USER", server.user or "")
        monkeypatch.setenv("HELAMEM_NEO4J_PASSWORD", server.password)
    return server.bolt_url


@pytest.mark.parametrize(("line", "count"), [("5_26", FEW), ("2026_09", FEW), ("5_26", MANY)])
def test_a_load_killed_in_the_middle_and_run_again_makes_the_graph_of_one_process(
    url: str, tmp_path: Path, count: int
) -> None:
    path = write_lines(tmp_path / "turns.jsonl", turns(count))
    one, many = (f"bulk-{name}-{uuid4().hex}" for name in ("one", "many"))
    with opened(url, one) as memory:
        plain = local.load(memory, [path])
        of_one, terms = graph(memory), memory.stats().terms
    assert (plain.failed, plain.turns) == (0, count)
    held = killed_in_the_middle(url, many, path)
    assert 0 < held < plain.stored
    report = load(url, many, path)
    assert (report.failed, report.workers, report.turns) == (0, WORKERS, count)
    # What one process stored and the other had stored is there once, and nothing else is.
    with opened(url, many) as memory:
        assert memory.stats().memories == plain.stored
        assert memory.stats().terms == terms
        assert graph(memory) == of_one
        memory.drop_space(many)
        memory.drop_space(one)


@pytest.mark.parametrize("line", ["5_26"])
def test_the_rate_of_two_workers_is_told_beside_that_of_one_process(
    url: str, tmp_path: Path, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_lines(tmp_path / "turns.jsonl", turns(MANY))
    one, many = (f"bulk-{name}-{uuid4().hex}" for name in ("one", "many"))
    with opened(url, one, DEFAULT) as memory:
        plain = local.load(memory, [path])
    report = load(url, many, path, DEFAULT)
    assert (report.failed, report.stored) == (0, plain.stored)
    with opened(url, one) as of_one, opened(url, many) as of_many:
        assert graph(of_many) == graph(of_one)
        of_one.drop_space(one)
        of_many.drop_space(many)
    told = f"{MANY:,} turns: one process {plain.rate:,.0f} a second, Ray with {WORKERS} workers {report.rate:,.0f}"
    record_property("bulk", told)
    with capsys.disabled():
        sys.stdout.write(f"\n{told}\n")
