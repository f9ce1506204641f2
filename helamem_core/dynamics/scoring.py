"""The base score of a memory for a query: meaning, words, keywords, speaker, time.

The parts are those of HeLa-Mem (arXiv 2604.16839) and BM25. Every function takes floats or arrays of one shape and
returns the same.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from helamem_core.config import Scoring

Number = TypeVar("Number", float, NDArray[np.float64])

DIGITS = 5
"""Scores and weights are ranked rounded to this many decimals, then by id: Neo4j's cosine is a number of 32 bits."""


def similarity(cosine: Number, settings: Scoring) -> Number:
    """Return the weighted similarity from the cosine of the query with the memory, in [-1, 1]."""
    return settings.similarity_offset + settings.similarity_scale * cosine


def inverse_document_frequency(frequency: Number, memories: int) -> Number:
    """Return BM25's idf, `ln(1 + (n - df + .5) / (df + .5))`, never negative (Lucene's form)."""
    idf: Number = np.log1p((memories - frequency + 0.5) / (frequency + 0.5))
    return idf


def bm25(count: Number, length: Number, mean_length: float, idf: Number, settings: Scoring) -> Number:
    """Return one term's share of BM25 (Robertson & Zaragoza 2009).

    Args:
        count: how often the memory has the term, at least 1.
        length: the memory's number of terms.
        mean_length: of the space's active memories.
        idf: of the term in the space.
        settings: k1 and b.
    """
    k1, b = settings.bm25_k1, settings.bm25_b
    return idf * count * (k1 + 1) / (count + k1 * (1 - b + b * length / mean_length))


def lexical(score: Number, ceiling: float, settings: Scoring) -> Number:
    """Return the weighted lexical strength: BM25 over the most that the query could score, to a power.

    Args:
        score: BM25 of the memory.
        ceiling: sum of `idf * (k1 + 1)` over the query's distinct terms; a term no memory has counts too,
            so that a match on one word of ten stays weak.
        settings: weight and power.

    Returns:
        A value in [0, weight], 0 without a match: absolute, whatever else the space holds.
    """
    if ceiling <= 0:
        return score * 0.0
    strength: Number = (score / ceiling) ** settings.lexical_power
    return settings.lexical * strength


def overlap(asked: Collection[str], held: Collection[str]) -> float:
    """Return the share of the asked terms that are held, in [0, 1]; 0 if nothing is asked."""
    return sum(term in held for term in asked) / len(asked) if asked else 0.0


def time_decay(age: Number, settings: Scoring) -> Number:
    """Return `exp(-age / time_scale)`, age in seconds (a negative one counts as 0); 1 where time is not scored."""
    if settings.time_scale is None:
        return age * 0.0 + 1.0
    decay: Number = np.exp(-np.maximum(age, 0.0) / settings.time_scale)
    return decay


def ranked(score: float, identifier: str) -> tuple[float, str]:
    """Return the sort key of every ranking: the best rounded score first, then by id."""
    return -round(score, DIGITS), identifier
