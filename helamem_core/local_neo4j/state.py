"""What is known of a running server, in a file that other processes read."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class State:
    """A server that was started.

    Attributes:
        pid: its process.
        line: name of its line of Neo4j.
        version: its release.
        java: the `java` command that runs it.
        bolt_port: where drivers reach it.
        http_port: where Neo4j Browser is.
        auth: whether it asks for a password.
        heap: memory of its Java, such as `1g`.
        page_cache: memory for pages of the store, such as `512m`.
    """

    pid: int
    line: str
    version: str
    java: str
    bolt_port: int
    http_port: int
    auth: bool
    heap: str
    page_cache: str

    def write(self, path: Path) -> None:
        """Put it into a file, whole or not at all."""
        part = path.with_name(f".{path.name}.{os.getpid()}")
        part.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        part.replace(path)

    @classmethod
    def read(cls, path: Path) -> State | None:
        """Return what a file holds, None if there is none or it is not from here."""
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
