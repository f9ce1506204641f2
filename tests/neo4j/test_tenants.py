"""Spaces that share one index: a small one beside a large one keeps all its hits, and no memory crosses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from helamem_core import Memory
from helamem_core.config import DEFAULT
from helamem_core.evals.latency import Given
from helamem_core.evals.synthetic import Corpus, Query
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
    twenty, three_hundred = slice(memories, memories + 20), slice(memories + 20, memories + 320)
    corpus = Corpus(three_hundred.stop)
    asked = corpus.queries(50, within=memories)
    with closing(opened(neo4j_server)) as store, closing(opened(neo4j_server, exact_up_to=0)) as indexed:
        by_scan = Memory.open(space=f"{space} 20", embedder=Given(), store=store)
        by_index = Memory.open(space=f"{space} 300", embedder=Given(), store=indexed)
        large = by_scan.in_space(f"{space} large")
        remember(by_index, corpus, three_hundred)
        alone = [
            hits & right for hits, right in zip(found(by_index, asked), best(corpus, three_hundred, asked), strict=True)
        ]
        remember(large, corpus, slice(0, memories))
        remember(by_scan, corpus, twenty)
        assert lost(by_scan, asked, best(corpus, twenty, asked)) == 0
        assert lost(by_index, asked, alone) <= 0.05  # the index is approximate: .01 to .025 measured
        for memory in (large, by_scan, by_index):
            store.drop_space(memory.space)


def lost(memory: Memory, asked: list[Query], wanted: list[set[str]]) -> float:
    """The share of wanted memories that a space doesn't find."""
    hits = found(memory, asked)
    assert all(len(each) == K for each in hits)
    return 1 - sum(len(want & each) for want, each in zip(wanted, hits, strict=True)) / sum(map(len, wanted))


def best(corpus: Corpus, part: slice, asked: list[Query]) -> list[set[str]]:
    """What the specification finds in these memories."""
    with Memory.open("memory:", space="alone", embedder=Given(), store=ReferenceStore()) as memory:
        remember(memory, corpus, part)
        return found(memory, asked)


def found(memory: Memory, asked: list[Query]) -> list[set[str]]:
    return [{*memory.recall(query.text, vector=query.vector, k=K).ids} for query in asked]


def remember(memory: Memory, corpus: Corpus, part: slice) -> None:
    for at in range(part.start, part.stop, PAGE):
        page = slice(at, min(at + PAGE, part.stop))
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
