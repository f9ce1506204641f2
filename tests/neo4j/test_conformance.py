"""Neo4j keeps the promises of every engine, on both lines."""

from __future__ import annotations

import pytest

from helamem_core.local_neo4j import Server
from helamem_core.testing.conformance import Engine, StoreConformance
from tests.neo4j.wiping import opened, wipe


class TestNeo4j(StoreConformance):
    @pytest.fixture
    def engine(self, neo4j_server: Server) -> Engine:
        wipe(neo4j_server)
        return Engine(open=lambda: opened(neo4j_server), durable=True)
