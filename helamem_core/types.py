"""The records that people meet: what goes in (`Turn`), what is kept (`Episode`), what comes back (`Recollection`).

All are immutable. Times are timezone-aware UTC datetimes; a naive datetime given by a caller is taken as UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Path = Literal["semantic", "associative"]
LinkKind = Literal["NEXT", "ASSOCIATED", "CUED", "SIMILAR"]
ItemOutcome = Literal["stored", "unchanged", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation, or one note, to be remembered.

    Attributes:
        text: what was said.
        role: who speaks in the sense of chat models, such as `user`, `assistant`, `tool`.
        speaker: the speaker's name, where there is one.
        at: when it was said (datetime or ISO 8601 text); default: the memory's clock.
        session: the conversation it belongs to, at most 512 characters; consecutive turns of a session are linked.
        id: the memory's id; default: derived from the content if `at` is given, else a new one.
        metadata: JSON-able values that `filters` can ask for.
        expires_at: from then on the memory is invisible, and the next `fade` erases it.
    """

    text: str = field(kw_only=False)
    role: str = "user"
    speaker: str | None = None
    at: datetime | str | None = None
    session: str | None = None
    id: str | None = None
    metadata: Mapping[str, Any] | None = None
    expires_at: datetime | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A remembered turn as it is stored.

    Attributes:
        recorded_at: when it was remembered, as distinct from `at`, when it was said.
        keywords: its most telling terms.
        embedded: whether it has a vector; without one it is found by its words only.
        archived_at: when it left the active graph (`archive`, `fade`); None while active.
        uses: how often it was reinforced.
        last_used_at: when it was last reinforced.
        previous: id of the turn before it in its session.
    """

    id: str
    text: str
    role: str
    speaker: str | None
    session: str | None
    at: datetime
    recorded_at: datetime
    expires_at: datetime | None
    metadata: Mapping[str, Any]
    keywords: tuple[str, ...]
    embedded: bool
    archived_at: datetime | None
    uses: int
    last_used_at: datetime | None
    previous: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values; times as ISO 8601 text."""
        return _record(self)


@dataclass(frozen=True, slots=True)
class Lift:
    """What spreading added to a memory's score over one link.

    Attributes:
        kind: the link's relationship; `CUED` comes from an earlier cue that was like this one.
        source: id of the memory or cue that lifted it.
        weight: the link's weight now, in [0, 1].
        amount: what it added to the score.
    """

    kind: LinkKind
    source: str
    weight: float
    amount: float


@dataclass(frozen=True, slots=True)
class Why:
    """The reason for a recalled memory: the parts of its score.

    `score == base + sum(lift.amount)`, and `base` is `decay` times the sum of the weighted parts.

    Attributes:
        similarity: by meaning, from cosine (weighted).
        lexical: by shared words, absolute BM25 strength (weighted).
        keywords: by shared keywords (weighted; the paper's channel).
        speaker: because the query names its speaker (weighted).
        decay: the factor of time, 1 where time is not scored.
        base: the score before spreading.
        lifts: what its links added, the strongest first.
    """

    similarity: float
    lexical: float
    keywords: float
    speaker: float
    decay: float
    base: float
    lifts: tuple[Lift, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """One recalled memory, with its score and the reason for it.

    Attributes:
        path: `semantic` if its own base score brought it, `associative` if its links did.
        space: whose memory it is; None if that is not known.
    """

    id: str
    text: str
    kind: Literal["episode"] = "episode"
    score: float
    path: Path
    why: Why
    role: str
    speaker: str | None
    session: str | None
    at: datetime
    metadata: Mapping[str, Any]
    space: str | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values, without the space; times as ISO 8601 text."""
        values = _record(self)
        del values["space"]
        return values


@dataclass(frozen=True, slots=True)
class Recollections(Sequence[Recollection]):
    """What a query brought back, best first; give it to `reinforce(cue=...)` to teach the memory.

    Attributes:
        query: the text that was asked.
        items: the recalled memories.
        vector: the query's own embedding (unit length), None if recall went by words only.
        unembedded: how many memories of the space wait for their vector.
        embedder: the model that made the query's embedding, None without one.
        space: the space that was asked: no other takes it as ids or as cue; None if that is not known.
    """

    query: str
    items: tuple[Recollection, ...] = ()
    vector: Vector | None = field(default=None, repr=False, compare=False)
    unembedded: int = 0
    embedder: EmbedderIdentity | None = field(default=None, repr=False, compare=False)
    space: str | None = field(default=None, repr=False, compare=False)

    @property
    def ids(self) -> list[str]:
        """The ids of the recalled memories, best first."""
        return [item.id for item in self.items]

    @overload
    def __getitem__(self, index: int) -> Recollection: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Recollection]: ...
    def __getitem__(self, index: int | slice) -> Recollection | Sequence[Recollection]:
        """Return the recollection at a rank, counted from 0."""
        return self.items[index]

    def __len__(self) -> int:
        """Return how many memories came back."""
        return len(self.items)

    def __iter__(self) -> Iterator[Recollection]:
        """Iterate best first."""
        return iter(self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values, without the vector."""
        return {
            "query": self.query,
            "unembedded": self.unembedded,
            "items": [item.to_dict() for item in self.items],
        }

    def as_context(self, max_tokens: int = 1000) -> str:
        """Render the memories as a block for a prompt.

        Args:
            max_tokens: budget in tokens, by `helamem_core.text.count_tokens`.

        Returns:
            A text whose estimated token count never exceeds the budget; empty if nothing fits.
        """
        from helamem_core.render import as_context

        return as_context(self.items, max_tokens)


@dataclass(frozen=True, slots=True)
class RememberItem:
    """What happened to one turn.

    Attributes:
        id: the memory's id; None only if the turn was refused before it had one.
        outcome: `stored`, `unchanged` (it was there already) or `failed`.
        error: why it failed.
    """

    id: str | None
    outcome: ItemOutcome
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RememberReport:
    """What happened to each turn given to `remember`, in order.

    Attributes:
        items: one entry a turn.
        remaining: the turns that failed, with their ids: give them to `remember` again.
        unembedded: how many of the stored ones wait for their vector.
        embedding_error: why, in the embedder's words.
    """

    items: tuple[RememberItem, ...]
    remaining: tuple[Turn, ...] = ()
    unembedded: int = 0
    embedding_error: str | None = None

    @property
    def ids(self) -> list[str]:
        """Ids of the turns that are now in memory, in the order given."""
        return [item.id for item in self.items if item.id is not None and item.outcome != "failed"]

    def count(self, outcome: ItemOutcome) -> int:
        """Return how many turns had this outcome."""
        return sum(item.outcome == outcome for item in self.items)


@dataclass(frozen=True, slots=True)
class ReinforceReport:
    """What one reinforcement changed.

    Attributes:
        applied: False if this event id had been applied before; then nothing changed.
        associated: memory-memory links strengthened.
        cued: cue-memory links strengthened.
        cue: id of the cue's node (a turn or a cue of its own), None without a cue.
    """

    applied: bool
    associated: int = 0
    cued: int = 0
    cue: str | None = None


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was erased.

    Attributes:
        ids: the memories erased.
        links: links that went with them.
        cues: cues that led only to them and went too.
        purged: False while another process kept the file's old bytes alive; they go at the next open.
    """

    ids: tuple[str, ...]
    links: int = 0
    cues: int = 0
    purged: bool = True


@dataclass(frozen=True, slots=True)
class FadeReport:
    """What a round of fading did.

    Attributes:
        archived: weak, old, unused memories that left the active graph (`restore` brings them back).
        expired: memories past their `expires_at`, erased.
        pruned: links whose weight had decayed below the floor.
    """

    archived: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    pruned: int = 0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A link of a memory, seen from it.

    Attributes:
        id: the memory or cue at the other end.
        text: its words, for eyes.
        kind: the relationship.
        outgoing: direction; learned memory-memory links go both ways and count as outgoing.
        weight: the weight now, after decay, in [0, 1].
        count: how often the link was strengthened.
        since: when the link was made.
        last_at: when it was last strengthened.
    """

    id: str
    text: str
    kind: LinkKind
    outgoing: bool
    weight: float
    count: int
    since: datetime | None
    last_at: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values; times as ISO 8601 text."""
        return _record(self)


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Which model made the vectors of a space.

    Attributes:
        name: the model's name.
        dimension: length of a vector.
        normalised: whether the model itself returns unit vectors.
    """

    name: str
    dimension: int
    normalised: bool = True


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of a space at a moment.

    Attributes:
        memories: active memories.
        archived: memories out of the active graph.
        unembedded: memories and cues that wait for their vector.
        links: living links (weight not below the floor) by relationship.
        cues: cue nodes that are no turns.
        sessions: distinct sessions.
        terms: distinct index terms of active memories.
        steps: reinforcements so far.
        embedder: the model of the vectors, None before the first one.
    """

    memories: int
    archived: int
    unembedded: int
    links: Mapping[str, int]
    cues: int
    sessions: int
    terms: int
    steps: int
    embedder: EmbedderIdentity | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return _record(self)


def _record(item: Any) -> dict[str, Any]:
    return {name: _jsonable(value) for name, value in asdict(item).items()}


def _jsonable(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    return value
