"""One space of the reference store: plain dicts, and who is visible, linked and erased in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from helamem_core.config import Config
from helamem_core.dynamics import plasticity
from helamem_core.dynamics.plasticity import Reading
from helamem_core.filters import matches
from helamem_core.records import Node, Pending, View
from helamem_core.stores import rows
from helamem_core.stores.rows import CueNode, Link
from helamem_core.types import EmbedderIdentity, ForgetReport, LinkKind, Neighbour, Vector

LinkKey = tuple[LinkKind, str, str]


@dataclass
class Space:
    """One space: memories in the order they were remembered, links, cues, events, the step count."""

    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[LinkKey, Link] = field(default_factory=dict)
    cues: dict[str, CueNode] = field(default_factory=dict)
    events: dict[str, float] = field(default_factory=dict)
    staged: dict[tuple[str, str], tuple[EmbedderIdentity, str, Vector]] = field(default_factory=dict)
    steps: int = 0
    embedder: EmbedderIdentity | None = None

    def reading(self, source: str, target: str) -> Reading:
        """Return the clocks of a link's ends as they stand."""
        return Reading(self.steps, self.fires(source), self.fires(target))

    def fires(self, id: str) -> int:
        """Return the clock of a memory or cue."""
        return (self.nodes.get(id) or self.cues[id]).fires

    def weight(self, link: Link, config: Config) -> float:
        """Return a link's weight now; similarity links do not decay."""
        if link.kind == "SIMILAR":
            return link.weight
        faded = plasticity.elapsed(self.reading(link.source, link.target), link.reading, config.plasticity)
        return float(plasticity.current(link.weight, faded, config.plasticity))

    def living(self, id: str, kind: LinkKind, config: Config) -> list[tuple[float, str, Link]]:
        """Return the living links of a kind at a node, as (weight now, other end, link); `CUED` goes out only."""
        found = []
        for link in self.links.values():
            ends = (link.source,) if kind == "CUED" else (link.source, link.target)
            if link.kind == kind and id in ends:
                weight = self.weight(link, config)
                if weight > 0:
                    found.append((weight, link.target if link.source == id else link.source, link))
        return found

    def successor(self, id: str) -> str | None:
        """Return the turn after a turn."""
        return next((node.id for node in self.nodes.values() if node.previous == id), None)

    def erase(self, ids: Iterable[str]) -> ForgetReport:
        """Remove memories and all that belonged to them."""
        gone = [id for id in dict.fromkeys(ids) if id in self.nodes]
        led = {link.source for link in self.links.values() if link.kind == "CUED" and link.target in gone}
        for id in gone:
            node = self.nodes.pop(id)
            after = self.successor(id)
            if after is not None:
                self.nodes[after].previous = node.previous
            self.staged.pop(("episode", id), None)
        before = len(self.links)
        self.links = {key: link for key, link in self.links.items() if not {link.source, link.target} & set(gone)}
        leading = {link.source for link in self.links.values()}
        orphans = [id for id in led if id in self.cues and id not in leading]
        for id in led & self.cues.keys():
            self.cues[id].text = None
        for id in orphans:
            self.drop_cue(id)
        return ForgetReport(tuple(gone), before - len(self.links), len(orphans))

    def forget(self, ids: Iterable[str]) -> ForgetReport:
        """Remove memories, and cues that are named themselves."""
        asked = list(dict.fromkeys(ids))
        report = self.erase(asked)
        before, named = len(self.links), [id for id in asked if id in self.cues]
        for id in named:
            self.drop_cue(id)
        return replace(report, links=report.links + before - len(self.links), cues=report.cues + len(named))

    def drop_cue(self, id: str) -> None:
        """Remove a cue with its links."""
        del self.cues[id]
        self.staged.pop(("cue", id), None)
        self.links = {key: link for key, link in self.links.items() if link.source != id}

    def drop_idle_cues(self) -> None:
        """Remove the cues that no link leads from."""
        leading = {link.source for link in self.links.values()}
        for id in self.cues.keys() - leading:
            self.drop_cue(id)


def snapshot(node: Node) -> Node:
    """Return a memory that can change without this one."""
    return replace(node, metadata=rows.unshared(node.metadata))


def exists(node: Node, now: float) -> bool:
    """Return whether a memory has not expired."""
    return node.expires_at is None or node.expires_at > now


def visible(node: Node, view: View, *, archived: bool = False) -> bool:
    """Return whether a memory exists for a reader."""
    return (
        (node.archived_at is not None) == archived
        and exists(node, view.now)
        and (view.since is None or node.at >= view.since)
        and (view.until is None or node.at <= view.until)
        and (view.as_of is None or node.at <= view.as_of)
        and (view.filter is None or matches(view.filter, rows.filterable(node)))
    )


def cosine(first: Vector | None, second: Vector | None) -> float:
    """Return the product of two unit vectors in double precision."""
    assert first is not None
    assert second is not None
    return float(first.astype("f8") @ second.astype("f8"))


def texts(here: Space) -> list[tuple[Pending, Vector | None]]:
    """Return every text that has or wants a vector, with the vector."""
    found = [(Pending("episode", n.id, n.text), n.vector) for n in here.nodes.values()]
    return found + [(Pending("cue", c.id, c.text), c.vector) for c in here.cues.values() if c.text is not None]


def seen(here: Space, id: str, link: Link, config: Config) -> Neighbour:
    """Return a link as seen from one of its ends."""
    outgoing = link.source == id or link.kind != "CUED"
    other = link.target if link.source == id else link.source
    return Neighbour(
        id=other,
        text=(here.nodes.get(other) or here.cues[other]).text or "",
        kind=link.kind,
        outgoing=outgoing,
        weight=here.weight(link, config),
        count=link.count,
        since=rows.moment(link.since),
        last_at=rows.moment(link.last_at),
    )


def sequence(here: Space, node: Node) -> list[Neighbour]:
    """Return the turns before and after a turn as its neighbours."""
    after = here.successor(node.id)
    ends = [(node.previous, False, node)] + ([(after, True, here.nodes[after])] if after else [])
    return [
        Neighbour(other, here.nodes[other].text, "NEXT", outgoing, 1.0, 0, rows.moment(later.recorded_at), None)
        for other, outgoing, later in ends
        if other is not None
    ]
