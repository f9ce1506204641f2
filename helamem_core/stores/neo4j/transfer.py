"""Moving whole spaces: export and import.

Records on their way are kept beside the database, so that an export is of one moment however slowly it is read, and an
import is checked as a whole before any of it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, islice, pairwise
from typing import Any, TypeVar

from helamem_core.dynamics.plasticity import Reading
from helamem_core.episodes import CUE
from helamem_core.errors import HelaMemError, SpaceNotEmpty
from helamem_core.records import Node
from helamem_core.stores import rows
from helamem_core.stores.export_records import Records
from helamem_core.stores.neo4j import casts, erase, remember
from helamem_core.stores.neo4j.connection import Connection, Transaction
from helamem_core.stores.neo4j.schema import Schema
from helamem_core.stores.neo4j.spool import Spool
from helamem_core.stores.neo4j.steps import finish
from helamem_core.stores.rows import CueNode, Item, Link
from helamem_core.types import EmbedderIdentity

_PAGE = 500  # records read or written by one statement
T = TypeVar("T")


def dump(db: Connection, space: str) -> Iterator[dict[str, Any]]:
    """Yield a space as records, all of one state.

    The space is copied in one transaction that holds its lock: readers go on, its writers wait until the copy is made,
    whoever reads the records as slowly as he likes.
    """
    return rows.ended(_records(db, space))


def _records(db: Connection, space: str) -> Iterator[dict[str, Any]]:
    with Spool() as spool:
        steps, embedder = db.write(lambda tx: _copy(tx, space, spool))
        yield rows.header(space, steps, embedder)
        for page in spool:
            yield from map(rows.record, page)


def _copy(tx: Transaction, space: str, spool: Spool) -> tuple[int, EmbedderIdentity | None]:
    """Put all items of a space into the spool; return its clock and its model."""
    spool.clear()
    here = tx.run("spaces.locked", space=space)
    if not here:
        return 0, None
    bounds = {"memories": [-1], "cues": [-1]}
    for name, cast in (("memories", _node), ("cues", _cue)):
        while page := tx.run(f"transfer.{name}", space=space, after=bounds[name][-1], size=_PAGE):
            spool.add([cast(row) for row in page])
            bounds[name].append(page[-1]["number"])
    for name, numbers in bounds.items():
        for after, until in pairwise(numbers):
            spool.add(
                [_link(row) for row in tx.run(f"transfer.links_of_{name}", space=space, after=after, until=until)]
            )
    spool.add([(row["id"], row["at"]) for row in tx.run("transfer.events", space=space)])
    return here[0]["steps"], casts.embedder(here[0])


def _node(row: dict[str, Any]) -> Item:
    return casts.node(row["node"], casts.vector(row["node"]["embedding"]))


def _cue(row: dict[str, Any]) -> Item:
    vector = casts.vector(row["vector"])
    return CueNode(id=row["id"], text=row["text"], vector=vector, fires=row["fires"], last_at=row["last_at"])


def _link(row: dict[str, Any]) -> Item:
    reading = Reading(row.pop("step"), row.pop("source_fires"), row.pop("target_fires"))
    return Link(**row, reading=reading)


class Import(erase.Claim):
    """An import under way.

    Attributes:
        number: of the memory or cue that came last.
    """

    def __init__(self, db: Connection, space: str) -> None:
        super().__init__(db, space)
        self.number = self.memories = self.cues = 0
        self.asking: set[str] = set()
        self.turns: list[tuple[str, str]] = []

    def claim(self) -> None:
        """Make the space ours.

        Raises:
            SpaceNotEmpty: it holds memories.
        """
        claimed = self.db.write(lambda tx: tx.one("transfer.claim", space=self.space, loader=self.loader))
        if claimed["full"]:
            raise SpaceNotEmpty(f"space {self.space!r} holds memories; import into a new space")

    def clear(self) -> None:
        """Erase what is in it: what an import left that was cut short, or what outlived all memories."""
        finish(erase.empty(self.write, self.space))

    def add(self, page: Sequence[Any]) -> None:
        """Store items of one kind."""
        if isinstance(page[0], Node):
            self._memories(page)
        elif isinstance(page[0], CueNode):
            self._cues(page)
        elif isinstance(page[0], Link):
            self.asking |= {link.source for link in page if link.kind == "CUED"}
            made = [_link_row(link) for link in page]
            self.write(lambda tx: tx.run("transfer.add_links", space=self.space, rows=made))
        else:
            self.write(lambda tx: tx.run("transfer.add_events", space=self.space, rows=[list(pair) for pair in page]))

    def _memories(self, page: Sequence[Node]) -> None:
        first, last = self.number + 1, self.number + len(page)

        def work(tx: Transaction) -> None:
            remember.create(tx, self.space, page, first, [])
            remember.count(tx, self.space, page, last)

        self.write(work)
        self.turns += [(node.previous, node.id) for node in page if node.previous is not None]
        self.number, self.memories = last, self.memories + len(page)

    def _cues(self, page: Sequence[CueNode]) -> None:
        made = [_cue_row(cue, self.space, number) for number, cue in enumerate(page, self.number + 1)]
        self.write(lambda tx: tx.run("transfer.add_cues", rows=made))
        self.number, self.cues = self.number + len(page), self.cues + len(page)

    def finish(self, steps: int, embedder: EmbedderIdentity | None) -> None:
        """Store what could only be told at the end, and show the space to all."""
        for at in range(0, len(self.turns), _PAGE):
            pairs = [list(pair) for pair in self.turns[at : at + _PAGE]]
            self.write(lambda tx: tx.run("transfer.add_turns", space=self.space, pairs=pairs))  # noqa: B023
        asked = self.cues + sum(not id.startswith(CUE) for id in self.asking)
        counts = {"cues": self.cues, "asked": asked, "last_number": self.number}
        model = casts.model(embedder)
        self.write(lambda tx: tx.run("transfer.finish", space=self.space, steps=steps, model=model, **counts))

    def undo(self) -> None:
        """Erase what was stored so far, if the space is still ours; what this cannot erase the next import clears."""
        with suppress(HelaMemError):
            self.write(lambda tx: None)
            erase.drop_space(self.db, self.space)


def load(db: Connection, schema: Schema, space: str, records: Iterable[dict[str, Any]]) -> int:
    """Fill an empty space from records, batch by batch; until the last one it counts as absent.

    What a failure leaves is erased; what an import left that was killed, the next one clears.

    Raises:
        InvalidExport: a record cannot be read; nothing was stored.
        SpaceNotEmpty: the space holds memories.
        StoreBusy: another import into the space began meanwhile, or it was erased.
    """
    lines = Records(records)
    with Spool() as spool:
        embedded = False
        for page in _pages(lines):
            embedded = embedded or any(getattr(item, "vector", None) is not None for item in page)
            spool.add(page)
        if lines.embedder is not None and embedded:
            schema.ensure(lines.embedder.dimension)
        filling = Import(db, space)
        filling.claim()
        try:
            filling.clear()
            for page in spool:
                filling.add(page)
            filling.finish(lines.steps, lines.embedder)
        except BaseException:
            filling.undo()
            raise
    return filling.memories


def _pages(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield consecutive items of one kind."""
    for _, same in groupby(items, type):
        while page := list(islice(same, _PAGE)):
            yield page


def _link_row(link: Link) -> dict[str, Any]:
    step, source_fires, target_fires = link.reading
    properties = {
        "weight": link.weight,
        "step": step,
        "source_fires": source_fires,
        "target_fires": target_fires,
        "count": link.count,
        "since": link.since,
        "last_at": link.last_at,
    }
    return {"kind": link.kind, "source": link.source, "target": link.target, "properties": properties}


def _cue_row(cue: CueNode, space: str, number: int) -> dict[str, Any]:
    properties = {
        "space": space,
        "id": cue.id,
        "text": cue.text,
        "fires": cue.fires,
        "last_at": cue.last_at,
        "number": number,
    }
    waits = cue.vector is None and cue.text is not None
    labels = ["Waiting"] if waits else [] if cue.vector is None else [f"CueVector{len(cue.vector)}"]
    return {"properties": properties, "labels": labels, "vector": casts.numbers(cue.vector)}
