"""Finds a Java that a line of Neo4j runs on, or says what there is and what to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from helamem_core.errors import StoreUnavailable
from helamem_core.local_neo4j.lines import Line

_VERSION: Final = re.compile(r'version "(?:1\.)?(\d+)')  # Java 8 called itself 1.8
_PATIENCE: Final = 20  # seconds until a Java must have told its version
_FOLDERS: Final = (
    ("/usr/lib/jvm", "*"),
    ("/usr/java", "*"),
    ("/opt/java", "*"),
    ("/Library/Java/JavaVirtualMachines", "*/Contents/Home"),
    ("/opt/homebrew/opt", "openjdk*"),
    ("/usr/local/opt", "openjdk*"),
    ("~/Library/Java/JavaVirtualMachines", "*/Contents/Home"),
    ("~/.sdkman/candidates/java", "*"),
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java of this machine.

    Attributes:
        path: its `java` command.
        version: its feature release, such as 21; None if it does not answer.
        compiles: whether it is a JDK: only that runs a launcher from its source.
    """

    path: Path
    version: int | None
    compiles: bool

    def runs(self, line: Line) -> bool:
        """Return whether a line of Neo4j runs on it."""
        return self.version is not None and line.runs_on(self.version) and (self.compiles or not line.compiles)

    def __str__(self) -> str:
        """Return what it is, for a message."""
        if self.version is None:
            return f"{self.path} (does not answer `java -version`)"
        return f"Java {self.version} at {self.path}{'' if self.compiles else ' (a JRE, no JDK)'}"


def find(line: Line) -> Java:
    """Return the first Java that a line runs on.

    `HELAMEM_JAVA` (a `java` command or a Java home) is the only one looked at when it is set; otherwise `JAVA_HOME`,
    then `PATH`, then the folders where systems install Java.

    Raises:
        StoreUnavailable: there is none; the message says what was found and the ways out.
    """
    found = []
    for path in candidates():
        java = ask(path)
        if java.runs(line):
            return java
        found.append(java)
    raise StoreUnavailable(_explained(line, found))


def candidates() -> Iterator[Path]:
    """Yield the `java` commands of this machine, each once, in the order in which they are tried."""
    chosen = os.environ.get("HELAMEM_JAVA")
    seen = set()
    for path in [_command(Path(chosen).expanduser())] if chosen else _everywhere():
        if (real := path.resolve()) not in seen and (chosen or os.access(path, os.X_OK)):
            seen.add(real)
            yield path


def _everywhere() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield _command(Path(home))
    if on_path := shutil.which("java"):
        yield Path(on_path)
    for folder, homes in _FOLDERS:
        yield from map(_command, sorted(Path(folder).expanduser().glob(homes)))


def _command(path: Path) -> Path:
    """Return the command of a Java home; a command is returned as it is."""
    return path / "bin" / "java" if path.is_dir() else path


def ask(path: Path) -> Java:
    """Ask a `java` command what it is."""
    try:
        told = subprocess.run(
            [path, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
            check=True,
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return Java(path, None, compiles=False)
    version = _VERSION.search(told)
    return Java(path.absolute(), int(version[1]) if version else None, compiles=_has_compiler(path))


def _has_compiler(path: Path) -> bool:
    return any((command.parent / "javac").exists() for command in (path, path.resolve()))


def _explained(line: Line, found: list[Java]) -> str:
    only = "HELAMEM_JAVA names " if os.environ.get("HELAMEM_JAVA") else "found: "
    has = only + "; ".join(map(str, found)) if found else "found no Java"
    return (
        f"Neo4j {line.name} needs {line.needs}; {has}. Ways out: install one; name one with "
        "HELAMEM_JAVA=/path/to/java; run Neo4j in Docker (`docker compose up`, see docker-compose.yml); or stay with "
        "the embedded store, which needs no server (HELAMEM_URL=sqlite:///helamem.db)"
    )
