"""How the reference store applies one Hebbian event."""

from __future__ import annotations

from helamem_core.config import Config
from helamem_core.dynamics import plasticity
from helamem_core.dynamics.scoring import ranked
from helamem_core.records import CueRecord, Reinforcement
from helamem_core.stores import rows
from helamem_core.stores.reference.space import LinkKey, Space, cosine
from helamem_core.stores.rows import CueNode, Link
from helamem_core.types import ReinforceReport


def fire(here: Space, event: Reinforcement) -> ReinforceReport:
    """Advance the clocks of what fired and strengthen the links between them."""
    settings = event.config.plasticity
    cue = _cue_id(here, event)
    here.steps += 1
    paired: list[LinkKey] = [("ASSOCIATED", *pair) for pair in plasticity.pairs(event.ids)]
    cued: list[LinkKey] = [("CUED", cue, id) for id in event.ids if cue is not None and id != cue]
    weights = {key: _weight(here, key, event.config) for key in paired + cued}
    for id in {*event.ids, *([cue] if cue else [])}:
        (here.nodes.get(id) or here.cues[id]).fires += 1
    for id in event.ids:
        here.nodes[id].uses, here.nodes[id].last_used_at = here.nodes[id].uses + 1, event.now
    for key, weight in weights.items():
        _strengthen(here, key, weight, settings.rate if key[0] == "ASSOCIATED" else settings.cue_rate, event)
    cap_degrees(here, {*event.ids, *([cue] if cue else [])}, event.config)
    return ReinforceReport(True, len(paired), len(cued), cue)


def _weight(here: Space, key: LinkKey, config: Config) -> float:
    link = here.links.get(key)
    if link is None:
        return 0.0
    faded = plasticity.elapsed(here.reading(link.source, link.target), link.reading, config.plasticity)
    return float(plasticity.carried(link.weight, faded, config.plasticity))


def _strengthen(here: Space, key: LinkKey, weight: float, rate: float, event: Reinforcement) -> None:
    kind, source, target = key
    held = here.links.get(key) if weight > 0 else None
    here.links[key] = Link(
        kind=kind,
        source=source,
        target=target,
        weight=float(plasticity.strengthened(weight, rate, event.config.plasticity)),
        reading=here.reading(source, target),
        count=(held.count if held else 0) + 1,
        since=held.since if held else event.now,
        last_at=event.now,
    )


def _cue_id(here: Space, event: Reinforcement) -> str | None:
    cue = event.cue
    if not isinstance(cue, CueRecord):
        return cue
    same = here.cues.get(cue.id) or _nearest_cue(here, cue, event.config)
    if same is None:
        same = here.cues[cue.id] = rows.cue_node(cue, event.now)
        if len(here.cues) > event.config.limits.max_cues:
            others = (c for c in here.cues.values() if c.id != cue.id)
            here.drop_cue(min(others, key=lambda c: (c.last_at, c.id)).id)
    elif same.id == cue.id:
        same.text = cue.text
        same.vector = cue.vector if same.vector is None else same.vector
    same.last_at = event.now
    return same.id


def _nearest_cue(here: Space, cue: CueRecord, config: Config) -> CueNode | None:
    if cue.vector is None:
        return None
    near = {c.id: cosine(c.vector, cue.vector) for c in here.cues.values() if c.vector is not None}
    best = min(near, key=lambda id: ranked(near[id], id), default=None)
    return here.cues[best] if best is not None and near[best] >= config.limits.cue_merge else None


def cap_degrees(here: Space, touched: set[str], config: Config) -> None:
    """Cut the weakest links of nodes that have too many; both ends are judged before any link goes."""
    drop: set[LinkKey] = set()
    for id in touched:
        arriving = [
            (here.weight(link, config), link.source, link)
            for link in here.links.values()
            if link.kind == "CUED" and link.target == id and here.weight(link, config) > 0
        ]
        for links in (here.living(id, "ASSOCIATED", config), here.living(id, "CUED", config), arriving):
            for at in plasticity.over_degree([(weight, other) for weight, other, _ in links], config.plasticity):
                link = links[at][2]
                drop.add((link.kind, link.source, link.target))
    here.links = {key: link for key, link in here.links.items() if key not in drop}
