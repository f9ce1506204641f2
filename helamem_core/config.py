"""Every number of the memory, with its meaning and range; presets `DEFAULT` and `PAPER`.

`PAPER` holds the numbers of HeLa-Mem (arXiv 2604.16839) and of its reference code, literally. `DEFAULT` is
what measured best without a language model (README, "Figures"). Change one with `dataclasses.replace`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from helamem_core.errors import InvalidConfig
from helamem_core.showing import shown

DAY = 86_400.0


def within(default: float | None, low: float, high: float) -> Any:
    """Declare a number of the closed range [low, high]; whole-number fields stay whole."""
    return field(default=default, metadata={"range": (low, high)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranged:
    def __post_init__(self) -> None:
        for item in fields(self):
            bounds = item.metadata.get("range")
            value = getattr(self, item.name)
            if bounds is None or (value is None and "None" in str(item.type)):
                continue
            whole = str(item.type).startswith("int")
            _check(f"{type(self).__name__}.{item.name}", value, whole, bounds)
            if not whole:  # 1 and 1.0 are one setting, and Cypher would divide whole numbers without a rest
                object.__setattr__(self, item.name, float(value))


def _check(name: str, value: Any, whole: bool, bounds: tuple[float, float]) -> None:
    number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not number or not bounds[0] <= value <= bounds[1]:
        kind = "a whole number" if whole else "a number"
        raise InvalidConfig(f"{name} is {shown(value)}; it must be {kind} in [{bounds[0]:g}, {bounds[1]:g}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring(_Ranged):
    """The base score: `decay * (similarity + lexical + keywords + speaker)`, each weighted."""

    similarity_scale: float = within(1.0, 0.0, 10.0)
    """Factor of the cosine."""
    similarity_offset: float = within(0.0, -1.0, 1.0)
    """Added to the scaled cosine; scale .5 and offset .5 give the paper's (cos + 1) / 2."""
    lexical: float = within(2.0, 0.0, 10.0)
    """Weight of `strength ** lexical_power`, strength = BM25 over the most that the query could score, in [0, 1]."""
    lexical_power: float = within(1.5, 0.5, 4.0)
    """Above 1, a match on few of the query's words counts for little, and one on nearly all of them for much."""
    bm25_k1: float = within(0.9, 0.0, 10.0)
    """Saturation of BM25's term frequency."""
    bm25_b: float = within(0.4, 0.0, 1.0)
    """Length normalisation of BM25."""
    keywords: float = within(0.0, 0.0, 10.0)
    """Weight of the share of the query's keywords that the memory has too (paper: .5)."""
    max_keywords: int = within(3, 1, 32)
    """Most keywords taken from a query."""
    speaker: float = within(0.25, 0.0, 10.0)
    """Added for a memory whose speaker the query names, times the share of the name that it has; it never spreads."""
    time_scale: float | None = within(None, 1.0, 1e12)
    """Seconds in which the score falls to 1/e (paper: 1e7); None: time does not fade an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading(_Ranged):
    """Spreading activation from strong seeds and from earlier cues; a lift is `rate * activation * weight / fans`.

    The fans divide by how many links share an activation or compete for a memory, so that a hub does not win
    every query (Anderson 1974).
    """

    seeds: int | None = within(10, 1, 1_000_000)
    """How many of the best by content (the base score without the speaker) may spread; None: all."""
    threshold: float = within(0.4, -1.0, 10.0)
    """Only seeds whose content passes this spread."""
    words_threshold: float = within(0.05, -1.0, 10.0)
    """The same where recall goes by words alone, whose scores are lower."""
    excess: bool = True
    """Whether a seed's activation is what it has above the threshold (True) or its whole content (paper)."""
    next: float = within(0.5, 0.0, 10.0)
    """Rate over the order of turns, both ways."""
    associated: float = within(6.0, 0.0, 10.0)
    """Rate over learned memory-memory links."""
    similar: float = within(0.0, 0.0, 10.0)
    """Rate over similarity links."""
    cued: float = within(5.0, 0.0, 10.0)
    """Rate over learned cue-memory links."""
    cue_threshold: float = within(0.6, -1.0, 0.999)
    """Cosine with an earlier cue from which its links count; its activation is ((cos - t) / (1 - t))^2."""
    cues: int = within(1, 1, 10_000)
    """How many of the most similar earlier cues count."""
    source_fan: float = within(0.5, 0.0, 1.0)
    """Exponent of the division by 1 + the seed's degree, over associated and similar links."""
    target_fan: float = within(1.0, 0.0, 1.0)
    """Exponent of the division by the lifted memory's degree, over associated and similar links."""
    cue_fan: float = within(1.0, 0.0, 1.0)
    """Exponent of the division by the number of links that a cue has."""
    ceiling: float = within(1.0, 0.0, 1e6)
    """Most that all links but the order of turns may add to one memory together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(_Ranged):
    """Which memories come back."""

    k: int = within(10, 1, 10_000)
    """Default number of results."""
    flips: int = within(5, 0, 10_000)
    """Most results that only spreading brought into the top k."""
    flips_extra: bool = False
    """Whether flips come on top of the k (paper) or compete for places within it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plasticity(_Ranged):
    """Hebbian learning with exact lazy decay: `w <- min(cap, (1 - decay)^elapsed * w + rate)`."""

    clock: Literal["fires", "steps"] = "fires"
    """What elapses: `fires` counts the times one end fired without the other, `steps` every reinforcement (paper)."""
    rate: float = within(0.3, 0.0, 1.0)
    """Eta of memory-memory links."""
    cue_rate: float = within(0.3, 0.0, 1.0)
    """Eta of cue-memory links; 0: a cue takes no part at all."""
    decay: float = within(0.005, 0.0, 0.999)
    """Lambda."""
    cap: float = within(1.0, 0.0, 1.0)
    """Largest weight."""
    floor: float = within(0.005, 0.0, 1.0)
    """A link below this is dead: it counts nowhere, and `fade` removes it."""
    max_degree: int = within(64, 1, 100_000)
    """Most learned links of one kind at one node; the weakest go."""
    temporal: Literal["structural", "associated"] = "structural"
    """Consecutive turns get a fixed `NEXT` link, or (paper) a decaying `ASSOCIATED` link beside it."""
    temporal_weight: float = within(0.5, 0.0, 1.0)
    """Initial weight of the paper's temporal link, at most `cap`."""

    def __post_init__(self) -> None:
        """Refuse a first weight above the cap, and rates under which every new link would die one step later."""
        _Ranged.__post_init__(self)
        if self.temporal_weight > self.cap:
            raise InvalidConfig(
                f"Plasticity.temporal_weight {self.temporal_weight!r} is above cap {self.cap!r}; no link may weigh more"
            )
        for name, rate in (("rate", self.rate), ("cue_rate", self.cue_rate)):
            if 0 < rate * (1 - self.decay) < self.floor:
                raise InvalidConfig(
                    f"Plasticity.{name} {rate!r} * (1 - decay {self.decay!r}) is below floor {self.floor!r}: "
                    "a new link would die one step later; lower the floor or raise the rate"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Linking(_Ranged):
    """Similarity links of near neighbours."""

    neighbours: int = within(5, 1, 1_000)
    """Most similarity links that one memory proposes."""
    threshold: float = within(0.5, -1.0, 1.0)
    """Least cosine."""
    scale: float = within(0.3, 0.0, 1.0)
    """Weight of a link = scale * cosine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting(_Ranged):
    """Which memories `fade` archives: weak, never used and old."""

    weak: float = within(0.1, 0.0, 1.0)
    """A memory is weak if no learned or similarity link of it weighs this much."""
    age: float = within(30 * DAY, 0.0, 1e12)
    """Seconds since it was recorded from which it is old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(_Ranged):
    """Bounds of cost."""

    batch: int = within(256, 1, 100_000)
    """Turns embedded and written at once; a failure loses at most one batch."""
    cue_merge: float = within(0.98, 0.0, 1.0)
    """A cue this similar (cosine) to an earlier one is taken for the same."""
    max_cues: int = within(10_000, 1, 10_000_000)
    """Most cues of a space that are no turns; the longest unused go."""
    event_ids: int = within(100, 1, 1_000)
    """Most memories of one reinforcement, which links every pair: 100 take a tenth of a second, 1,000 half a minute."""
    event_retention: float = within(30 * DAY, 0.0, 1e12)
    """Seconds for which an event id is remembered, so that the event is not applied twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings of a memory, by part."""

    scoring: Scoring = Scoring()
    spreading: Spreading = Spreading()
    selection: Selection = Selection()
    plasticity: Plasticity = Plasticity()
    linking: Linking = Linking()
    forgetting: Forgetting = Forgetting()
    limits: Limits = Limits()


DEFAULT = Config()

PAPER = Config(
    scoring=Scoring(
        similarity_scale=0.5,
        similarity_offset=0.5,
        lexical=0.0,
        keywords=0.5,
        speaker=0.0,
        time_scale=1e7,
    ),
    spreading=Spreading(
        seeds=None,
        threshold=0.4,
        words_threshold=0.4,
        excess=False,
        next=0.0,
        associated=0.1,
        similar=0.1,
        cued=0.0,
        source_fan=0.0,
        target_fan=0.0,
        cue_fan=0.0,
        ceiling=1e6,
    ),
    selection=Selection(flips_extra=True),
    plasticity=Plasticity(
        clock="steps", rate=0.01, cue_rate=0.0, floor=0.005, max_degree=100_000, temporal="associated"
    ),
)
