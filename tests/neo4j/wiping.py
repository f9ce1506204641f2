"""A store on a database that holds nothing: the suites use fixed names of spaces, and ask which spaces there are."""

from __future__ import annotations

from typing import Any

from neo4j import GraphDatabase

from helamem_core.local_neo4j import Server
from helamem_core.stores.neo4j import Neo4jStore

WIPE = "MATCH (n) WHERE NOT n:HelaMem CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS"


def opened(server: Server, **options: Any) -> Neo4jStore:
    """Open the store of a server as a user would."""
    return Neo4jStore(server.bolt_url, user=server.user, password=server.password, **options)


def wipe(server: Server) -> None:
    """Empty the database."""
    auth = None if server.password is None else (server.user or "neo4j", server.password)
    with GraphDatabase.driver(server.bolt_url, auth=auth) as driver, driver.session(database="neo4j") as session:
        session.run(WIPE).consume()


def emptied(server: Server, **options: Any) -> Neo4jStore:
    """Empty the database and open its store."""
    wipe(server)
    return opened(server, **options)
