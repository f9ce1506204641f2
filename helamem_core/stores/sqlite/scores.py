"""The base score of every memory of a view: fast for all of them, and again to the last digit for the best."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np

from helamem_core.config import Config
from helamem_core.dynamics import scoring, spreading
from helamem_core.records import RecallQuery, View
from helamem_core.stores.sqlite.cache import Seen
from helamem_core.stores.sqlite.columns import Floats, Ints, Mask, Rows
from helamem_core.stores.statements import statements
from helamem_core.types import Vector, Why

SQL = statements("recall")
MARGIN = 1e-4
"""More than single precision can move a product of unit vectors: nominations reach this far below the last place."""
_COUNT_BITS = 24  # of a packed posting


@dataclass(frozen=True, slots=True)
class Scores:
    """Columns over the slots of `Rows`; what rests on a cosine is in single precision.

    Attributes:
        visible: which memories exist for the reader.
        comparable: which of them can be compared by meaning.
        competes: which of them compete by themselves.
        cosine: of the query with the memory.
        speaker: None where no name is asked for; `keywords` likewise.
        decay: the factor of time; None where time is not scored.
        content: the base score without the speaker.
        base: the base score.
    """

    visible: Mask
    comparable: Mask
    competes: Mask
    cosine: Vector
    lexical: Floats
    keywords: Floats | None
    speaker: Floats | None
    decay: Floats | None
    content: Vector
    base: Vector

    def nominate(self, query: RecallQuery) -> Ints:
        """Return the slots among which the best k and all seeds must be."""
        settings, reach = query.config.spreading, margin(query.config)
        found = best(self.base, self.competes, query.k, reach)
        strong = self.competes & (self.content > spreading.threshold(settings, by_words=query.vector is None) - reach)
        seeds = len(strong) if settings.seeds is None else settings.seeds
        return np.union1d(found, best(self.content, strong, seeds, reach))


def margin(config: Config) -> float:
    """Return more than single precision can move a score."""
    return MARGIN * max(1.0, config.scoring.similarity_scale)


def best(scores: Vector, among: Mask, count: int, margin: float = MARGIN) -> Ints:
    """Return those slots of the mask `among` that may be the best `count`, given what single precision hides."""
    slots = np.flatnonzero(among)
    if len(slots) <= count:
        return slots
    held = scores[slots]
    bound = np.partition(held, len(held) - count)[len(held) - count]
    found: Ints = slots[held >= bound - margin]
    return found


def score(db: sqlite3.Connection, seen: Seen, query: RecallQuery) -> Scores:
    """Return the scores of every memory of a view."""
    rows, settings = seen.rows, query.config.scoring
    visible = _visible(db, seen, query.view)
    comparable, cosine, content = _compare(rows, visible, query)
    lexical = _lexical(db, seen, query)
    words = np.flatnonzero(lexical)
    content[words] += lexical[words]
    keywords = _keywords(db, seen, query)
    if keywords is not None:
        content += keywords
        words = np.flatnonzero(lexical + keywords)
    competes = comparable.copy()
    competes[words] |= visible[words]
    decay = None
    if settings.time_scale is not None:
        now = query.view.now if query.view.as_of is None else query.view.as_of
        decay = scoring.time_decay(now - rows.at, settings)
        content *= decay
    base, speaker = content, _speakers(rows, query)
    if speaker is not None:
        base = content + np.where(competes, speaker if decay is None else decay * speaker, 0.0).astype(np.float32)
    return Scores(visible, comparable, competes, cosine, lexical, keywords, speaker, decay, content, base)


def _compare(rows: Rows, visible: Mask, query: RecallQuery) -> tuple[Mask, Vector, Vector]:
    """Return which memories can be compared by meaning, their cosines and their weighted similarities."""
    if query.vector is None or rows.vectors.shape[1] != len(query.vector):
        nothing = np.zeros(len(visible), dtype=np.float32)
        return np.zeros(len(visible), dtype=np.bool_), nothing, nothing.copy()
    comparable = visible & rows.embedded
    cosine = rows.vectors @ query.vector.astype(np.float32, copy=False)
    similarity = scoring.similarity(cosine, query.config.scoring)  # type: ignore[type-var]
    similarity[~comparable] = 0.0
    return comparable, cosine, similarity


def exact(rows: Rows, scores: Scores, slots: Ints, query: RecallQuery) -> list[Why]:
    """Return the base scores of some memories, their cosines taken in double precision."""
    similarity = [0.0] * len(slots)
    if query.vector is not None and scores.comparable.any():
        asked = query.vector.astype(np.float64)
        vectors = rows.vectors[slots].astype(np.float64)
        for at, comparable in enumerate(scores.comparable[slots].tolist()):
            if comparable:
                similarity[at] = scoring.similarity(float(asked @ vectors[at]), query.config.scoring)
    columns = (scores.lexical, scores.keywords, scores.speaker, scores.decay)
    defaults = (0.0, 0.0, 0.0, 1.0)
    lexical, keywords, speaker, decay = (
        [default] * len(slots) if column is None else column[slots].tolist()
        for column, default in zip(columns, defaults, strict=True)
    )
    speaker = [value if competes else 0.0 for value, competes in zip(speaker, scores.competes[slots], strict=True)]
    return [
        Why(similar, words, keys, named, faded, faded * (similar + words + keys + named))
        for similar, words, keys, named, faded in zip(similarity, lexical, keywords, speaker, decay, strict=True)
    ]


def product(first: Vector, second: Vector) -> float:
    """Return the cosine of two unit vectors in double precision."""
    return float(first.astype(np.float64) @ second.astype(np.float64))


def _visible(db: sqlite3.Connection, seen: Seen, view: View) -> Mask:
    """Return which slots exist for a reader."""
    rows = seen.rows
    visible = rows.alive if rows.everlasting else rows.alive & (rows.expires > view.now)
    if view.since is not None:
        visible = visible & (rows.at >= view.since)
    for latest in (view.until, view.as_of):
        if latest is not None:
            visible = visible & (rows.at <= latest)
    if view.filter is not None:
        visible = seen.details.matching(db, seen.here.key, rows, visible, view.filter)
    return visible


def _lexical(db: sqlite3.Connection, seen: Seen, query: RecallQuery) -> Floats:
    """Return BM25 over postings; every active memory counts in its statistics, whatever the view."""
    rows, settings = seen.rows, query.config.scoring
    score = np.zeros(len(rows.alive))
    if settings.lexical <= 0 or not rows.memories:
        return score
    mean = rows.length / rows.memories if rows.length else 1.0
    ceiling = 0.0
    for term in query.terms:
        numbers, counts = postings(db, seen.here.key, term)
        idf = float(scoring.inverse_document_frequency(float(len(numbers)), rows.memories))
        ceiling += idf
        if len(numbers):
            slots = rows.active_slots(numbers)
            lengths = rows.lengths[slots].astype(np.float64)
            score[slots] += scoring.bm25(counts.astype(np.float64), lengths, mean, np.asarray(idf), settings)
    hits = np.flatnonzero(score)
    score[hits] = scoring.lexical(score[hits], ceiling * (settings.bm25_k1 + 1), settings)
    return score


def postings(db: sqlite3.Connection, space: int, term: str) -> tuple[Ints, Ints]:
    """Return the numbers of the active memories that have a term, and how often each has it."""
    packed = db.execute(SQL["postings"], {"space": space, "term": term}).fetchone()[0]
    if packed is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    values = np.fromstring(str(packed), dtype=np.int64, sep=",")
    return values >> _COUNT_BITS, values & ((1 << _COUNT_BITS) - 1)


def _keywords(db: sqlite3.Connection, seen: Seen, query: RecallQuery) -> Floats | None:
    weight = query.config.scoring.keywords
    if weight <= 0 or not query.keywords:
        return None
    return weight * np.array(seen.details.overlap(db, seen.here.key, seen.rows, query.keywords))


def _speakers(rows: Rows, query: RecallQuery) -> Floats | None:
    """Return the weighted share of each speaker's name that the query has; there are few speakers."""
    weight, asked = query.config.scoring.speaker, set(query.terms)
    shares = np.array([weight * scoring.overlap(terms, asked) for terms in rows.speaker_terms])
    return shares[rows.speakers] if shares.any() else None
