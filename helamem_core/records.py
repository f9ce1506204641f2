"""What travels between `Memory` and a `Store`.

Times are seconds since the epoch (UTC), vectors are unit-length float32 arrays of shape (dimension,), texts are already
cleaned and tokenised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from helamem_core.config import Config
from helamem_core.filters import Node as Filter
from helamem_core.types import EmbedderIdentity, Path, Vector, Why


@dataclass(slots=True, kw_only=True)
class Node:
    """A memory as stores keep it.

    Attributes:
        terms: index term to how often the text has it (`helamem_core.text.terms`).
        keywords: its keywords, for the keyword channel and for eyes.
        previous: id of the turn before it in its session; the store sets it.
        fires: how often it fired in a reinforcement, as used memory or as cue: its own clock.
        uses: how often it was used.
    """

    id: str
    text: str
    role: str = "user"
    speaker: str | None = None
    session: str | None = None
    at: float = 0.0
    recorded_at: float = 0.0
    expires_at: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    terms: Mapping[str, int] = field(default_factory=dict)
    speaker_terms: tuple[str, ...] = ()
    vector: Vector | None = None
    previous: str | None = None
    archived_at: float | None = None
    fires: int = 0
    uses: int = 0
    last_used_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """What `update` changes; None, or `"keep"`, leaves a field as it is.

    Attributes:
        text: a new one brings its terms, keywords and vector (None: pending).
        embedder: whose vector it is; None: not checked.
    """

    text: str | None = None
    terms: Mapping[str, int] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    vector: Vector | None = None
    metadata: Mapping[str, Any] | None = None
    expires_at: float | Literal["keep"] | None = "keep"
    embedder: EmbedderIdentity | None = None

    def for_model(self, held: EmbedderIdentity | None) -> Patch:
        """Return what of it a space takes that holds vectors of a model: a vector of another one does not count."""
        if self.vector is None or _counts(self.embedder, held):
            return self
        return replace(self, vector=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Which memories exist for a reader: all else neither comes back nor spreads.

    Active memories of the space, not expired at `now`, with `at` in [since, until] where given, not later than
    `as_of` where given, matching `filter` where given.

    A turn that served as cue is no result: it answers a later cue if it is active, not expired at `now` and not later
    than `as_of`, whatever `since`, `until` and `filter` say.
    """

    now: float
    since: float | None = None
    until: float | None = None
    as_of: float | None = None
    filter: Filter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """One question to a store.

    Attributes:
        vector: what every cosine with memories uses (completed, if a completer is on); None: words only.
        cue: the raw query vector, compared with earlier cues: those that are no turns, and those turns that exist at
            `view.now` and `view.as_of`, also where they are no results (see `View`).
        terms: distinct index terms of the query.
        keywords: its keywords, at most `Scoring.max_keywords`.
        k: how many are asked for.
        view: which memories exist for this reader.
        config: all settings.
        embedder: whose vectors these are; None: not checked.
    """

    vector: Vector | None
    cue: Vector | None
    terms: tuple[str, ...]
    keywords: tuple[str, ...]
    k: int
    view: View
    config: Config
    embedder: EmbedderIdentity | None = None

    def for_model(self, held: EmbedderIdentity | None) -> RecallQuery:
        """Return what a space is asked that holds vectors of a model: vectors of another one do not count."""
        if _counts(self.embedder, held):
            return self
        return replace(self, vector=None, cue=None)


@dataclass(frozen=True, slots=True)
class Scored:
    """One recalled memory: what came back and why."""

    node: Node
    score: float
    path: Path
    why: Why


@dataclass(frozen=True, slots=True)
class Recalled:
    """A store's answer.

    Attributes:
        items: the best first.
        unembedded: how many memories of the view wait for a vector.
        embedder: the model whose vectors the space holds.
    """

    items: tuple[Scored, ...]
    unembedded: int
    embedder: EmbedderIdentity | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CueRecord:
    """A cue that is no turn.

    Attributes:
        id: derived from the text, the same on every engine.
        text: what asked, for eyes; None once a memory that it led to was erased.
        vector: its raw vector; None while it waits for one.
    """

    id: str
    text: str | None
    vector: Vector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinforcement:
    """One event: these were used together, and this called for them.

    Attributes:
        ids: the memories used, distinct.
        cue: id of a remembered turn, a cue of its own, or nothing.
        event: applied once; later ones with the same id change nothing.
        embedder: whose vector the cue has; None: not checked.
    """

    ids: tuple[str, ...]
    cue: str | CueRecord | None
    event: str | None
    now: float
    config: Config
    embedder: EmbedderIdentity | None = None

    def for_model(self, held: EmbedderIdentity | None) -> Reinforcement:
        """Return what happens in a space that holds vectors of a model: a cue's vector of another one does not count.

        Nor does any cue where cues are not linked.
        """
        if self.cue is not None and self.config.plasticity.cue_rate <= 0:
            return replace(self, cue=None)
        if not isinstance(self.cue, CueRecord) or self.cue.vector is None or _counts(self.embedder, held):
            return self
        return replace(self, cue=replace(self.cue, vector=None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What `list` asks for: a view (or the archived memories), an order, a page."""

    view: View
    archived: bool = False
    order: Literal["at", "-at", "recorded_at", "-recorded_at", "id", "-id"] = "at"
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Pending:
    """A text that waits for its vector; `kind` tells memories from cues."""

    kind: Literal["episode", "cue"]
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """A vector for a memory or cue; it is dropped if the text has changed meanwhile."""

    kind: Literal["episode", "cue"]
    id: str
    text: str
    vector: Vector


def _counts(carried: EmbedderIdentity | None, held: EmbedderIdentity | None) -> bool:
    """Say whether vectors of one model may meet those of a space; a space without any has no model yet."""
    return carried is None or carried == held
