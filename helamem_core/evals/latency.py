"""How long the verbs take, against what the same engine needs for the bare lookups and writes.

Embedding is left out: vectors are given. Every comparison is warm, and its two sides take turns.
"""

from __future__ import annotations

import gc
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from helamem_core.config import DEFAULT, Config
from helamem_core.errors import InvalidInput
from helamem_core.evals.bare import Bare, open_bare
from helamem_core.evals.provenance import described
from helamem_core.evals.report import Progress, Report, Table, Value, quiet
from helamem_core.evals.stopwatch import Pairs, interleave, seconds
from helamem_core.evals.synthetic import DIMENSION, Corpus, Query
from helamem_core.memory import Memory
from helamem_core.types import EmbedderIdentity, Recollections, Vector

MODEL = EmbedderIdentity("synthetic", DIMENSION)
WARM = 200
"""Rounds before the clock counts: a server's Java compiles what it runs often, and on a used graph each new question
reads the links of some 200 memories for the first time."""
BATCHES = 10
SINGLES = 40
USED = 20
"""Learned links of the memories that a used graph is asked about."""
USED_MEMORIES = 10_000
"""How many those are, at most: it takes minutes to make their links."""
GROUP = 11
"""Memories reinforced together to make one; so many that each gets ten links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyOptions:
    """What can be chosen.

    Attributes:
        sizes: how many memories the space holds.
        rounds: pairs measured of each recall and reinforcement.
        store: url of the engine, whose space is a new one and is dropped afterwards; None: a temporary SQLite file.
        config: the memory's settings.
        k: how many are recalled, and reinforced.
        seed: of the synthetic turns.
        progress: told how far the run is.
    """

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    rounds: int = 100
    store: str | None = None
    config: Config = DEFAULT
    k: int = 10
    seed: int = 0
    progress: Progress = quiet

    def __post_init__(self) -> None:
        """Refuse what cannot be measured."""
        if not self.sizes or min(*self.sizes, self.rounds, self.k) < 1:
            raise InvalidInput(f"sizes {self.sizes!r}, rounds {self.rounds!r} and k {self.k!r} must be 1 or more")


class Given:
    """Stands for the embedder; the benchmark gives all vectors itself."""

    identity = MODEL

    def embed(self, texts: object, *, kind: str = "memory") -> Vector:
        """Refuse: it would be timed.

        Raises:
            InvalidInput: always.
        """
        raise InvalidInput("the latency benchmark embeds nothing")


def run_latency(options: LatencyOptions) -> Report:
    """Measure recall, reinforce and remember at each size.

    Raises:
        InvalidInput: the engine has no bare lookups to compare with.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    rows: list[Mapping[str, Value]] = []
    for size in options.sizes:
        rows += _measured(size, options)
    return Report(
        benchmark="latency",
        tables=(Table("latency", tuple(rows)),),
        configuration=described(options),
        data=None,
        seed=options.seed,
        embedder=MODEL.name,
        seconds=time.perf_counter() - clock,
        started=started,
    )


class Bench:
    """One space of one size, under the clock."""

    def __init__(self, memory: Memory, bare: Bare, corpus: Corpus, size: int, options: LatencyOptions) -> None:
        self._memory, self._bare, self._corpus = memory, bare, corpus
        self._size, self._options = size, options
        self._written = size

    def recall(self, within: int) -> Pairs:
        """Recall, against the bare lookups: the nearest memories, and those that share the query's words.

        Args:
            within: it is asked about the first so many memories.
        """
        queries = self._corpus.queries(self._options.rounds + WARM, within)
        return interleave(
            self._options.rounds,
            lambda at: self._recall(queries[at]),
            lambda at: self._bare.lookup(queries[at], self._options.k),
            warm=WARM,
        )

    def reinforce(self) -> tuple[Pairs, Pairs, Pairs]:
        """Reinforce what a question brought back, with the question as cue; then ask it again, twice.

        Returns:
            The reinforcement against the second recall, by when all that it changed is read; the first and the second
            recall, both over links just learned, against the bare lookups.
        """
        reinforced, first, second = Pairs(), Pairs(), Pairs()
        for query in self._corpus.queries(self._options.rounds, self._size):
            found = self._recall(query)
            learning, (fresh, warm) = seconds(self._reinforce, found), (seconds(self._recall, query) for _ in range(2))
            bare = seconds(lambda query: self._bare.lookup(query, self._options.k), query)
            reinforced.add(learning, warm)
            first.add(fresh, bare)
            second.add(warm, bare)
        return reinforced, first, second

    def use(self, memories: int) -> None:
        """Reinforce the first memories with each other at random: the widest neighbourhoods of so many links."""
        draws = np.random.default_rng(self._options.seed)
        for _ in range(USED // (GROUP - 1)):
            groups = np.array_split(draws.permutation(memories), max(1, memories // GROUP))
            for done, group in enumerate(groups):
                if done % 1_000 == 0:
                    self._options.progress(f"latency: using {memories:,} of {self._size:,}", done, len(groups))
                self._memory.reinforce([str(self._corpus.turns[at].id) for at in group])

    def remember(self, rounds: int, batch: int) -> Pairs:
        """Remember new turns, against writing the same rows into a copy of the same file."""
        first, self._written = self._written, self._written + rounds * batch
        turns = [self._corpus.turns[at : at + batch] for at in range(first, self._written, batch)]
        vectors = [self._corpus.vectors[at : at + batch] for at in range(first, self._written, batch)]
        rows = [self._bare.take(*pair) for pair in zip(turns, vectors, strict=True)]
        return interleave(
            rounds,
            lambda at: self._memory.remember(turns[at], vectors=vectors[at]),
            lambda at: self._bare.write(rows[at]),
        )

    def _recall(self, query: Query) -> Recollections:
        return self._memory.recall(query.text, k=self._options.k, vector=query.vector)

    def _reinforce(self, found: Recollections) -> object:
        return self._memory.reinforce(found.ids, cue=found)


def _measured(size: int, options: LatencyOptions) -> Iterator[Mapping[str, Value]]:
    batch = options.config.limits.batch
    corpus = Corpus(size + BATCHES * batch + SINGLES, options.seed)
    with _filled(size, corpus, options) as (memory, bare):
        bench = Bench(memory, bare, corpus, size, options)

        def row(verb: str, ratio: str, pairs: Pairs, *, inverse: bool = False) -> Mapping[str, Value]:
            options.progress(f"latency: {verb} of {size:,}", 1, 1)
            return {"memories": size, "verb": verb, "ratio is": ratio, **pairs.figures(inverse=inverse)}

        lookups = "recall / bare lookups"
        yield row("recall", lookups, bench.recall(size))
        reinforced, first, second = bench.reinforce()
        yield row(f"reinforce {options.k}", "reinforce / recall", reinforced)
        yield row("recall, first after it", lookups, first)
        yield row("recall, over its links", lookups, second)
        used = min(size, USED_MEMORIES)
        bench.use(used)
        yield row("recall, on a used graph", lookups, bench.recall(used))
        yield row(f"remember {batch}", "bare writes / remember", bench.remember(BATCHES, batch), inverse=True)
        yield row("remember 1", "bare writes / remember", bench.remember(SINGLES, 1), inverse=True)


@contextmanager
def _corpus_out_of_sight() -> Iterator[None]:
    """Keep the garbage collector from walking through the corpus, which no user's process holds."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _filled(size: int, corpus: Corpus, options: LatencyOptions) -> Iterator[tuple[Memory, Bare]]:
    """Yield a memory that holds the first turns of the corpus, and the bare side of its engine."""
    space = f"bench/{uuid.uuid4().hex[:12]}"
    with tempfile.TemporaryDirectory(prefix="helamem-bench-") as folder:
        url = options.store or f"sqlite:///{Path(folder, 'bench.db')}"
        with Memory.open(url, space=space, embedder=Given(), config=options.config) as memory:
            try:
                for at in range(0, size, 1_000):
                    options.progress(f"latency: filling {size:,}", at, size)
                    end = min(at + 1_000, size)
                    memory.remember(corpus.turns[at:end], vectors=corpus.vectors[at:end])
                with open_bare(url, memory, corpus.vectors[:size], Path(folder)) as bare, _corpus_out_of_sight():
                    yield memory, bare
            finally:
                if options.store is not None:
                    memory.drop_space(space)
