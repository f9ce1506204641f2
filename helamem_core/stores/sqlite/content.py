"""What is remembered: storing, reading, listing and changing memories."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from helamem_core.config import Config
from helamem_core.errors import InvalidInput
from helamem_core.filters import matches
from helamem_core.records import Listing, Node, Patch
from helamem_core.stores.sqlite import casts, degrees, erase, links, spaces
from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.statements import statements
from helamem_core.types import EmbedderIdentity

SQL, SELECT, UPDATE = statements("remember"), statements("select"), statements("update")
FORGET = statements("forget")
_WORD = itemgetter(1)
_ALL = 2**61  # more than any space holds
Last = tuple[int, str, int]
"""The last memory of a session: number, id, fires."""


def remember(
    db: sqlite3.Connection, space: str, nodes: Sequence[Node], embedder: EmbedderIdentity | None, config: Config
) -> list[bool]:
    """Store new memories, each linked to the last one of its session."""
    ends: set[int] = set()
    stored = _remember(db, space, nodes, embedder, config, ends)
    if ends:
        here = spaces.make(db, space)
        cut = degrees.hold(db, here, ends, here.steps, config)
        links.changing(db, here, ends | cut)
    return stored


def _remember(
    db: sqlite3.Connection,
    space: str,
    nodes: Sequence[Node],
    embedder: EmbedderIdentity | None,
    config: Config,
    ends: set[int],
) -> list[bool]:
    here = spaces.make(db, space)
    if any(node.vector is not None for node in nodes):
        spaces.bind(db, here, embedder)
    there = spaces.held(db, here, (node.id for node in nodes))
    twice = len({node.id for node in nodes}) < len(nodes)
    replaces = any(node.id in there and not there[node.id].exists(node.recorded_at) for node in nodes)
    if len(nodes) > 1 and (twice or replaces):  # rare, and the order matters: one by one
        return [stored for node in nodes for stored in _remember(db, space, [node], embedder, config, ends)]
    fresh = [node for node in nodes if node.id not in there or not there[node.id].exists(node.recorded_at)]
    erase.erase(db, here, [node.id for node in fresh if node.id in there])
    if fresh:
        here = spaces.make(db, space)
        ends |= _insert(db, here, fresh, config)
    stored = {node.id for node in fresh}
    return [node.id in stored for node in nodes]


def _insert(db: sqlite3.Connection, here: SpaceRow, nodes: Sequence[Node], config: Config) -> set[int]:
    """Insert new memories; return the ends of the links that were made."""
    version = spaces.advance(db, here)
    sessions = dict.fromkeys(node.session for node in nodes if node.session is not None)
    found = db.execute(SQL["last_of_sessions"], {"space": here.key, "sessions": json.dumps(list(sessions))})
    last: dict[str, Last] = {session: (number, id, fires) for session, number, id, fires in found}
    episodes, postings, vectors, temporal = [], [], [], []
    for number, node in zip(spaces.take_numbers(db, len(nodes)), nodes, strict=True):
        before = last.get(node.session) if node.session is not None else None
        episodes.append(casts.episode(node, number, here.key, before[0] if before else None, version))
        postings += casts.postings(here.key, node.terms, number)
        if node.vector is not None:
            vectors.append((number, casts.blob(node.vector)))
        if before is not None and config.plasticity.temporal == "associated":
            temporal.append(_temporal(here, before, (number, node.id, node.fires), node.recorded_at, config))
        if node.session is not None:
            last[node.session] = (number, node.id, node.fires)
    put(db, episodes, postings, vectors)
    db.executemany(SQL["link"], temporal)
    return {end for link in temporal for end in link[2:4]}


def put(
    db: sqlite3.Connection,
    episodes: Sequence[tuple[Any, ...]],
    postings: list[tuple[int, str, int, int]],
    vectors: Sequence[tuple[int, bytes]],
) -> None:
    """Insert rows of memories; the index entries go in in the order of their words, which is that of the table."""
    postings.sort(key=_WORD)  # of one word they come by number already
    db.executemany(SQL["episode"], episodes)
    db.executemany(SQL["vector"], vectors)
    db.executemany(SQL["posting"], postings)


def _temporal(here: SpaceRow, first: Last, second: Last, now: float, config: Config) -> tuple[Any, ...]:
    """Return the paper's link between consecutive turns."""
    source, target = sorted((first, second), key=lambda item: item[1])
    clocks = (here.steps, source[2], target[2])
    return (here.key, "ASSOCIATED", source[0], target[0], config.plasticity.temporal_weight, *clocks, 0, now, now)


def present(db: sqlite3.Connection, space: str, ids: Sequence[str], now: float) -> dict[str, Node]:
    """Return those of the memories that exist, by id."""
    here = spaces.find(db, space)
    if here is None or not ids:
        return {}
    there = [item.number for item in spaces.held(db, here, ids).values() if item.exists(now)]
    return {node.id: node for node in casts.nodes(db, here.key, there)}


def select(db: sqlite3.Connection, space: str, listing: Listing) -> list[Node]:
    """Return memories of a view in order."""
    here = spaces.find(db, space)
    if here is None:
        return []
    view = listing.view
    ends = [end for end in (view.until, view.as_of) if end is not None]
    limit = _ALL if listing.limit is None else min(listing.limit, _ALL)
    offset = min(listing.offset, _ALL)
    asked = {
        "space": here.key,
        "archived": int(listing.archived),
        "now": view.now,
        "since": view.since,
        "until": min(ends) if ends else None,
        "order": listing.order,
        "limit": limit if view.filter is None else _ALL,
        "offset": offset if view.filter is None else 0,
    }
    found: Iterable[Any] = db.execute(SELECT["numbers"], asked)
    if view.filter is not None:
        found = islice((row for row in found if matches(view.filter, _record(row))), offset, offset + limit)
    return casts.nodes(db, here.key, [row[0] for row in found])


def _record(row: Sequence[Any]) -> dict[str, Any]:
    _, id, at, role, speaker, session, metadata = row
    return {
        "id": id,
        "role": role,
        "speaker": speaker,
        "session": session,
        "at": at,
        "metadata": json.loads(metadata),
    }


def update(db: sqlite3.Connection, space: str, id: str, patch: Patch, now: float) -> Node:
    """Change a memory's content."""
    here = spaces.find(db, space)
    (held,) = spaces.need(db, space, here, [id], now)
    assert here is not None
    patch = patch.for_model(here.embedder)
    asked = {"space": here.key, "number": held.number}
    erase.note(db)
    if patch.text is not None:
        _retext(db, here, held, patch)
    else:
        spaces.advance(db, here)
    if patch.metadata is not None:
        db.execute(UPDATE["metadata"], asked | {"metadata": casts.as_json(dict(patch.metadata))})
    if patch.expires_at != "keep":
        db.execute(UPDATE["expires_at"], asked | {"expires_at": patch.expires_at})
    return casts.nodes(db, here.key, [held.number])[0]


def _retext(db: sqlite3.Connection, here: SpaceRow, held: spaces.Held, patch: Patch) -> None:
    if patch.vector is not None and here.embedder is None:
        raise InvalidInput(f"space {here.name!r} has no embedder yet: remember before you update")
    spaces.advance(db, here)
    asked = {"space": here.key, "number": held.number}
    numbers = {"numbers": json.dumps([held.number])}
    db.execute(FORGET["postings"], asked)
    for table in ("vectors", "staged"):
        db.execute(FORGET[table], numbers)
    content = {
        "text": patch.text,
        "terms": casts.as_json(dict(patch.terms)),
        "keywords": casts.as_json(patch.keywords),
        "length": sum(patch.terms.values()),
        "embedded": int(patch.vector is not None),
    }
    db.execute(UPDATE["text"], asked | content)
    if patch.vector is not None:
        db.execute(SQL["vector"], (held.number, casts.blob(patch.vector)))
    if held.archived_at is None:
        db.executemany(SQL["posting"], casts.postings(here.key, patch.terms, held.number))
    if db.execute(UPDATE["similar_from"], asked).rowcount + db.execute(UPDATE["similar_to"], asked).rowcount:
        links.changing(db, here, None)
