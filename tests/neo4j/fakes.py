"""Commands that stand in for Java and Maven."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helamem_core.local_neo4j import LINES, java


def script(path: Path, *lines: str) -> Path:
    """Write a shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    path.chmod(0o755)
    return path


def fake_java(home: Path, version: str, *then: str, jdk: bool = True) -> Path:
    """Make a Java home whose `java` tells a version, and does something else when it is to run a program."""
    told = f'echo "openjdk version \\"{version}\\" 2025-01-01" >&2'
    if jdk:
        script(home / "bin" / "javac")
    return script(home / "bin" / "java", f'if [ "$1" = -version ]; then {told}; exit 0; fi', *then)


def fake_maven(folder: Path, *then: str) -> Path:
    """Make a Maven home whose `mvn` counts its calls in `calls`, knows where to put jars as `$lib`, and goes on."""
    finding = 'for word in "$@"; do case "$word" in -DoutputDirectory=*) lib="${word#*=}";; esac; done'
    version = 'for word in "$@"; do case "$word" in -Dneo4j.version=*) version="${word#*=}";; esac; done'
    return script(folder / "bin" / "mvn", f'echo "$@" >> {folder}/calls', finding, version, *then)


FETCHES = ('mkdir -p "$lib"', 'touch "$lib/neo4j-$version.jar"')


def calls(maven_home: Path) -> list[str]:
    """Return the arguments of each call of a fake Maven."""
    file = maven_home / "calls"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def bare_machine(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make this a machine without Java and Maven, whose cache is empty."""
    monkeypatch.setattr(java, "_FOLDERS", ())
    for name in ("JAVA_HOME", "HELAMEM_JAVA", "MAVEN_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HELAMEM_CACHE", str(folder / "cache"))
    tools = folder / "tools"  # what the scripts call
    tools.mkdir()
    for name in ("sh", "mkdir", "touch", "sleep", "cat"):
        found = next(path for place in os.defpath.split(os.pathsep) if (path := Path(place or ".", name)).exists())
        (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))


def jars_are_there(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Make a cache that looks as if it had the jars of all lines."""
    monkeypatch.setenv("HELAMEM_CACHE", str(cache))
    for line in LINES:
        (cache / "neo4j" / line.version / "lib").mkdir(parents=True)
