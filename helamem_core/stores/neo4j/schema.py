"""Constraints, indexes and migrations, made first and awaited."""

from __future__ import annotations

import threading
from importlib.resources import files

from helamem_core.errors import ForeignStore, InvalidInput, SchemaTooNew, StoreError, StoreUnavailable
from helamem_core.stores.neo4j.connection import Connection
from helamem_core.stores.statements import CALENDAR

VERSION = 1
"""Of the schema that this library reads and writes."""
OLDEST = (5, 26)
_SEARCHES = (2026, 1)  # the first whose vector indexes filter while they search
_WIDEST = 4096  # vectors of an index
_ONLINE_SECONDS = 300
_MADE_MEANWHILE = ("RuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists")
_LABELS = {"memories": "Vector", "cues": "CueVector"}


class Schema:
    """What the database has of our schema.

    Args:
        connection: to the database; it learns here which Cypher the server speaks.

    Raises:
        StoreUnavailable: the server is older than 5.26.
        ForeignStore: the database holds something else under our names.
        SchemaTooNew: a newer version of this library wrote it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection, self._lock = connection, threading.Lock()
        self.server = self._look_at_server()
        self._migrate()
        self._widths = frozenset(self._vector_indexes())

    def has(self, width: int) -> bool:
        """Return whether vectors of a width are indexed; another process may have made the index meanwhile."""
        if width not in self._widths:
            with self._lock:
                self._widths = frozenset(self._vector_indexes())
        return width in self._widths

    def ensure(self, width: int) -> None:
        """Make the indexes of a width, and wait until they answer.

        Raises:
            InvalidInput: vectors are too wide for an index.
        """
        if self.has(width):
            return
        if width > _WIDEST:
            raise InvalidInput(f"vectors have {width} numbers; Neo4j indexes at most {_WIDEST}: take a smaller model")
        with self._lock:
            for block in ("memories", "cues"):
                self._make(f"schema.{block}", width)
            self._connection.alone("schema.online", seconds=_ONLINE_SECONDS)
            self._widths = frozenset(self._vector_indexes())

    def _look_at_server(self) -> str:
        row = self._connection.alone("schema.server")[0]
        numbers = tuple(int(part) for part in row["version"].split("-")[0].split(".")[:2])
        if numbers < OLDEST:
            raise StoreUnavailable(
                f"Neo4j at {self._connection.address} is version {row['version']}; helamem needs 5.26 LTS or newer"
            )
        if numbers >= _SEARCHES:
            self._connection.version = CALENDAR
        return str(row["version"])

    def _migrate(self) -> None:
        held = self._connection.alone("schema.version")[0]
        version, where = held["version"] or 0, f"database {self._connection.address.database!r}"
        if held["taken"]:
            raise ForeignStore(
                f"{where} at {self._connection.address} holds nodes labelled Space, Episode, Cue or Keyword that are "
                "not helamem's; name another database"
            )
        if version > VERSION:
            raise SchemaTooNew(
                f"{where} at {self._connection.address} has schema {version}; this version of helamem reads up to "
                f"{VERSION}: upgrade it"
            )
        if version < VERSION:
            self._make("schema.only_one")
            for number in range(version + 1, VERSION + 1):
                for name in migration(number):
                    self._make(name)
            self._connection.alone("schema.online", seconds=_ONLINE_SECONDS)
            self._connection.write(lambda tx: tx.run("schema.set_version", version=VERSION))

    def _make(self, name: str, width: int | None = None) -> None:
        """Make a constraint or index; another process may be making it at the same time."""
        for last in (False, False, True):
            try:
                self._connection.alone(name, width=width)
            except StoreError as error:
                code = str(getattr(error.__cause__, "code", ""))
                if code.endswith(_MADE_MEANWHILE):
                    return
                if last or not code.startswith("Neo.TransientError."):
                    raise
            else:
                return

    def _vector_indexes(self) -> set[int]:
        widths: dict[str, set[int]] = {"memories": set(), "cues": set()}
        for row in self._connection.alone("schema.vector_indexes"):
            kind, _, named = row["name"].removeprefix("helamem_").rpartition("_")
            if kind not in widths or not named.isdigit():
                continue
            if (row["label"], row["property"], row["width"]) != (f"{_LABELS[kind]}{named}", "embedding", int(named)):
                raise ForeignStore(
                    f"index {row['name']!r} of database {self._connection.address.database!r} is of {row['width']} "
                    f"numbers on :{row['label']}.{row['property']}, not of {named} on "
                    f":{_LABELS[kind]}{named}.embedding; drop it or name another database"
                )
            if row["state"] == "ONLINE":
                widths[kind].add(int(named))
        return widths["memories"] & widths["cues"]


def migration(number: int) -> list[str]:
    """Return the names of a migration's statements, in order."""
    folder = files("helamem_core.stores") / "migrations"
    (file,) = (
        item.name for item in folder.iterdir() if item.name.startswith(f"{number:04}") and ".cypher" in item.name
    )
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    return [f"{file.removesuffix('.cypher')}.{line[9:].strip()}" for line in lines if line.startswith("// name: ")]
