"""Retrieval and latency through Neo4j: the figures of SQLite, on both lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from helamem_core.evals import (
    DialogueOptions,
    LatencyOptions,
    LocomoOptions,
    Report,
    run_dialogue,
    run_latency,
    run_locomo,
)
from helamem_core.evals.metrics import Interval
from helamem_core.evals.runner import PRODUCT
from helamem_core.local_neo4j import Server

CHINESE = Path(__file__).parents[1] / "data" / "chinese_conversation.json"
APART = 0.005
"""Most that a figure may differ from SQLite's."""
MOST = {"recall": 1.8, "reinforce 10": 2.0}
LEAST = {"remember 256": 0.5}


def value(report: Report, metric: str) -> float:
    found = report.table("retrieval").find(method=PRODUCT, questions="all")[metric]
    assert isinstance(found, Interval)
    return found.value


@pytest.fixture
def url(neo4j_server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    if neo4j_server.password is not None:
        monkeypatch.setenv("HELAMEM_NEO4J_PASSWORD", neo4j_server.password)
    return neo4j_server.bolt_url


@pytest.mark.timeout(900)
def test_the_chinese_conversation(url: str) -> None:
    sqlite, neo4j = (
        run_dialogue(DialogueOptions(file=CHINESE, embedder="words", baselines=False, store=store))
        for store in (None, url)
    )
    assert abs(value(neo4j, "recall@5") - value(sqlite, "recall@5")) <= APART


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.timeout(1_800)
def test_locomo(url: str, data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.getbasetemp() / "vectors"
    sqlite, neo4j = (
        run_locomo(LocomoOptions(data=data_folder, cuts=(10,), baselines=False, store=store, cache=cache))
        for store in (None, url)
    )
    for metric in ("recall@10", "session hit@10"):
        assert abs(value(neo4j, metric) - value(sqlite, metric)) <= APART, metric


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("memories", [10_000, 100_000])
def test_the_ratios_are_kept(url: str, memories: int) -> None:
    (table,) = run_latency(LatencyOptions(sizes=(memories,), store=url)).tables
    ratios = {str(row["verb"]): row["ratio"] for row in table.rows}
    assert {verb: ratios[verb] for verb, most in MOST.items() if ratios[verb] > most} == {}  # type: ignore[operator]
    assert {verb: ratios[verb] for verb, least in LEAST.items() if ratios[verb] < least} == {}  # type: ignore[operator]
