"""Upkeep: archive and restore, fading, similarity links."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from helamem_core.config import Config
from helamem_core.dynamics import forgetting, linking
from helamem_core.stores.sqlite import erase, links, spaces, weights
from helamem_core.stores.sqlite.cache import Cache, Seen
from helamem_core.stores.sqlite.scores import MARGIN, best, product
from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.statements import statements
from helamem_core.types import FadeReport

ARCHIVE, FADE, SIMILAR = statements("archive"), statements("fade"), statements("link_similar")
FORGET, REMEMBER = statements("forget"), statements("remember")
_BLOCK = 256  # memories compared with all others at once
Pairs = dict[tuple[int, int], float]


def archive(db: sqlite3.Connection, space: str, ids: Sequence[str], now: float) -> list[str]:
    """Take memories out of the active graph."""
    here = spaces.find(db, space)
    there = [item for item in spaces.need(db, space, here, ids, now) if item.archived_at is None]
    if here is not None and there:
        _archive(db, here, [item.number for item in there], now)
    return [item.id for item in there]


def _archive(db: sqlite3.Connection, here: SpaceRow, numbers: Sequence[int], now: float) -> None:
    spaces.advance(db, here)
    db.executemany(FORGET["postings"], [{"number": number, "space": here.key} for number in numbers])
    db.execute(ARCHIVE["archive"], {"space": here.key, "numbers": json.dumps(numbers), "now": now})


def restore(db: sqlite3.Connection, space: str, ids: Sequence[str]) -> list[str]:
    """Bring archived memories back."""
    here = spaces.find(db, space)
    there = [item for item in spaces.need(db, space, here, ids, None) if item.archived_at is not None]
    if here is not None and there:
        spaces.advance(db, here)
        asked = {"space": here.key, "numbers": json.dumps([item.number for item in there])}
        db.execute(ARCHIVE["archive"], asked | {"now": None})
        db.execute(ARCHIVE["index_again"], asked)
    return [item.id for item in there]


def fade(db: sqlite3.Connection, space: str, now: float, config: Config) -> FadeReport:
    """Erase expired, archive weak, old, unused memories, remove dead links and idle cues, write weights back."""
    here = spaces.find(db, space)
    if here is None:
        return FadeReport()
    expired = [id for _, id in db.execute(FADE["expired"], {"space": here.key, "now": now})]
    erase.erase(db, here, expired)
    strongest, pruned = _decay(db, here, config)
    idle = [number for (number,) in db.execute(FADE["idle_cues"], {"space": here.key})]
    if idle:
        spaces.advance(db, here)
        erase.drop_cues(db, here, idle)
    unused = db.execute(FADE["unused"], {"space": here.key}).fetchall()
    weak = {
        number: id
        for number, id, uses, recorded_at in unused
        if forgetting.fades(strongest.get(number, 0.0), uses, now - recorded_at, config.forgetting)
    }
    if weak:
        here = spaces.make(db, space)
        _archive(db, here, list(weak), now)
    return FadeReport(tuple(sorted(weak.values())), tuple(sorted(expired)), pruned)


def _decay(db: sqlite3.Connection, here: SpaceRow, config: Config) -> tuple[dict[int, float], int]:
    """Write weights back; return the strongest one at each node, and how many links were dead."""
    rows: list[Any] = db.execute(FADE["links"], {"space": here.key}).fetchall()
    now = weights.current([row[2:] for row in rows], here.steps, config)
    strongest: dict[int, float] = {}
    dead, changed = [], []
    for (source, target, kind, _, *touched, source_now, target_now), weight in zip(rows, now, strict=True):
        if weight <= 0:
            dead.append((here.key, kind, source, target))
            continue
        for end in (source, target):
            strongest[end] = max(strongest.get(end, 0.0), weight)
        if kind != "SIMILAR" and touched != [here.steps, source_now, target_now]:
            changed.append((weight, here.steps, source_now, target_now, here.key, source, kind, target))
    if dead or changed:
        links.changing(db, here, None)
    db.executemany(statements("reinforce")["cut"], dead)
    db.executemany(FADE["write_back"], changed)
    return strongest, len(dead)


def similar(db: sqlite3.Connection, cache: Cache, space: str, now: float, config: Config) -> tuple[Seen, Pairs] | None:
    """Return the similarity links of a space's active memories, by the numbers of their ends."""
    seen = cache.see(db, space)
    if seen is None:
        return None
    rows, ids = seen.rows, seen.rows.ids
    slots = np.flatnonzero(rows.alive & rows.embedded & (rows.expires > now))
    pairs: Pairs = {}
    for slot, others in _neighbourhoods(seen, slots, config):
        by_id = {ids[other]: other for other in others}
        cosines = {id: product(rows.vectors[slot], rows.vectors[other]) for id, other in by_id.items()}
        for id, weight in linking.proposals(cosines, config.linking):
            first, second = sorted((slot, by_id[id]), key=ids.__getitem__)
            pairs[int(rows.numbers[first]), int(rows.numbers[second])] = weight
    return seen, pairs


def _neighbourhoods(
    seen: Seen, slots: np.ndarray[Any, np.dtype[np.int64]], config: Config
) -> Iterator[tuple[int, list[int]]]:
    """Yield each memory's slot with those of the others among which its nearest must be."""
    vectors, settings = seen.rows.vectors[slots], config.linking
    for start in range(0, len(slots), _BLOCK):
        products = vectors[start : start + _BLOCK] @ vectors.T
        for row, likeness in enumerate(products):
            likeness[start + row] = -np.inf
            near = best(likeness, likeness > settings.threshold - MARGIN, settings.neighbours)
            yield int(slots[start + row]), slots[near].tolist()


def link_similar(db: sqlite3.Connection, space: str, seen: Seen, pairs: Pairs, now: float) -> int:
    """Put similarity links in place of the earlier ones, but where an end has changed since they were found."""
    here = spaces.find(db, space)
    if here is None or here.key != seen.here.key:
        return 0
    asked = {"space": here.key, "version": seen.here.version}
    changed = {row[0] for row in db.execute(SIMILAR["changed"], asked)}
    before = {(source, target): since for source, target, since in db.execute(SIMILAR["held"], {"space": here.key})}
    links.changing(db, here, None)
    db.execute(SIMILAR["clear"], {"space": here.key})
    made = {pair: weight for pair, weight in pairs.items() if not changed & set(pair)}
    db.executemany(
        REMEMBER["link"],
        [(here.key, "SIMILAR", *pair, weight, 0, 0, 0, 0, before.get(pair, now), now) for pair, weight in made.items()],
    )
    return len(made.keys() - before.keys())
