"""Storing new memories: all of a batch or none of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from helamem_core.config import Config
from helamem_core.errors import EmbedderMismatch, StoreBusy
from helamem_core.records import Node
from helamem_core.stores.neo4j import casts, erase
from helamem_core.stores.neo4j.connection import Transaction
from helamem_core.stores.neo4j.reinforce import capping
from helamem_core.types import EmbedderIdentity

Pairs = list[tuple[str, str]]
"""Ids of turns that follow each other: before and after."""


class Run(NamedTuple):
    """New memories that can be written at once, and the expired ones that must go first."""

    expired: list[str]
    fresh: list[Node]


def remember(
    tx: Transaction, space: str, nodes: Sequence[Node], embedder: EmbedderIdentity | None, config: Config
) -> list[bool]:
    """Store new memories, each linked to the last one of its session; return which were stored.

    Raises:
        EmbedderMismatch: they have vectors of another model than the space's.
        StoreBusy: the space is being filled or erased.
    """
    here = begin(tx, space, nodes)
    if any(node.vector is not None for node in nodes):
        bind(tx, space, casts.embedder(here), embedder)
    associated = config.plasticity.temporal == "associated"
    stored, runs = planned(nodes, {row["id"]: row["expires_at"] for row in here["held"]}, one_by_one=associated)
    made: Pairs = []
    for at, run in enumerate(runs):
        if run.expired:
            erase.erase(tx, space, run.expired)
        if at or run.expired:
            here = begin(tx, space, run.fresh)
        pairs = following(run.fresh, {row["session"]: row["id"] for row in here["last"]})
        create(tx, space, run.fresh, here["last_number"] + 1, pairs)
        count(tx, space, run.fresh, here["last_number"] + len(run.fresh))
        if associated and pairs:
            tx.run("remember.associate", space=space, pairs=pairs, weight=config.plasticity.temporal_weight)
            made += pairs
    if made:
        ends = sorted({id for pair in made for id in pair})
        tx.run("remember.cap", space=space, ends=ends, c=capping(config))
    return stored


def begin(tx: Transaction, space: str, nodes: Sequence[Node]) -> dict[str, Any]:
    """Return the space, locked and made if need be, with what it holds of these memories and their sessions.

    Raises:
        StoreBusy: it is being filled or erased.
    """
    sessions = list({node.session: None for node in nodes if node.session is not None})
    here = tx.one("remember.begin", space=space, ids=list({node.id: None for node in nodes}), sessions=sessions)
    if here["loading"]:
        raise StoreBusy(
            f"space {space!r} is being imported or erased; try again after that, or erase it if that was cut short"
        )
    return here


def bind(tx: Transaction, space: str, held: EmbedderIdentity | None, embedder: EmbedderIdentity | None) -> None:
    """Bind a space without vectors to their model.

    Raises:
        EmbedderMismatch: it has vectors of another one.
    """
    if held is None and embedder is not None:
        tx.run("remember.bind", space=space, model=casts.model(embedder))
    elif held != embedder:
        raise EmbedderMismatch(f"space {space!r} holds vectors of {held}, not {embedder}; use `reembed`")


def planned(
    nodes: Sequence[Node], held: Mapping[str, float | None], *, one_by_one: bool
) -> tuple[list[bool], list[Run]]:
    """Return for each memory whether it is stored, and what is to be written in which order.

    Args:
        nodes: in order.
        held: when each memory that is there expires.
        one_by_one: whether an expired memory must go just before the one that replaces it, since what comes before
            that in the batch is linked to it.
    """
    there, stored, runs = dict(held), [], []
    run = Run([], [])
    for node in nodes:
        expires_at = there.get(node.id)
        replaces = expires_at is not None and expires_at <= node.recorded_at
        stored.append(replaces or node.id not in there)
        if replaces:
            if run.fresh and (one_by_one or any(other.id == node.id for other in run.fresh)):
                runs.append(run)
                run = Run([], [])
            run.expired.append(node.id)
        if stored[-1]:
            run.fresh.append(node)
            there[node.id] = node.expires_at
    return stored, [*runs, run] if run.fresh else runs


def following(nodes: Sequence[Node], last: Mapping[str, str]) -> Pairs:
    """Return which of the memories follows which.

    Args:
        nodes: in order.
        last: the id of the last memory of each session before them.
    """
    pairs, before = [], dict(last)
    for node in nodes:
        if node.session is None:
            continue
        if node.session in before:
            pairs.append((before[node.session], node.id))
        before[node.session] = node.id
    return pairs


def create(tx: Transaction, space: str, nodes: Sequence[Node], number: int, pairs: Pairs) -> None:
    """Make memories.

    Args:
        tx: the transaction.
        space: whose memories.
        nodes: in order.
        number: of the first one.
        pairs: which of them follows which; those before them are there.
    """
    before = {after: one for one, after in pairs}
    rows = [
        {
            "properties": casts.episode(node, space) | {"number": at},
            "labels": labels(node),
            "vector": casts.numbers(node.vector),
            "before": before.get(node.id),
        }
        for at, node in enumerate(nodes, number)
    ]
    tx.run("remember.create", space=space, rows=rows)


def count(tx: Transaction, space: str, nodes: Sequence[Node], last_number: int) -> None:
    """Add memories to the counts of words and of the space; archived ones do not count."""
    active = [node for node in nodes if node.archived_at is None]
    words = Counter(term for node in active for term in node.terms)
    tx.run(
        "remember.count",
        space=space,
        words=[list(pair) for pair in sorted(words.items())],
        memories=len(active),
        embedded=sum(node.vector is not None for node in active),
        length=sum(sum(node.terms.values()) for node in active),
        last_number=last_number,
    )


def labels(node: Node) -> list[str]:
    """Return the labels of a memory beside `Episode`."""
    labels = [] if node.archived_at is None else ["Archived"]
    if node.vector is None:
        labels.append("Waiting")
    elif node.archived_at is None:
        labels.append(f"Vector{len(node.vector)}")
    return labels
