"""How the reference store takes in the checked records of an export."""

from __future__ import annotations

from helamem_core.records import Node
from helamem_core.stores.reference.space import Space
from helamem_core.stores.rows import CueNode, Item, Link


def add(here: Space, item: Item) -> None:
    """Put one record into a space that is being filled."""
    if isinstance(item, Node):
        here.nodes[item.id] = item
    elif isinstance(item, CueNode):
        here.cues[item.id] = item
    elif isinstance(item, Link):
        here.links[item.kind, item.source, item.target] = item
    else:
        here.events[item[0]] = item[1]
