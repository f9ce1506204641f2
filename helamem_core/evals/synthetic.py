"""Turns that cost what real ones cost: word frequencies, lengths and likenesses like those of LoCoMo.

The share of turns that have a word falls with its rank as in LoCoMo (rank 1: .23, 10: .10, 1,000: .0015), and as there
rare words follow a steeper law, so that new ones become rare. That errs to our cost: 5,882 turns have 8,400 words here,
each a term of its own, and 6,400 in LoCoMo, which share 3,700 terms. A
question takes words of one turn and names its speaker, so that its words are in .3 of all turns together, as in LoCoMo.
Nothing here says how good an answer is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
from numpy.typing import NDArray

from helamem_core.types import Turn, Vector

DIMENSION = 384
VOCABULARY = 50_000
RANK_OFFSET = 8
"""Of Zipf's law in Mandelbrot's form: frequency ~ 1 / (rank + offset)."""
COMMON = 2_000
"""Ranks up to which that holds; beyond, frequency falls with the rank's square (Ferrer i Cancho & Sole 2001)."""
TERMS = 14
"""Mean number of terms in a turn; lengths are geometric from 3 on."""
SHORTEST = 3
SESSION = 20
"""Turns of a session."""
QUERY_TERMS = 5
SPEAKERS = 6
"""Speakers' names are the most frequent words."""
TOPIC = 0.6
"""Share of a session's topic in its vectors: turns of a session have a cosine of about .3."""
TARGET = 0.7
"""Share of the wanted turn's vector in a question's."""

_ONSETS = ("b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "t", "v", "z")
_START = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Query:
    """A question: its words and its unit vector, shape (DIMENSION,)."""

    text: str
    vector: Vector


class Corpus:
    """A stream of turns and questions; equal seeds give equal ones.

    Attributes:
        turns: the turns, without ids of their own making.
        vectors: their unit vectors, shape (len(turns), DIMENSION).
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._words = _vocabulary()
        ranks = np.arange(1, VOCABULARY + 1)
        weights = np.minimum(1, COMMON / ranks) / (ranks + RANK_OFFSET)
        self._chances = np.cumsum(weights / weights.sum())
        self._drawn = self._terms(size)
        self.turns = [self._turn(at) for at in range(size)]
        topics = self._units(-(-size // SESSION)).repeat(SESSION, axis=0)[:size]
        self.vectors = _mix(topics, self._units(size), TOPIC)

    def queries(self, count: int, within: int | None = None) -> list[Query]:
        """Return questions about turns drawn at random.

        Args:
            count: how many.
            within: only about the first so many turns.
        """
        wanted = self._random.integers(0, within or len(self.turns), count)
        vectors = _mix(self.vectors[wanted], self._units(count), TARGET)
        return [self._query(int(at), vector) for at, vector in zip(wanted, vectors, strict=True)]

    def _query(self, at: int, vector: Vector) -> Query:
        own = list(dict.fromkeys(self._drawn[at].tolist()))
        picked = self._random.permutation(own)[: QUERY_TERMS - 1]
        return Query(" ".join([self._speaker(at), *(self._words[word] for word in picked)]), vector)

    def _turn(self, at: int) -> Turn:
        return Turn(
            " ".join(self._words[word] for word in self._drawn[at]),
            speaker=self._speaker(at),
            at=_START + timedelta(minutes=at),
            session=f"session {at // SESSION}",
            id=f"turn-{at}",
        )

    def _speaker(self, at: int) -> str:
        return self._words[(at // SESSION + at % 2) % SPEAKERS]

    def _terms(self, size: int) -> list[NDArray[np.int64]]:
        lengths = SHORTEST - 1 + self._random.geometric(1 / (TERMS - SHORTEST + 1), size)
        drawn = np.searchsorted(self._chances, self._random.random(int(lengths.sum())))
        return np.split(np.minimum(drawn, VOCABULARY - 1), np.cumsum(lengths)[:-1])

    def _units(self, count: int) -> Vector:
        return _unit(self._random.standard_normal((count, DIMENSION), dtype=np.float32))


def _mix(centres: Vector, noise: Vector, share: float) -> Vector:
    return _unit(share * centres + np.float32(np.sqrt(1 - share**2)) * noise)


def _unit(vectors: Vector) -> Vector:
    units: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def _vocabulary() -> list[str]:
    """Return made-up words that no stop list has and no stemmer joins, in no order that an index could use."""
    syllables = ["".join(pair) for pair in product(_ONSETS, "aou")]
    words = ["".join(parts) + "k" for parts in product(syllables, repeat=3)]
    return [words[at] for at in np.random.default_rng(0).permutation(len(words))[:VOCABULARY]]
