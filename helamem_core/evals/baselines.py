"""What anyone has without this library: cosine, BM25, their fusion, and the length of a turn.

Each gives one score a text, higher is better; `best` turns scores into an order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from helamem_core.text import terms
from helamem_core.types import Vector

Scores = NDArray[np.float64]

RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke & Buettcher 2009)."""
LENGTH_WEIGHT = 0.1
"""Of the length prior: on LoCoMo a long turn is more often evidence."""


def best(scores: Scores) -> list[int]:
    """Return all positions, the highest score first, equal scores in the order given."""
    return [int(at) for at in np.argsort(-scores, kind="stable")]


def cosine(matrix: Vector, query: Vector) -> Scores:
    """Return the dense baseline.

    Args:
        matrix: unit vectors of the texts, shape (texts, dimension).
        query: unit vector, shape (dimension,).
    """
    return (matrix @ query).astype(np.float64)


def length_prior(cosines: Scores, texts: Sequence[str]) -> Scores:
    """Return cosine + .1 * ln(1 + words): a gain that is not above this one is only length."""
    words = np.array([len(text.split()) for text in texts], dtype=np.float64)
    return cosines + LENGTH_WEIGHT * np.log1p(words)


def fuse(*rankings: Scores) -> Scores:
    """Return the reciprocal rank fusion of several scores over the same texts: sum of 1 / (60 + rank)."""
    return np.sum([1 / (RANK_CONSTANT + _ranks(scores)) for scores in rankings], axis=0)  # type: ignore[no-any-return]


class Bm25:
    """BM25 over English stop words removed and Snowball stems, as `helamem_core.text.terms` reads a text."""

    def __init__(self, texts: Sequence[str], *, k1: float = 1.5, b: float = 0.75) -> None:
        counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([count.total() for count in counts], dtype=np.float64)
        mean = lengths.mean() if lengths.sum() else 1.0
        self._k1 = k1
        self._penalty = k1 * (1 - b + b * lengths / mean)
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, count in enumerate(counts):
            for term, times in count.items():
                postings[term].append((at, times))
        self._postings = {term: np.array(pairs).T for term, pairs in postings.items()}

    def scores(self, query: str) -> Scores:
        """Return the score of every text, shape (texts,); 0 where no word is shared."""
        scores = np.zeros(len(self._penalty))
        for term in dict.fromkeys(terms(query)):
            if term not in self._postings:
                continue
            at, times = self._postings[term]
            idf = np.log1p((len(scores) - len(at) + 0.5) / (len(at) + 0.5))
            scores[at] += idf * times * (self._k1 + 1) / (times + self._penalty[at])
        return scores


def _ranks(scores: Scores) -> Scores:
    """Return each text's rank, from 1."""
    ranks = np.empty(len(scores))
    ranks[best(scores)] = np.arange(1, len(scores) + 1)
    return ranks
