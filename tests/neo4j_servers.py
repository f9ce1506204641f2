"""Neo4j servers for the tests: both lines, from Maven artifacts, with data that live as long as the tests.

`HELAMEM_SKIP_NEO4J=1` skips the tests that need one, where there is no Java or Maven. In the CI nothing is skipped.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from helamem_core.errors import MissingExtra, StoreError
from helamem_core.local_neo4j import LTS, Line, Server, java
from helamem_core.local_neo4j.artifacts import jars

SKIP = "HELAMEM_SKIP_NEO4J"
# Tests fill and empty a database a thousand times, and each time its plans would be made anew.
# Several of them try wrong passwords, three of which in a row would lock out the next one.
SETTINGS = (
    "dbms.cypher.min_replan_interval=1h",
    "dbms.cypher.statistics_divergence_threshold=1.0",
    "dbms.security.auth_max_failed_attempts=0",
)
# A third less work for a Java that lives for one test only.
SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


class StartServer(Protocol):
    """Starts a server that no other test has; it may be stopped and killed at will."""

    def __call__(self, line: Line = LTS, *, auth: bool = True) -> Server: ...


def skip_if_asked() -> None:
    """Skip the test if the environment asks for it, but never in the CI."""
    in_ci = os.environ.get("CI") and os.environ.get("HELAMEM_REQUIRE_DATA")
    if os.environ.get(SKIP) == "1" and not in_ci:
        pytest.skip(f"needs a Neo4j; {SKIP}=1 is set")


@contextmanager
def failing_clearly() -> Iterator[None]:
    """Turn the lack of Java, Maven or the driver into a failure that says how to test without them."""
    try:
        yield
    except (StoreError, MissingExtra) as error:
        pytest.fail(f"no Neo4j for the tests: {error}\nTo skip the tests that need one: {SKIP}=1", pytrace=False)


def require(*lines: Line) -> None:
    """Hold that servers of these lines can be started here; their jars are fetched."""
    skip_if_asked()
    with failing_clearly():
        for line in lines:
            jars(line, java.find(line))


@contextmanager
def serving(home: Path, line: Line, *, auth: bool, heap: str = "1g", page_cache: str = "512m") -> Iterator[Server]:
    """Run a server on free ports; its data go with it, its logs stay."""
    skip_if_asked()
    line = replace(line, settings=line.settings + SETTINGS)
    server = Server(home, line, bolt_port=0, http_port=0, auth=auth, heap=heap, page_cache=page_cache)
    try:
        with failing_clearly():
            server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(home / "data", ignore_errors=True)
