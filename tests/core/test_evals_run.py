"""Benchmarks from end to end, small."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from helamem_core import Memory
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.errors import InvalidInput
from helamem_core.evals import DialogueOptions, LatencyOptions, LocomoOptions, run_dialogue, run_latency, run_locomo
from helamem_core.evals.metrics import Interval
from helamem_core.evals.runner import PRODUCT, TAUGHT
from helamem_core.evals.stopwatch import Pairs, interleave
from helamem_core.evals.synthetic import DIMENSION, Corpus
from helamem_core.evals.vectors import Vectors, open_vectors
from helamem_core.text import terms
from helamem_core.types import EmbedderIdentity, Vector

TALK = ["I moved to Lisbon in May.", "How nice!", "My cat is called Miso.", "Ours is a dog.", "Rain all week here."]


class Counting:
    """An embedder that counts the texts it was given."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._model = HashingEmbedder()

    @property
    def identity(self) -> EmbedderIdentity:
        return self._model.identity

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        self.asked += texts
        return self._model.embed(texts, kind=kind)


@pytest.fixture
def dialogue(tmp_path: Path) -> Path:
    turns = [{"id": f"t{at}", "text": text, "speaker": "Ann", "session": "s"} for at, text in enumerate(TALK)]
    questions = [
        {"question": "Who moved to Lisbon?", "evidence": ["t0"], "kind": "easy"},
        {"question": "What is the cat called?", "evidence": ["t2"], "kind": "easy"},
        {"question": "Why?", "evidence": ["t4", "t1"], "kind": "hard"},
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"turns": turns, "questions": questions}), encoding="utf-8")
    return path


def test_a_dialogue_goes_through_the_product(dialogue: Path) -> None:
    embedder = Counting()
    report = run_dialogue(DialogueOptions(file=dialogue, embedder=embedder, cuts=(1, 5), reinforce="evidence"))
    table = report.table("retrieval")
    methods = {row["method"] for row in table.rows}
    assert methods == {"dense", "dense + length", "BM25", "RRF", PRODUCT, TAUGHT}
    assert table.find(method=PRODUCT, questions="easy")["recall@1"] == Interval(1.0, 1.0, 1.0)
    assert table.find(method=PRODUCT, questions="all")["n"] == 3
    assert [row["difference"] for row in report.table("paired differences").rows][-1] == f"{TAUGHT} - {PRODUCT}"
    assert len(embedder.asked) == len(set(embedder.asked)) == 2 * len(TALK) + 3  # as said, and after the speaker's name
    assert report.configuration["config"]["selection"]["k"] == 10
    assert report.data is not None
    assert json.dumps(report.to_dict())


def test_by_words_there_is_no_dense_baseline(dialogue: Path) -> None:
    report = run_dialogue(DialogueOptions(file=dialogue, embedder="words", limit=1))
    assert report.embedder == "words"
    assert {row["method"] for row in report.table("retrieval").rows} == {"BM25", PRODUCT}
    assert report.table("retrieval").find(method=PRODUCT, questions="all")["n"] == 1


def test_a_store_of_ones_own_is_left_as_it_was(dialogue: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'mine.db'}"
    with Memory.open(url, space="mine", embedder="hashing") as memory:
        memory.remember("I was here before.")
        told: list[tuple[str, int, int]] = []
        run_dialogue(
            DialogueOptions(
                file=dialogue,
                store=url,
                embedder="hashing",
                baselines=False,
                progress=lambda what, done, total: told.append((what, done, total)),
            )
        )
        assert memory.spaces() == ["mine"]
        assert memory.stats().memories == 1
        assert told[-1] == ("dialogue", 1, 1)


def test_vectors_are_kept_only_where_it_was_asked_for(dialogue: Path, tmp_path: Path) -> None:
    cache, embedder = tmp_path / "cache", Counting()
    for _ in range(2):
        run_dialogue(DialogueOptions(file=dialogue, embedder=embedder, cache=cache))
    assert len(embedder.asked) == 2 * len(TALK) + 3
    assert any(cache.iterdir())


def locomo(folder: Path) -> Path:
    def record(name: str) -> dict[str, Any]:
        said = [{"speaker": "Ann", "dia_id": f"D1:{at}", "text": text} for at, text in enumerate(TALK, 1)]
        talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
        asked = [{"question": "Who moved to Lisbon?", "evidence": ["D1:1"], "category": 4}]
        return {"sample_id": name, "conversation": talk, "qa": asked}

    path = folder / "locomo10.json"
    path.write_text(json.dumps([record(f"conv-{at}") for at in range(7)]), encoding="utf-8")
    return path


def test_locomo_is_reported_by_kind_and_part(tmp_path: Path) -> None:
    options = LocomoOptions(data=locomo(tmp_path), embedder="hashing", conversations=(7, 1, 2), baselines=False)
    table = run_locomo(options).table("retrieval")
    counts = {row["questions"]: row["n"] for row in table.rows}
    assert counts == {"all": 3, "single-hop": 3, "conv. 1-5": 2, "conv. 6-10": 1}
    assert {"recall@5", "recall@10", "recall@20", "session hit@10"} <= set(table.columns)
    with pytest.raises(InvalidInput, match="1 to 7"):
        run_locomo(LocomoOptions(data=locomo(tmp_path), conversations=(8,)))


def test_options_that_measure_nothing_are_refused(dialogue: Path) -> None:
    with pytest.raises(InvalidInput):
        DialogueOptions(file=dialogue, cuts=())
    with pytest.raises(InvalidInput):
        LocomoOptions(limit=0)
    with pytest.raises(InvalidInput):
        LatencyOptions(sizes=())
    with pytest.raises(InvalidInput):
        LatencyOptions(rounds=0)


def test_latency_compares_each_verb(tmp_path: Path) -> None:
    report = run_latency(LatencyOptions(sizes=(40,), rounds=3, k=4))
    rows = report.table("latency").rows
    assert [row["verb"] for row in rows] == [
        "recall",
        "reinforce 4",
        "recall, first after it",
        "recall, over its links",
        "recall, on a used graph",
        "remember 256",
        "remember 1",
    ]
    assert all(isinstance(row["ratio"], float) and row["ratio"] > 0 for row in rows)
    with pytest.raises(InvalidInput, match="bare lookups"):
        run_latency(LatencyOptions(sizes=(20,), rounds=1, store="memory:"))


def test_pairs_are_compared_by_block() -> None:
    pairs = Pairs([2.0, 2.0, 4.0, 4.0, 6.0, 6.0, 8.0, 8.0, 10.0, 10.0], [2.0] * 10)
    assert pairs.ratios() == [1.0, 2.0, 3.0, 4.0, 5.0]
    figures = pairs.figures()
    assert (figures["least"], figures["ratio"], figures["most"]) == (1.0, 3.0, 5.0)
    assert (figures["p50 ms"], figures["bare p50 ms"]) == (6000.0, 2000.0)
    assert pairs.figures(inverse=True)["ratio"] == pytest.approx(1 / 3)


def test_both_sides_take_turns() -> None:
    order: list[str] = []
    pairs = interleave(3, lambda at: order.append(f"a{at}"), lambda at: order.append(f"b{at}"), warm=1)
    assert order == ["a-1", "b-1", "b0", "a0", "a1", "b1", "b2", "a2"]
    assert len(pairs.ours) == len(pairs.theirs) == 3


def test_synthetic_turns_are_like_real_ones() -> None:
    corpus = Corpus(3_000, seed=1)
    held = [terms(turn.text) for turn in corpus.turns]
    assert all(len(found) == len(turn.text.split()) for found, turn in zip(held, corpus.turns, strict=True))
    assert np.mean([len(found) for found in held]) == pytest.approx(14, abs=1)
    shares = sorted(Counter(term for found in held for term in set(found)).values(), reverse=True)
    assert shares[0] / 3_000 == pytest.approx(0.23, abs=0.05)
    assert shares[9] / 3_000 == pytest.approx(0.10, abs=0.03)
    assert np.linalg.norm(corpus.vectors, axis=1) == pytest.approx(np.ones(3_000), abs=1e-5)
    again = Corpus(3_000, seed=1)
    assert again.turns == corpus.turns
    assert np.array_equal(again.vectors, corpus.vectors)
    (query,) = corpus.queries(1)
    assert query.vector.shape == (DIMENSION,)
    assert len(query.text.split()) <= 5


def test_vectors_are_embedded_once_and_in_order() -> None:
    model = Counting()
    vectors = Vectors(model)
    found = vectors.embed(["b", "a", "b"])
    assert model.asked == ["b", "a"]
    assert np.array_equal(found, HashingEmbedder().embed(["b", "a", "b"]))
    assert vectors.embed([]).shape == (0, model.identity.dimension)
    assert open_vectors("words", None) is None
