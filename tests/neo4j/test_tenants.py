"""Spaces that share one index: a small one beside a large one keeps all its hits, and no memory crosses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from helamem_core import Memory
from helamem_core.config import DEFAULT
from helamem_core.evals.latency import Given
from helamem_core.evals.synthetic import Corpus
from helamem_core.records import Reinforcement
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.fakes import MODEL, NOW, axis, node, query

SMALL, K = 20, 10
THREADS = 8
PAGE = 1_000


def sized(*small: int) -> pytest.MarkDecorator:
    """A default size and one that takes minutes."""
    *fast, large = small
    return pytest.mark.parametrize("memories", [*fast, pytest.param(large, marks=pytest.mark.slow)])


@pytest.mark.timeout(3_600)
@sized(2_000, 100_000)
def test_a_small_space_beside_a_large_one_keeps_its_hits(store: Neo4jStore, space: str, memories: int) -> None:
    """Its questions are near thousands of memories of the other one, which hold the same words."""
    corpus = Corpus(memories + SMALL)
    kept = slice(memories, memories + SMALL)
    with (
        Memory.open("memory:", space=space, embedder=Given(), store=ReferenceStore()) as alone,
        Memory.open(space=f"{space} large", embedder=Given(), store=store) as large,
    ):
        small = large.in_space(space)
        for at in range(0, memories, PAGE):
            large.remember(corpus.turns[at : at + PAGE], vectors=corpus.vectors[at : at + PAGE])
        for memory in (alone, small):
            memory.remember(corpus.turns[kept], vectors=corpus.vectors[kept])
        for asked in corpus.queries(50, memories):
            wanted, found = (memory.recall(asked.text, vector=asked.vector, k=K) for memory in (alone, small))
            assert len(found) == K
            assert found.ids == wanted.ids
        large.drop_space(large.space)


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(("spaces", "each"), [(24, 40), pytest.param(200, 500, marks=pytest.mark.slow)])
def test_no_memory_crosses_between_spaces(store: Neo4jStore, space: str, spaces: int, each: int) -> None:
    """All spaces hold the same words and vectors, and are filled and asked at once."""
    names = [f"{space} {at}" for at in range(spaces)]

    def fill(name: str) -> None:
        nodes = [node(f"tea number {at}", id=f"{name}/{at}", vector=axis(at % 10)) for at in range(each)]
        store.remember(name, nodes, embedder=MODEL, config=DEFAULT)
        store.reinforce(
            name, Reinforcement(ids=(nodes[0].id, nodes[1].id), cue=None, event=None, now=NOW, config=DEFAULT)
        )

    def ask(name: str) -> None:
        for at in range(5):
            found = store.recall(name, query("tea", vector=axis(at), k=20)).items
            assert len(found) == 20
            assert all(item.node.id.startswith(f"{name}/") for item in found)

    with ThreadPoolExecutor(THREADS) as pool:
        for work in (fill, ask, store.drop_space):
            list(pool.map(work, names))
