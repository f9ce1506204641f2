"""Fakes for tests: a clock that stands still, counting ids, exact vectors, memories and questions in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal

import numpy as np

from helamem_core import text as words
from helamem_core.config import DEFAULT, Config
from helamem_core.dynamics.plasticity import Reading, current, elapsed
from helamem_core.filters import parse
from helamem_core.protocols import Store as StoreProtocol
from helamem_core.records import CueRecord, Embedded, Listing, Node, Patch, Recalled, RecallQuery, Reinforcement, View
from helamem_core.types import EmbedderIdentity, ReinforceReport, Vector

NOW = 1_800_000_000.0
"""When tests happen, in seconds since the epoch: a winter's morning of 2027."""

DIMENSION = 16
MODEL = EmbedderIdentity("fake", DIMENSION)
OTHER_MODEL = EmbedderIdentity("other", DIMENSION)

LinkName = tuple[str, str, str]


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self, seconds: float = NOW) -> None:
        self.seconds = seconds

    def __call__(self) -> datetime:
        """Return the time it shows."""
        return datetime.fromtimestamp(self.seconds, UTC)

    def advance(self, seconds: float) -> float:
        """Move on and return the seconds since the epoch."""
        self.seconds += seconds
        return self.seconds


class CountingIds:
    """Ids `m1`, `m2`, ... in order."""

    def __init__(self, prefix: str = "m") -> None:
        self._prefix, self._numbers = prefix, count(1)

    def __call__(self) -> str:
        """Return the next id."""
        return f"{self._prefix}{next(self._numbers)}"


class TableEmbedder:
    """An embedder that looks texts up, so that a test says what is alike; it can be told to fail.

    Attributes:
        calls: how many texts it was asked for, by kind.
        failing: while True, `embed` raises.
    """

    def __init__(self, table: Mapping[str, Vector], identity: EmbedderIdentity = MODEL) -> None:
        self._table, self._identity = dict(table), identity
        self.calls: Counter[str] = Counter()
        self.failing = False

    @property
    def identity(self) -> EmbedderIdentity:
        """The model it pretends to be."""
        return self._identity

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        """Return the vectors of the table.

        Raises:
            EmbedderError: it was told to fail.
            KeyError: the table lacks a text.
        """
        from helamem_core.errors import EmbedderError

        self.calls[kind] += len(texts)
        if self.failing:
            raise EmbedderError("told to fail")
        return np.array([self._table[text] for text in texts], dtype=np.float32).reshape(-1, self._identity.dimension)


def vector(*parts: float | tuple[int, float], dimension: int = DIMENSION) -> Vector:
    """Return a unit vector: numbers fill the axes from the first on, pairs (axis, number) name theirs.

    Example:
        `vector((3, 1))` is the axis 3; `vector(3, 4)` is (.6, .8, 0, ...).
    """
    values = np.zeros(dimension)
    for at, part in enumerate(parts):
        axis, value = part if isinstance(part, tuple) else (at, part)
        values[axis] = value
    unit: Vector = (values / np.linalg.norm(values)).astype(np.float32)
    return unit


def axis(number: int, dimension: int = DIMENSION) -> Vector:
    """Return a unit vector that is like no other axis."""
    return vector((number, 1.0), dimension=dimension)


def near(target: Vector, cosine: float, towards: int) -> Vector:
    """Return a unit vector with this cosine to another one, the rest along an axis that the other one lacks."""
    rest = axis(towards, len(target))
    unit: Vector = (cosine * target + np.sqrt(1 - cosine**2) * rest).astype(np.float32)
    return unit


def node(text: str, *, id: str | None = None, **fields: Any) -> Node:
    """Return a memory as `Memory` would hand it to a store: cleaned, tokenised, with its keywords.

    Args:
        text: what was said.
        id: default: the text.
        fields: any other field of `Node`.
    """
    text = words.clean(text)
    made: dict[str, Any] = {
        "at": NOW,
        "recorded_at": NOW,
        "terms": dict(Counter(words.terms(text))),
        "keywords": tuple(words.keywords(text)),
        "speaker_terms": tuple(dict.fromkeys(words.terms(fields.get("speaker") or ""))),
    }
    return Node(id=text if id is None else id, text=text, **made | fields)


def patch(text: str | None = None, *, vector: Vector | None = None, **fields: Any) -> Patch:
    """Return a change, a new text tokenised."""
    if text is None:
        return Patch(**fields)
    return Patch(
        text=text, terms=dict(Counter(words.terms(text))), keywords=tuple(words.keywords(text)), vector=vector, **fields
    )


def view(now: float = NOW, *, filters: Mapping[str, object] | None = None, **bounds: float | None) -> View:
    """Return what a reader may see."""
    return View(now=now, filter=None if filters is None else parse(filters), **bounds)


def query(
    text: str = "",
    *,
    vector: Vector | None = None,
    cue: Vector | None = None,
    k: int = 10,
    config: Config = DEFAULT,
    seen: View | None = None,
    embedder: EmbedderIdentity | None = None,
) -> RecallQuery:
    """Return a question as `Memory` would ask it; the cue is the vector unless one is given."""
    return RecallQuery(
        vector=vector,
        cue=vector if cue is None else cue,
        terms=tuple(dict.fromkeys(words.terms(words.clean(text)))),
        keywords=tuple(words.keywords(words.clean(text), config.scoring.max_keywords)),
        k=k,
        view=seen or view(),
        config=config,
        embedder=embedder,
    )


def cue(text: str, vector: Vector | None = None, *, id: str | None = None) -> CueRecord:
    """Return a cue that is no turn."""
    return CueRecord(id=f"cue:{text}" if id is None else id, text=text, vector=vector)


class Room:
    """One space of a store, with short verbs: what tests say again and again."""

    def __init__(self, store: StoreProtocol, space: str = "room", config: Config = DEFAULT, now: float = NOW) -> None:
        self.store, self.space, self.config, self.now = store, space, config, now

    def beside(self, space: str) -> Room:
        """Return another space of the same store."""
        return Room(self.store, space, self.config, self.now)

    def tuned(self, **parts: Any) -> Room:
        """Return the same space under other settings, such as `spreading=Spreading(...)`."""
        return Room(self.store, self.space, replace(self.config, **parts), self.now)

    def remember(self, *memories: Node | str, embedder: EmbedderIdentity | None = MODEL) -> list[bool]:
        """Store memories; a text becomes a node without a vector."""
        nodes = [item if isinstance(item, Node) else node(item, recorded_at=self.now) for item in memories]
        return self.store.remember(self.space, nodes, embedder=embedder, config=self.config)

    def recall(
        self,
        text: str = "",
        vector: Vector | None = None,
        *,
        k: int = 10,
        cue: Vector | None = None,
        filters: Mapping[str, object] | None = None,
        embedder: EmbedderIdentity | None = None,
        **bounds: float | None,
    ) -> Recalled:
        """Ask by words, by vector or by both."""
        seen = view(self.now, filters=filters, **bounds)
        asked = query(text, vector=vector, cue=cue, k=k, config=self.config, seen=seen, embedder=embedder)
        return self.store.recall(self.space, asked)

    def found(self, text: str = "", vector: Vector | None = None, **options: Any) -> list[str]:
        """Return the ids that a question brings back, best first."""
        return [item.node.id for item in self.recall(text, vector, **options).items]

    def reinforce(
        self,
        *ids: str,
        cue: str | CueRecord | None = None,
        event: str | None = None,
        times: int = 1,
        embedder: EmbedderIdentity | None = None,
    ) -> ReinforceReport:
        """Let memories fire together, perhaps several times."""
        happened = Reinforcement(ids=ids, cue=cue, event=event, now=self.now, config=self.config, embedder=embedder)
        for _ in range(times):
            report = self.store.reinforce(self.space, happened)
        return report

    def listed(self, **listing: Any) -> list[str]:
        """Return the ids of a listing in order; `filters`, `since`, `until`, `as_of` make its view."""
        bounds = {name: listing.pop(name) for name in ("filters", "since", "until", "as_of") if name in listing}
        found = self.store.select(self.space, Listing(view=view(self.now, **bounds), **listing))
        return [item.id for item in found]

    def get(self, id: str) -> Node:
        """Return a memory that must be there."""
        return self.store.present(self.space, [id], self.now)[id]

    def dump(self) -> list[dict[str, Any]]:
        """Return all that the space holds, in an order that does not depend on the engine."""
        return canonical(self.store.dump(self.space))

    def links(self) -> dict[LinkName, float]:
        """Return the weights now of all living learned and similarity links, as the store sees them from each end."""
        ends = [line.get("episode") or line.get("cue") for line in self.store.dump(self.space)]
        found: dict[LinkName, float] = {}
        for id in self.store.present(self.space, [end["id"] for end in ends if end], self.now):
            for link in self.store.neighbours(self.space, id, self.now, self.config):
                if link.kind != "NEXT":
                    one, other = (id, link.id) if link.outgoing else (link.id, id)
                    source, target = (one, other) if link.kind == "CUED" else sorted((one, other))
                    assert found.setdefault((link.kind, source, target), link.weight) == link.weight
        return found

    def embed(self, vectors: Mapping[str, Vector], embedder: EmbedderIdentity = MODEL) -> int:
        """Give vectors to waiting texts, by text."""
        waiting = self.store.pending(self.space, 1_000_000)
        rows = [Embedded(item.kind, item.id, item.text, vectors[item.text]) for item in waiting if item.text in vectors]
        return self.store.embed(self.space, embedder, rows)


def canonical(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return an export without its end, links, cues and events sorted; memories keep the order they came in."""
    lines = [dict(record) for record in records if "end" not in record]
    ordered = [line for line in lines if "helamem" in line or "episode" in line]
    return ordered + sorted((line for line in lines if not line.keys() & {"helamem", "episode"}), key=_place)


def weights(records: Iterable[Mapping[str, Any]], config: Config = DEFAULT) -> dict[LinkName, float]:
    """Return the weights now of the living links of an export, by (kind, source, target)."""
    lines = list(records)
    steps = next(line["steps"] for line in lines if "helamem" in line)
    ends = [line.get("episode") or line.get("cue") for line in lines]
    fires = {end["id"]: end["fires"] for end in ends if end}
    found = {}
    for link in (line["link"] for line in lines if "link" in line):
        now = Reading(steps, fires[link["source"]], fires[link["target"]])
        faded = 0 if link["kind"] == "SIMILAR" else elapsed(now, Reading(*link["reading"]), config.plasticity)
        weight = link["weight"] if not faded else float(current(link["weight"], faded, config.plasticity))
        if weight > 0:
            found[link["kind"], link["source"], link["target"]] = weight
    return found


def _place(line: Mapping[str, Any]) -> tuple[str, ...]:
    ((kind, values),) = line.items()
    return (kind, *(str(values.get(name, "")) for name in ("id", "kind", "source", "target")))
