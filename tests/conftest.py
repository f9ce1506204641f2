"""What every test can ask for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from helamem_core.local_neo4j import CALENDAR, LTS, Line, Server
from tests.neo4j_servers import SHORT_LIVED, StartServer, serving

# No deadline: a busy machine is no failure. In the CI the examples are the same in each run.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the public data sets; without it the test is skipped, or fails where data is required."""
    folder = os.environ.get("HELAMEM_DATA", "")
    if folder and Path(folder).is_dir():
        return Path(folder)
    told = f"HELAMEM_DATA names no folder: {folder!r}"
    if os.environ.get("HELAMEM_REQUIRE_DATA"):
        pytest.fail(told)
    pytest.skip(told)


@pytest.fixture(scope="session")
def server_5_26(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Neo4j of the LTS line that asks for a password, one for all tests: each works in spaces of its own."""
    with serving(tmp_path_factory.mktemp("neo4j-5.26"), LTS, auth=True) as server:
        yield server


@pytest.fixture(scope="session")
def server_2026_09(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Neo4j of the calendar line without authentication, one for all tests: each works in spaces of its own."""
    with serving(tmp_path_factory.mktemp("neo4j-2026.09"), CALENDAR, auth=False) as server:
        yield server


@pytest.fixture(scope="session", params=["5.26", "2026.09"])
def neo4j_server(request: pytest.FixtureRequest) -> Server:
    """A Neo4j of each line in turn; both run until the end of the tests."""
    server: Server = request.getfixturevalue(f"server_{request.param.replace('.', '_')}")
    return server


@pytest.fixture(scope="module")
def start_neo4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """A function that starts a small Neo4j for this file alone, whose tests may stop, kill and start it again."""
    with pytest.MonkeyPatch.context() as environment, ExitStack() as servers:
        for name, options in SHORT_LIVED.items():
            environment.setenv(name, options)

        def start(line: Line = LTS, *, auth: bool = True) -> Server:
            home = tmp_path_factory.mktemp("neo4j-own")
            return servers.enter_context(serving(home, line, auth=auth, heap="512m", page_cache="64m"))

        yield start
