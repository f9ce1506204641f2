"""The executable specification: dicts and the pure functions of `dynamics`, nothing clever.

Every other engine must give the same ids, order and weights; `testing.lockstep` holds them to it. It serves
`memory:` urls and is exact at any size, but scans everything: use it for tests and small memories.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from helamem_core import forks
from helamem_core.config import Config
from helamem_core.dynamics import forgetting, linking
from helamem_core.dynamics.plasticity import Reading
from helamem_core.dynamics.scoring import ranked
from helamem_core.errors import EmbedderMismatch, InvalidInput, MemoryNotFound, SpaceNotEmpty
from helamem_core.records import Embedded, Listing, Node, Patch, Pending, Recalled, RecallQuery, Reinforcement, View
from helamem_core.stores import rows
from helamem_core.stores.export_records import Records
from helamem_core.stores.reference import transfer
from helamem_core.stores.reference.recall import recall
from helamem_core.stores.reference.reinforce import cap_degrees, fire
from helamem_core.stores.reference.space import LinkKey, Space, cosine, exists, seen, sequence, snapshot, texts, visible
from helamem_core.stores.rows import Link
from helamem_core.types import (
    EmbedderIdentity,
    FadeReport,
    ForgetReport,
    Neighbour,
    ReinforceReport,
    Stats,
)

_FORK_PATIENCE = 30.0  # seconds that a fork waits for the verb of another thread


class ReferenceStore:
    """Spaces in memory; every verb holds one lock. See `helamem_core.protocols.Store` for each verb."""

    def __init__(self) -> None:
        self._spaces: dict[str, Space] = {}
        self._lock = threading.RLock()
        forks.watch(self)

    def before_fork(self) -> None:
        """Wait until no verb of another thread is under way."""
        self._held = self._lock.acquire(timeout=_FORK_PATIENCE)

    def after_fork_in_parent(self) -> None:
        """Let the others go on."""
        if self._held:
            self._lock.release()

    def after_fork_in_child(self) -> None:
        """Go on with a copy."""
        self._lock = threading.RLock()

    def close(self) -> None:
        """Do nothing: the spaces live as long as the store."""

    def spaces(self) -> list[str]:
        """Return the names of all spaces."""
        return sorted(self._spaces)

    def drop_space(self, space: str) -> ForgetReport:
        """Erase a space."""
        with self._lock:
            dropped = self._spaces.pop(space, Space())
            return ForgetReport(tuple(dropped.nodes), len(dropped.links), len(dropped.cues))

    def identity(self, space: str) -> EmbedderIdentity | None:
        """Return the model of the vectors."""
        return self._read(space).embedder

    def present(self, space: str, ids: Sequence[str], now: float) -> dict[str, Node]:
        """Return those that exist, by id."""
        with self._lock:
            nodes = self._read(space).nodes
            return {id: snapshot(nodes[id]) for id in ids if id in nodes and exists(nodes[id], now)}

    def remember(
        self, space: str, nodes: Sequence[Node], *, embedder: EmbedderIdentity | None, config: Config
    ) -> list[bool]:
        """Store new memories."""
        with self._lock:
            here = self._write(space)
            if any(node.vector is not None for node in nodes):
                _bind(space, here, embedder)
            ends: set[str] = set()
            stored = [self._add(here, node, config, ends) for node in nodes]
            cap_degrees(here, ends, config)
            return stored

    def _add(self, here: Space, node: Node, config: Config, ends: set[str]) -> bool:
        held = here.nodes.get(node.id)
        if held is not None:
            if exists(held, node.recorded_at):
                return False
            here.erase([node.id])
        session = [other.id for other in here.nodes.values() if other.session == node.session is not None]
        previous = session[-1] if session else None
        here.nodes[node.id] = snapshot(node)
        here.nodes[node.id].previous = previous
        if previous is not None and config.plasticity.temporal == "associated":
            source, target = sorted((previous, node.id))
            ends |= {source, target}
            here.links["ASSOCIATED", source, target] = Link(
                kind="ASSOCIATED",
                source=source,
                target=target,
                weight=config.plasticity.temporal_weight,
                reading=here.reading(source, target),
                count=0,
                since=node.recorded_at,
                last_at=node.recorded_at,
            )
        return True

    def recall(self, space: str, query: RecallQuery) -> Recalled:
        """Return the best memories for a query."""
        with self._lock:
            return recall(self._read(space), query)

    def reinforce(self, space: str, event: Reinforcement) -> ReinforceReport:
        """Apply one Hebbian event."""
        with self._lock:
            here = self._read(space)
            turn = [event.cue] if isinstance(event.cue, str) else []
            self._need(space, [*event.ids, *turn], event.now)
            horizon = event.now - event.config.limits.event_retention
            here.events = {id: at for id, at in here.events.items() if at >= horizon}
            if event.event in here.events:
                return ReinforceReport(applied=False)
            if event.event is not None:
                here.events[event.event] = event.now
            return fire(here, event.for_model(here.embedder))

    def select(self, space: str, listing: Listing) -> list[Node]:
        """Return memories of a view in order."""
        with self._lock:
            nodes = self._read(space).nodes.values()
            found = [snapshot(node) for node in nodes if visible(node, listing.view, archived=listing.archived)]
        name = listing.order.removeprefix("-")
        found.sort(key=lambda node: node.id)
        found.sort(key=lambda node: getattr(node, name), reverse=listing.order.startswith("-"))
        end = None if listing.limit is None else listing.offset + listing.limit
        return found[listing.offset : end]

    def update(self, space: str, id: str, patch: Patch, now: float) -> Node:
        """Change a memory's content."""
        with self._lock:
            self._need(space, [id], now)
            here = self._read(space)
            node, patch = here.nodes[id], patch.for_model(here.embedder)
            if patch.text is not None:
                if patch.vector is not None and here.embedder is None:
                    raise InvalidInput(f"space {space!r} has no embedder yet: remember before you update")
                node.text, node.terms, node.keywords = patch.text, patch.terms, patch.keywords
                node.vector = patch.vector
                here.staged.pop(("episode", id), None)
                here.links = {
                    key: link
                    for key, link in here.links.items()
                    if link.kind != "SIMILAR" or id not in (link.source, link.target)
                }
            if patch.metadata is not None:
                node.metadata = rows.unshared(patch.metadata)
            if patch.expires_at != "keep":
                node.expires_at = patch.expires_at
            return snapshot(node)

    def forget(self, space: str, ids: Sequence[str]) -> ForgetReport:
        """Erase memories and cues."""
        with self._lock:
            return self._read(space).forget(ids)

    def archive(self, space: str, ids: Sequence[str], now: float) -> list[str]:
        """Take memories out of the active graph."""
        with self._lock:
            nodes = self._need(space, dict.fromkeys(ids), now)
            changed = [node.id for node in nodes if node.archived_at is None]
            for id in changed:
                self._read(space).nodes[id].archived_at = now
            return changed

    def restore(self, space: str, ids: Sequence[str]) -> list[str]:
        """Bring archived memories back."""
        with self._lock:
            nodes = self._need(space, dict.fromkeys(ids), None)
            changed = [node.id for node in nodes if node.archived_at is not None]
            for id in changed:
                self._read(space).nodes[id].archived_at = None
            return changed

    def fade(self, space: str, now: float, config: Config) -> FadeReport:
        """Erase expired, archive weak, old, unused memories, remove dead links and the cues that had no others."""
        with self._lock:
            here = self._read(space)
            expired = here.erase([node.id for node in here.nodes.values() if not exists(node, now)]).ids
            weights = {key: here.weight(link, config) for key, link in here.links.items()}
            here.links = {key: link for key, link in here.links.items() if weights[key] > 0}
            here.drop_idle_cues()
            strongest: dict[str, float] = {}
            for key, link in here.links.items():
                if link.kind != "SIMILAR":
                    link.weight, link.reading = weights[key], here.reading(link.source, link.target)
                for end in (link.source, link.target):
                    strongest[end] = max(strongest.get(end, 0.0), weights[key])
            archived = [
                node.id
                for node in here.nodes.values()
                if node.archived_at is None
                and forgetting.fades(strongest.get(node.id, 0.0), node.uses, now - node.recorded_at, config.forgetting)
            ]
            for id in archived:
                here.nodes[id].archived_at = now
            return FadeReport(tuple(sorted(archived)), tuple(sorted(expired)), len(weights) - len(here.links))

    def link_similar(self, space: str, now: float, config: Config) -> int:
        """Make similarity links between active near neighbours, in place of the earlier ones."""
        with self._lock:
            here = self._read(space)
            active = [node for node in here.nodes.values() if visible(node, View(now=now)) and node.vector is not None]
            before = {key: link.since for key, link in here.links.items() if key[0] == "SIMILAR"}
            here.links = {key: link for key, link in here.links.items() if key[0] != "SIMILAR"}
            made: set[LinkKey] = set()
            for node in active:
                cosines = {other.id: cosine(node.vector, other.vector) for other in active if other is not node}
                for other, weight in linking.proposals(cosines, config.linking):
                    source, target = sorted((node.id, other))
                    key: LinkKey = ("SIMILAR", source, target)
                    made.add(key)
                    here.links[key] = Link(
                        kind="SIMILAR",
                        source=source,
                        target=target,
                        weight=weight,
                        reading=Reading(0, 0, 0),
                        count=0,
                        since=before.get(key, now),
                        last_at=now,
                    )
            return len(made - before.keys())

    def neighbours(self, space: str, id: str, now: float, config: Config) -> list[Neighbour]:
        """Return a memory's or cue's living links."""
        with self._lock:
            here = self._read(space)
            if id not in here.cues:
                self._need(space, [id], now)
            found = [seen(here, id, link, config) for link in here.links.values() if id in (link.source, link.target)]
            if id in here.nodes:
                found += sequence(here, here.nodes[id])
            found = [n for n in found if n.weight > 0 and (n.id in here.cues or exists(here.nodes[n.id], now))]
            return sorted(found, key=lambda n: (*ranked(n.weight, n.kind), n.id))

    def stats(self, space: str, now: float, config: Config) -> Stats:
        """Return counts of the space."""
        with self._lock:
            here = self._read(space)
            nodes = [node for node in here.nodes.values() if exists(node, now)]
            active = [node for node in nodes if node.archived_at is None]
            links = {"NEXT": sum(node.previous is not None for node in here.nodes.values())}
            for kind in ("ASSOCIATED", "CUED", "SIMILAR"):
                links[kind] = sum(link.kind == kind and here.weight(link, config) > 0 for link in here.links.values())
            return Stats(
                memories=len(active),
                archived=len(nodes) - len(active),
                unembedded=sum(vector is None for _, vector in texts(here)),
                links=links,
                cues=len(here.cues),
                sessions=len({node.session for node in nodes} - {None}),
                terms=len({term for node in active for term in node.terms}),
                steps=here.steps,
                embedder=here.embedder,
            )

    def pending(self, space: str, limit: int, offset: int = 0) -> list[Pending]:
        """Return texts that wait for a vector."""
        with self._lock:
            waiting = [item for item, vector in texts(self._read(space)) if vector is None]
            return waiting[offset : offset + limit]

    def embed(self, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> int:
        """Give vectors to texts that wait for one."""
        with self._lock:
            here = self._read(space)
            if rows:
                _bind(space, here, embedder)
            taken = 0
            for row in rows:
                item = (here.nodes if row.kind == "episode" else here.cues).get(row.id)
                if item is not None and item.vector is None and item.text == row.text:
                    item.vector = row.vector
                    taken += 1
            return taken

    def stage(self, space: str, embedder: EmbedderIdentity, rows: Sequence[Embedded]) -> None:
        """Keep vectors of a new model beside the present ones."""
        with self._lock:
            here = self._read(space)
            held = {(item.kind, item.id): item.text for item, _ in texts(here)}
            for row in rows:
                if held.get((row.kind, row.id)) == row.text:
                    here.staged[row.kind, row.id] = (embedder, row.text, row.vector)

    def unstaged(self, space: str, embedder: EmbedderIdentity, limit: int, offset: int = 0) -> list[Pending]:
        """Return texts that have no staged vector of this model."""
        with self._lock:
            here = self._read(space)
            done = {key for key, staged in here.staged.items() if staged[0] == embedder}
            waiting = [item for item, _ in texts(here) if (item.kind, item.id) not in done]
            return waiting[offset : offset + limit]

    def adopt(self, space: str, embedder: EmbedderIdentity) -> int:
        """Swap the staged vectors in."""
        with self._lock:
            here = self._write(space)
            staged = {key: row[2] for key, row in here.staged.items() if row[0] == embedder}
            for node in here.nodes.values():
                node.vector = staged.get(("episode", node.id))
            for cue in list(here.cues.values()):
                cue.vector = staged.get(("cue", cue.id))
                if cue.text is None:
                    here.drop_cue(cue.id)
            here.links = {key: link for key, link in here.links.items() if link.kind != "SIMILAR"}
            here.staged, here.embedder = {}, embedder
            return len(staged)

    def dump(self, space: str) -> Iterator[dict[str, Any]]:
        """Yield the space as records."""
        with self._lock:
            here = copy.deepcopy(self._read(space))
        items: list[rows.Item] = [*here.nodes.values(), *here.cues.values(), *here.links.values()]
        lines = map(rows.record, [*items, *here.events.items()])
        yield from rows.ended([rows.header(space, here.steps, here.embedder), *lines])

    def load(self, space: str, records: Iterable[dict[str, Any]]) -> int:
        """Fill an empty space from records."""
        lines = Records(records)
        filled = Space()
        filled.steps, filled.embedder = lines.steps, lines.embedder
        full = bool(self._read(space).nodes)
        for item in lines:
            if not full:
                transfer.add(filled, item)
        with self._lock:
            if full or self._read(space).nodes:
                raise SpaceNotEmpty(f"space {space!r} holds memories; import into a new space")
            self._spaces[space] = filled
        return len(filled.nodes)

    def files(self) -> list[Path]:
        """Return none."""
        return []

    def backup(self, path: Path) -> None:
        """Refuse: there is no file."""
        raise InvalidInput(f"cannot back up to {str(path)!r}: `memory:` has no file; use `export`")

    def check(self) -> list[str]:
        """Return dead ends of links; there are none unless an import was damaged."""
        return [
            f"space {name!r}: link {key!r} has a dead end"
            for name, here in self._spaces.items()
            for key in here.links
            if not {key[1], key[2]} <= here.nodes.keys() | here.cues.keys()
        ]

    def _read(self, space: str) -> Space:
        return self._spaces.get(space) or Space()

    def _write(self, space: str) -> Space:
        return self._spaces.setdefault(space, Space())

    def _need(self, space: str, ids: Iterable[str], now: float | None) -> list[Node]:
        nodes = self._read(space).nodes
        there = {id: id in nodes and (now is None or exists(nodes[id], now)) for id in ids}
        lost = [id for id, found in there.items() if not found]
        if lost:
            raise MemoryNotFound(lost, space)
        return [nodes[id] for id in ids]


def _bind(space: str, here: Space, embedder: EmbedderIdentity | None) -> None:
    if here.embedder is None:
        here.embedder = embedder
    if here.embedder != embedder:
        raise EmbedderMismatch(f"space {space!r} holds vectors of {here.embedder}, not {embedder}; use `reembed`")
