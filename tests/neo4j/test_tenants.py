"""Spaces that share one index: a small one beside a large one keeps all its hits, and no memory crosses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from statistics import mean

import pytest

from helamem_core import Memory
from helamem_core.config import DEFAULT
from helamem_core.evals.latency import Given
from helamem_core.evals.synthetic import Corpus
from helamem_core.local_neo4j import Server
from helamem_core.records import Reinforcement
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.fakes import MODEL, NOW, axis, node, query
from tests.neo4j.wiping import opened

K = 10
THREADS = 8
PAGE = 1_000


BESIDE = [2_000, pytest.param(100_000, marks=pytest.mark.slow)]
"""Memories of the large space."""


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("memories", BESIDE)
def test_a_small_space_beside_a_large_one_keeps_its_hits(neo4j_server: Server, space: str, memories: int) -> None:
    """Its questions are near thousands of memories of the other one, which hold the same words."""
    twenty, three_hundred = 20, 300
    corpus = Corpus(memories + twenty + three_hundred)
    with closing(opened(neo4j_server)) as store, closing(opened(neo4j_server, exact_up_to=0)) as by_index:
        with Memory.open(space=f"{space} large", embedder=Given(), store=store) as large:
            remember(large, corpus, 0, memories)
            assert lost(large.in_space(space), corpus, memories, memories + twenty) == 0
        with Memory.open(space=f"{space} 300", embedder=Given(), store=by_index) as small:
            assert lost(small, corpus, memories + twenty, len(corpus.turns)) <= 0.01
            store.drop_space(large.space)
            store.drop_space(small.space)


def lost(small: Memory, corpus: Corpus, first: int, end: int) -> float:
    """The share of hits that a space does not find which has them when it is alone."""
    with Memory.open("memory:", space=small.space, embedder=Given(), store=ReferenceStore()) as alone:
        for memory in (alone, small):
            remember(memory, corpus, first, end)
        missed = []
        for asked in corpus.queries(50, first):
            wanted, found = (memory.recall(asked.text, vector=asked.vector, k=K).ids for memory in (alone, small))
            assert len(found) == K
            missed.append(len({*wanted} - {*found}) / K)
        return mean(missed)


def remember(memory: Memory, corpus: Corpus, first: int, end: int) -> None:
    for at in range(first, end, PAGE):
        page = slice(at, min(at + PAGE, end))
        memory.remember(corpus.turns[page], vectors=corpus.vectors[page])


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
