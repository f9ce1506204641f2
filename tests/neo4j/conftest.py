"""What the tests of this engine share: a store on each line's server, and a space of the test's own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing

import pytest

from helamem_core.local_neo4j import Server
from helamem_core.stores.neo4j import Neo4jStore
from tests.neo4j.wiping import opened


@pytest.fixture
def store(neo4j_server: Server) -> Iterator[Neo4jStore]:
    """A store on the server of one line."""
    with closing(opened(neo4j_server)) as store:
        yield store


@pytest.fixture
def space(store: Neo4jStore) -> Iterator[str]:
    """The name of a space that is gone afterwards."""
    name = f"test {uuid.uuid4().hex}"
    yield name
    store.drop_space(name)
