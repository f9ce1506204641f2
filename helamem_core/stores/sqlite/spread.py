"""Spreading: what the strongest memories, and earlier cues like this one, lend to what they are linked to."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from helamem_core.config import Config
from helamem_core.dynamics import spreading
from helamem_core.dynamics.scoring import ranked
from helamem_core.records import RecallQuery
from helamem_core.stores.sqlite import weights
from helamem_core.stores.sqlite.cache import Seen
from helamem_core.stores.sqlite.columns import NOTHING, Floats, Ints, Mask
from helamem_core.stores.sqlite.links import KINDS
from helamem_core.stores.sqlite.scores import MARGIN, Scores, product
from helamem_core.stores.statements import statements
from helamem_core.types import Lift, LinkKind, Vector

SQL = statements("recall")
CODES: dict[LinkKind, int] = {kind: code for code, kind in enumerate((*KINDS, "NEXT", "CUED"))}
NEXT = CODES["NEXT"]


class Led(NamedTuple):
    """A living link of a cue: both ends by number, its weight now."""

    cue: int
    other: int
    weight: float


class Links(NamedTuple):
    """What is lent over single links, as columns.

    Attributes:
        slot: of the memory that is lifted; -1 where it is not active.
        source: position of the seed or cue among all that lend.
        kind: code of the link's kind.
        weight: of the link now.
        amount: what it adds.
    """

    slot: Ints
    source: Ints
    kind: Ints
    weight: Floats
    amount: Floats


@dataclass(slots=True)
class Lent:
    """What all links add to the memories of the view.

    Attributes:
        sources: ids of the seeds and cues that lend.
        links: those that add something to a memory of the view.
        slots: each of these memories once, in order; `total` is what its links add together.
    """

    sources: list[str]
    links: Links
    slots: Ints
    total: Floats

    def lifts(self, slots: Sequence[int], config: Config) -> dict[int, tuple[Lift, ...]]:
        """Return the lifts of those of these memories that have any."""
        found: dict[int, list[Lift]] = {}
        kinds = list(CODES)
        at = np.flatnonzero(np.isin(self.links.slot, np.array(slots, dtype=np.int64)))
        for slot, source, kind, *held in zip(*(column[at].tolist() for column in self.links), strict=True):
            found.setdefault(slot, []).append(Lift(kinds[kind], self.sources[source], *held))
        return {slot: _bounded(lifts, config) for slot, lifts in found.items()}


def lent(db: sqlite3.Connection, seen: Seen, scores: Scores, seeds: Mapping[int, float], query: RecallQuery) -> Lent:
    """Return what links add to the memories of the view.

    Args:
        db: the transaction of the recall.
        seen: the space in it.
        scores: of the view.
        seeds: slots of the memories that spread, with their activations, the strongest first.
        query: the question.
    """
    sources = [seen.rows.ids[seed] for seed in seeds]
    parts = [_along(seen, seeds, query.config), _learned(db, seen, scores, seeds, query.config)]
    if query.cue is not None and query.config.spreading.cued > 0:
        parts.append(_cued(db, seen, scores, query.cue, query, sources))
    links = Links(*(np.concatenate(column) for column in zip(*filter(None, parts), strict=True)))
    useful = (links.slot != NOTHING) & (links.amount > 0)
    useful[useful] = scores.visible[links.slot[useful]]
    links = Links(*(column[useful] for column in links))
    slots, place = np.unique(links.slot, return_inverse=True)
    along, rest = (_sums(place, np.where(of, links.amount, 0.0)) for of in (links.kind == NEXT, links.kind != NEXT))
    return Lent(sources, links, slots, along + np.minimum(rest, query.config.spreading.ceiling))


def _sums(place: Ints, amount: Floats) -> Floats:
    return np.bincount(place, amount).astype(np.float64)


def _bounded(found: list[Lift], config: Config) -> tuple[Lift, ...]:
    """Return the lifts of one memory, the strongest first, those of learned and similarity links under the ceiling."""
    share = spreading.share(sum(lift.amount for lift in found if lift.kind != "NEXT"), config.spreading)
    if share < 1:
        found = [
            lift if lift.kind == "NEXT" else Lift(lift.kind, lift.source, lift.weight, lift.amount * share)
            for lift in found
        ]
    return tuple(sorted(found, key=lambda lift: (*ranked(lift.amount, lift.kind), lift.source)))


def _along(seen: Seen, seeds: Mapping[int, float], config: Config) -> Links:
    """Return what seeds lend to the turns before and after them."""
    at = np.array(list(seeds), dtype=np.int64)
    slots = np.concatenate([seen.rows.before[at], seen.rows.after[at]])
    source = np.concatenate([np.arange(len(at))] * 2)
    ones = np.ones(len(slots))
    amount = spreading.lift(_activations(seeds)[source], ones, ones, ones, "NEXT", config.spreading)
    return Links(slots, source, np.full(len(slots), NEXT), ones, amount)


def _activations(seeds: Mapping[int, float]) -> Floats:
    return np.array(list(seeds.values()), dtype=np.float64)


def _learned(
    db: sqlite3.Connection, seen: Seen, scores: Scores, seeds: Mapping[int, float], config: Config
) -> Links | None:
    """Return what seeds lend over memory-memory links; None if nothing."""
    settings, rows = config.spreading, seen.rows
    if not seeds or (settings.associated <= 0 and settings.similar <= 0):
        return None
    with seen.links.at(db, seen.here) as table:
        links = table.living(db, seen.here, rows.numbers[list(seeds)].tolist(), config)
        if not len(links.owner):
            return None
        slot, fan = rows.slots(links.other), links.degrees(len(seeds))[links.owner, links.kind]
        useful = np.flatnonzero((slot != NOTHING) & scores.visible[slot])
        slot, fan, links = slot[useful], fan[useful], links.at(useful)
        competing = np.ones(len(slot), dtype=np.int64)
        if settings.target_fan > 0:
            others, place = np.unique(links.other, return_inverse=True)
            reached = table.living(db, seen.here, others.tolist(), config)
            competing = reached.degrees(len(others))[place, links.kind]
    activation, amount = _activations(seeds)[links.owner], np.zeros(len(slot))
    for code in np.flatnonzero(np.bincount(links.kind)).tolist():
        of, kind = links.kind == code, KINDS[code]
        amount[of] = spreading.lift(activation[of], links.weight[of], fan[of], competing[of], kind, settings)
    return Links(slot, links.owner, links.kind, links.weight, amount)


def _cued(
    db: sqlite3.Connection, seen: Seen, scores: Scores, cue: Vector, query: RecallQuery, sources: list[str]
) -> Links | None:
    """Return what earlier cues like this one lend, turns that served as cues among them; add these to the sources."""
    settings = query.config.spreading
    near, counted = _near_cues(seen, scores, cue, query), 0
    found: list[tuple[int, int, float, float]] = []
    while near and counted < settings.cues:
        asked, near = near[: settings.cues], near[settings.cues :]
        links = _led(db, seen, [number for number, _, _ in asked], query.config)
        fans = Counter(link.cue for link in links)
        for number, id, likeness in [cue for cue in asked if cue[0] in fans][: settings.cues - counted]:
            counted += 1
            sources.append(id)
            activation, fan = float(spreading.trace(likeness, settings)), float(fans[number])
            for link in links:
                if link.cue == number:
                    amount = float(spreading.lift(activation, link.weight, fan, 1.0, "CUED", settings))
                    found.append((link.other, len(sources) - 1, link.weight, amount))
    if not found:
        return None
    numbers, source, weight, amounts = np.array(found, dtype=np.float64).reshape(len(found), 4).T
    slot = seen.rows.slots(numbers.astype(np.int64))
    return Links(slot, source.astype(np.int64), np.full(len(slot), CODES["CUED"]), weight, amounts)


def _near_cues(seen: Seen, scores: Scores, cue: Vector, query: RecallQuery) -> list[tuple[int, str, float]]:
    """Return (number, id, cosine) of the cues that can leave a trace, the most similar first."""
    rows, cues, bound = seen.rows, seen.cues, query.config.spreading.cue_threshold - MARGIN
    found: list[tuple[int, str, float]] = []
    there = rows.asks & rows.alive & rows.embedded & (rows.expires > query.view.now)
    if query.view.as_of is not None:
        there &= rows.at <= query.view.as_of
    turns = np.flatnonzero(there)
    if len(turns) and rows.vectors.shape[1] == len(cue):
        same = query.vector is not None and np.array_equal(query.vector, cue)
        likeness = scores.cosine[turns] if same else rows.vectors[turns] @ cue.astype(np.float32, copy=False)
        for slot in turns[likeness > bound].tolist():
            found.append((int(rows.numbers[slot]), rows.ids[slot], product(rows.vectors[slot], cue)))
    if cues.vectors.shape[1] == len(cue):
        above: Mask = cues.vectors @ cue.astype(np.float32, copy=False) > bound
        for at in np.flatnonzero(above & cues.alive).tolist():
            found.append((cues.numbers[at], cues.ids[at], product(cues.vectors[at], cue)))
    found.sort(key=lambda item: ranked(item[2], item[1]))
    return found


def _led(db: sqlite3.Connection, seen: Seen, numbers: Sequence[int], config: Config) -> list[Led]:
    """Return the living links of cues."""
    asked = {"space": seen.here.key, "numbers": json.dumps(numbers)}
    rows: list[Any] = db.execute(SQL["cued"], asked).fetchall()
    now = weights.current([row[2:] for row in rows], seen.here.steps, config)
    return [Led(row[0], row[1], weight) for row, weight in zip(rows, now, strict=True) if weight > 0]
