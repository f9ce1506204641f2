"""Moving whole spaces and files: export, import, backup."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helamem_core.dynamics.plasticity import Reading
from helamem_core.errors import InvalidExport, SpaceNotEmpty
from helamem_core.records import Node
from helamem_core.stores import files, rows
from helamem_core.stores.export_records import Records
from helamem_core.stores.rows import CueNode, Link
from helamem_core.stores.sqlite import casts, content, erase, links, spaces
from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.statements import statements

SQL, NODES, REMEMBER, SPACES = (statements(stem) for stem in ("transfer", "nodes", "remember", "spaces"))
CONNECTION = statements("connection")
_BATCH = 500  # memories read or written at once


def dump(db: sqlite3.Connection, space: str) -> Iterator[dict[str, Any]]:
    """Yield a space as records, all of one state."""
    yield from rows.ended(_records(db, space))


def _records(db: sqlite3.Connection, space: str) -> Iterator[dict[str, Any]]:
    here = spaces.find(db, space)
    if here is None:
        yield rows.header(space, 0, None)
        return
    yield rows.header(space, here.steps, here.embedder)
    asked = {"space": here.key}
    numbers = [number for (number,) in db.execute(NODES["all_numbers"], asked)]
    for start in range(0, len(numbers), _BATCH):
        yield from map(rows.record, casts.nodes(db, here.key, numbers[start : start + _BATCH]))
    for _, id, text, vector, fires, last_at in db.execute(SQL["cues"], asked):
        yield rows.record(CueNode(id=id, text=text, vector=casts.vector_of(vector), fires=fires, last_at=last_at))
    for row in db.execute(SQL["links"], asked):
        yield rows.record(_link(row))
    for id, at in db.execute(SQL["events"], asked):
        yield rows.record((id, at))


def _link(row: tuple[Any, ...]) -> Link:
    kind, source, target, weight, step, source_fires, target_fires, count, since, last_at = row
    return Link(
        kind=kind,
        source=source,
        target=target,
        weight=weight,
        reading=Reading(step, source_fires, target_fires),
        count=count,
        since=since,
        last_at=last_at,
    )


@dataclass(slots=True)
class Import:
    """An import under way: rows of a batch, and the numbers that ids were given."""

    db: sqlite3.Connection
    here: SpaceRow
    version: int
    memories: dict[str, int] = field(default_factory=dict)
    cues: dict[str, int] = field(default_factory=dict)
    awaited: list[tuple[str, int]] = field(default_factory=list)
    batch: list[Node] = field(default_factory=list)

    def add(self, item: Node | CueNode | Link | tuple[str, float]) -> None:
        """Store one record; memories are kept until a batch is full."""
        if isinstance(item, Node):
            self.batch.append(item)
            if len(self.batch) >= _BATCH:
                self.flush()
        elif isinstance(item, CueNode):
            self._cue(item)
        elif isinstance(item, Link):
            self.flush()
            self._link(item)
        else:
            self.db.execute(SQL["event"], (self.here.key, *item))

    def flush(self) -> None:
        """Store the memories kept so far."""
        numbers = spaces.take_numbers(self.db, len(self.batch))
        self.memories |= {node.id: number for node, number in zip(self.batch, numbers, strict=True)}
        episodes, postings, vectors = [], [], []
        for node, number in zip(self.batch, numbers, strict=True):
            before = self.memories.get(node.previous) if node.previous is not None else None
            if node.previous is not None and before is None:
                self.awaited.append((node.previous, number))
            episodes.append(casts.episode(node, number, self.here.key, before, self.version))
            if node.archived_at is None:
                postings += casts.postings(self.here.key, node.terms, number)
            if node.vector is not None:
                vectors.append((number, casts.blob(node.vector)))
        content.put(self.db, episodes, postings, vectors)
        self.batch = []

    def finish(self) -> None:
        """Store what is left, and what could only be told at the end."""
        self.flush()
        links = [(self._end(self.memories, previous), number) for previous, number in self.awaited]
        self.db.executemany(SQL["previous"], links)
        self.db.execute(SQL["asking"], {"space": self.here.key})

    def _cue(self, cue: CueNode) -> None:
        (number,) = spaces.take_numbers(self.db, 1)
        self.cues[cue.id] = number
        embedded = int(cue.vector is not None)
        row = (number, self.here.key, cue.id, cue.text, embedded, cue.fires, cue.last_at, self.version)
        self.db.execute(SQL["cue"], row)
        if cue.vector is not None:
            self.db.execute(REMEMBER["vector"], (number, casts.blob(cue.vector)))

    def _link(self, link: Link) -> None:
        source = self._end(self.memories if link.kind != "CUED" else self.cues | self.memories, link.source)
        ends = (source, self._end(self.memories, link.target))
        values = (link.weight, *link.reading, link.count, link.since, link.last_at)
        self.db.execute(REMEMBER["link"], (self.here.key, link.kind, *ends, *values))

    def _end(self, numbers: dict[str, int], id: str) -> int:
        if id not in numbers:
            raise InvalidExport(f"{id!r} is named by a link or as the turn before, but is not in the export")
        return numbers[id]


def load(db: sqlite3.Connection, space: str, records: Iterable[dict[str, Any]]) -> int:
    """Fill an empty space from records."""
    lines = Records(records)
    here = spaces.make(db, space)
    full = db.execute(SQL["holds_memories"], {"space": here.key}).fetchone() is not None
    if full:
        for _ in lines:
            pass
        raise SpaceNotEmpty(f"space {space!r} holds memories; import into a new space")
    erase.clear(db, here)
    links.changing(db, here, None)
    db.execute(SPACES["start_anew"], {"space": here.key})
    db.execute(SPACES["set_steps"], {"space": here.key, "steps": lines.steps})
    spaces.set_embedder(db, here, lines.embedder)
    filling = Import(db, here, here.version + 1)
    try:
        for item in lines:
            filling.add(item)
        filling.finish()
    except sqlite3.IntegrityError as error:
        raise InvalidExport(f"the export has something twice, or lacks a value: {error}") from error
    return len(filling.memories)


def backup(db: sqlite3.Connection, path: Path) -> None:
    """Write a copy of the file that holds no erased bytes.

    A plain copy by pages would carry along what was erased and not yet purged; this one is written anew.
    """
    path = files.place(path, "path")
    files.refuse(path, owned(db), "back up to")
    with files.beside(path, replace=False) as part:
        db.execute(CONNECTION["copy"], {"path": str(part)})


def owned(db: sqlite3.Connection) -> list[Path]:
    """Return the files of a connection, those too that SQLite keeps beside a database; none for one in memory."""
    named = [name for _, _, name in db.execute(CONNECTION["files"]) if name]
    return [file for name in named for file in files.owned(Path(name))]
