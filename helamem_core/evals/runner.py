"""Conversations through the product: remembered, asked, taught, asked again, beside the baselines."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from helamem_core.config import DEFAULT, Config
from helamem_core.errors import InvalidInput
from helamem_core.evals import retrieval
from helamem_core.evals.answers import Answers, Found, differences_table, groups, scores_table
from helamem_core.evals.conversations import Conversation
from helamem_core.evals.provenance import described, fingerprint
from helamem_core.evals.report import Progress, Report, Table, quiet
from helamem_core.evals.retrieval import Lesson
from helamem_core.evals.vectors import BY_WORDS, Vectors, open_vectors
from helamem_core.memory import Memory
from helamem_core.protocols import Embedder

PRODUCT = "helamem"
TAUGHT = f"{PRODUCT} after reinforcing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationOptions:
    """What can be chosen when conversations are tested.

    Attributes:
        store: url of the engine; its spaces are new ones and are dropped afterwards. None: a temporary SQLite file.
        embedder: a model's name or an embedder; `words` for none; None: the default model.
        config: the memory's settings.
        limit: at most so many questions of each conversation.
        cuts: the values of k; each is asked for by itself, since flips compete within k.
        reinforce: teach with every question, then ask all again.
        k: how many are retrieved when teaching.
        baselines: whether to measure them too.
        cache: folder that keeps vectors between runs; None: nothing is kept.
        seed: of the intervals.
        progress: told how far the run is.
    """

    store: str | None = None
    embedder: Embedder | str | None = None
    config: Config = DEFAULT
    limit: int | None = None
    cuts: tuple[int, ...] = (5, 10, 20)
    reinforce: Lesson | None = None
    k: int = 10
    baselines: bool = True
    cache: Path | None = None
    seed: int = 0
    progress: Progress = quiet

    def __post_init__(self) -> None:
        """Refuse what cannot be measured."""
        if not self.cuts or min(self.cuts) < 1 or self.k < 1 or (self.limit is not None and self.limit < 1):
            raise InvalidInput(f"cuts {self.cuts!r}, k {self.k!r} and limit {self.limit!r} must be 1 or more")


class Results:
    """The answers of each method, in the order in which the methods are first heard of."""

    def __init__(self) -> None:
        self.answers: dict[str, Answers] = {}

    def add(self, method: str, conversation: Conversation, found: Sequence[Found]) -> None:
        """Note what a method found."""
        self.answers.setdefault(method, Answers(method)).add(conversation, found)

    def tables(self, parts: Mapping[str, range], conversations: Sequence[Conversation], seed: int) -> tuple[Table, ...]:
        """Return the scores, and the product against every baseline; the taught one against itself before."""
        methods = list(self.answers.values())
        ours = self.answers[PRODUCT]
        pairs = [(ours, other) for other in methods if other.method not in (PRODUCT, TAUGHT)]
        pairs += [(other, ours) for other in methods if other.method == TAUGHT]
        scores = scores_table(methods, groups(conversations, parts), seed)
        return (scores, differences_table(pairs, seed)) if pairs else (scores,)


def run_conversations(
    benchmark: str,
    conversations: Sequence[Conversation],
    options: ConversationOptions,
    *,
    file: Path,
    parts: Mapping[str, range] | None = None,
) -> Report:
    """Measure retrieval in each conversation, which gets a space of its own.

    Args:
        benchmark: its name in the report.
        conversations: what is remembered and asked.
        options: the choices.
        file: where the conversations come from.
        parts: groups of conversations to report apart, by position.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    talks = [replace(talk, questions=talk.questions[: options.limit]) for talk in conversations]
    vectors = open_vectors(options.embedder, options.cache, options.progress)
    results = Results()
    with _workplace(options.store) as (url, prefix), _open(url, prefix, vectors, options) as memory:
        for done, talk in enumerate(talks):
            options.progress(f"{benchmark}: {talk.name}", done, len(talks))
            _measure(memory.in_space(prefix + talk.name), talk, vectors, options, results)
            if options.store is not None:
                memory.drop_space(prefix + talk.name)
    options.progress(benchmark, len(talks), len(talks))
    return Report(
        benchmark=benchmark,
        tables=results.tables(parts or {}, talks, options.seed),
        configuration=described(options),
        data=fingerprint(file),
        seed=options.seed,
        embedder=BY_WORDS if vectors is None else vectors.identity.name,
        seconds=time.perf_counter() - clock,
        started=started,
    )


def _measure(
    memory: Memory, talk: Conversation, vectors: Vectors | None, options: ConversationOptions, results: Results
) -> None:
    if vectors is not None:
        said = [turn.text for turn in talk.turns]
        vectors.prepare(said + retrieval.attributed(talk) if options.baselines else said, kind="memory")
        vectors.prepare([question.text for question in talk.questions], kind="query")
    if options.baselines:
        for method, found in retrieval.rank(talk, options.cuts, vectors).items():
            results.add(method, talk, found)
    memory.remember(talk.turns)
    results.add(PRODUCT, talk, retrieval.ask(memory, talk, options.cuts))
    if options.reinforce is not None:
        retrieval.teach(memory, talk, options.reinforce, options.k)
        results.add(TAUGHT, talk, retrieval.ask(memory, talk, options.cuts))


def _open(url: str, prefix: str, vectors: Vectors | None, options: ConversationOptions) -> Memory:
    embedder: Embedder | str = BY_WORDS if vectors is None else vectors
    return Memory.open(url, space=prefix + "none", embedder=embedder, config=options.config)


@contextmanager
def _workplace(store: str | None) -> Iterator[tuple[str, str]]:
    """Yield the url of the engine and the beginning of the names of spaces that nobody has."""
    prefix = f"bench/{uuid.uuid4().hex[:12]}/"
    if store is not None:
        yield store, prefix
        return
    with tempfile.TemporaryDirectory(prefix="helamem-bench-") as folder:
        yield f"sqlite:///{Path(folder, 'bench.db')}", prefix
