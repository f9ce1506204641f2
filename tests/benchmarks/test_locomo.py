"""Retrieval through the product: what the README promises of LoCoMo and of a Chinese conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from helamem_core.evals import DialogueOptions, LocomoOptions, Report, run_dialogue, run_locomo
from helamem_core.evals.metrics import Interval
from helamem_core.evals.runner import PRODUCT, TAUGHT

pytestmark = pytest.mark.timeout(900)  # the whole data set is embedded: three minutes on two idle cores

CHINESE = Path(__file__).parents[1] / "data" / "chinese_conversation.json"
LOCOMO = {"recall@10": 0.63, "session hit@10": 0.90}
LOSS = 0.01
"""Most that recall may lose once everything retrieved was reinforced."""


def value(report: Report, method: str, metric: str, questions: str = "all") -> float:
    found = report.table("retrieval").find(method=method, questions=questions)[metric]
    assert isinstance(found, Interval)
    return found.value


@pytest.fixture(scope="module")
def locomo(data_folder: Path) -> Report:
    """The whole data set, once: asked, everything retrieved reinforced, asked again."""
    return run_locomo(LocomoOptions(data=data_folder, cuts=(10,), reinforce="retrieved", baselines=False))


@pytest.mark.data
def test_all_questions_are_asked(locomo: Report) -> None:
    assert locomo.table("retrieval").find(method=PRODUCT, questions="all")["n"] == 1535


@pytest.mark.data
@pytest.mark.parametrize("metric", LOCOMO)
def test_locomo_finds_the_evidence(locomo: Report, metric: str) -> None:
    assert value(locomo, PRODUCT, metric) >= LOCOMO[metric]


@pytest.mark.data
@pytest.mark.parametrize("metric", LOCOMO)
def test_reinforcing_everything_retrieved_does_no_harm(locomo: Report, metric: str) -> None:
    assert value(locomo, TAUGHT, metric) >= value(locomo, PRODUCT, metric) - LOSS


@pytest.mark.parametrize("embedder", ["words", "minilm"])
def test_chinese_finds_the_evidence_by_its_words(embedder: str) -> None:
    """`ordinary` questions were written by somebody who never saw a ranking; `hard` ones paraphrase on purpose.

    MiniLM cannot read Chinese, so that recall with it goes by words too.
    """
    report = run_dialogue(DialogueOptions(file=CHINESE, embedder=embedder, baselines=False))
    assert value(report, PRODUCT, "recall@5", "ordinary") >= 0.80
    assert value(report, PRODUCT, "recall@5", "hard") >= 0.70
