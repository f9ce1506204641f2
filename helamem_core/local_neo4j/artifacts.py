"""Fetches the jars of Neo4j with Maven, once a version, into the cache folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Final

from helamem_core.errors import StoreUnavailable
from helamem_core.local_neo4j.java import Java
from helamem_core.local_neo4j.lines import Line
from helamem_core.local_neo4j.places import cache_folder, locked, made
from helamem_core.urls import redacted

_PATIENCE: Final = 1800.0  # seconds for some 170 MB over a slow network
_LONGEST: Final = 600  # characters of Maven's own words in a message
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*m")

Say = Callable[[str], None]


def unheard(_: str) -> None:
    """Tell nobody."""


def jars(line: Line, java: Java, say: Say = unheard) -> Path:
    """Return the folder of a line's jars, fetched first if this machine lacks them.

    Whole or not at all, also if it is killed; of two processes at once one fetches and the other waits.

    Args:
        line: which Neo4j.
        java: what Maven runs on if it finds no Java by itself.
        say: is told that something is being fetched.

    Raises:
        StoreUnavailable: there is no Maven, or it fails; the message has its words.
        StoreBusy: another process has been fetching for half an hour.
    """
    kept = made(cache_folder() / "neo4j")
    folder = kept / line.version
    if not folder.exists():
        with locked(kept / f".{line.version}.lock", _PATIENCE, "fetching the jars of Neo4j"):
            if not folder.exists():
                say(f"fetching Neo4j {line.version} with Maven into {folder} (some 150 MB, once)")
                _fetch(line, java, folder)
    return folder / "lib"


def _fetch(line: Line, java: Java, folder: Path) -> None:
    maven = _maven(line)
    for left in folder.parent.glob(f".{line.version}-*"):  # of a run that was killed; the lock is ours
        shutil.rmtree(left, ignore_errors=True)
    part = Path(tempfile.mkdtemp(prefix=f".{line.version}-", dir=folder.parent))
    try:
        (part / "pom.xml").write_bytes((files("helamem_core.local_neo4j") / "pom.xml").read_bytes())
        _copy_dependencies(maven, line, java, part)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _maven(line: Line) -> str:
    home = os.environ.get("MAVEN_HOME", "")
    found = (shutil.which("mvn", path=str(Path(home, "bin"))) if home else None) or shutil.which("mvn")
    if found:
        return found
    raise StoreUnavailable(
        f"the jars of Neo4j {line.version} are not here yet, and fetching them needs Maven: no `mvn` in PATH or "
        "MAVEN_HOME. Ways out: install Maven; run Neo4j in Docker (`docker compose up`, see docker-compose.yml); "
        "or stay with the embedded store, which needs no server (HELAMEM_URL=sqlite:///helamem.db)"
    )


def _copy_dependencies(maven: str, line: Line, java: Java, part: Path) -> None:
    command = [maven, "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
    command += [f"-DoutputDirectory={part / 'lib'}", f"-Dneo4j.version={line.version}"]
    try:
        ended = subprocess.run(
            command,
            cwd=part,
            env=_environment(java),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreUnavailable(f"Maven ({maven}) did not fetch Neo4j {line.version}: {error}") from error
    told = ended.stdout.decode(errors="replace")
    if ended.returncode or not (part / "lib" / f"neo4j-{line.version}.jar").exists():
        raise StoreUnavailable(
            f"Maven ({maven}, exit code {ended.returncode}) did not fetch Neo4j {line.version}: {_brief(told)}"
        )


def _environment(java: Java) -> dict[str, str]:
    """Return Maven's environment: it has a Java even if only we know where one is."""
    own = dict(os.environ)
    if not own.get("JAVA_HOME") and not shutil.which("java"):
        own["JAVA_HOME"] = str(java.path.resolve().parents[1])
    return own


def _brief(told: str) -> str:
    """Return the first of Maven's errors: what follows explains Maven, not the failure."""
    lines = [line.strip() for line in _ANSI.sub("", told).splitlines()]
    errors = [text for line in lines if (text := line.removeprefix("[ERROR]").strip()) and line.startswith("[ERROR]")]
    words = errors[0] if errors else " ".join(filter(None, lines))
    return redacted(words.removesuffix("-> [Help 1]").strip()[:_LONGEST]) or "it said nothing"
