"""A Neo4j Community server of one's own, run from Maven artifacts by the Java of this machine, without Docker.

For people who want to see the graph in Neo4j Browser, and for the tests. It listens on this machine only.
"""

from helamem_core.local_neo4j.lines import CALENDAR, LINES, LTS, Line, line
from helamem_core.local_neo4j.places import home_folder
from helamem_core.local_neo4j.server import Server

__all__ = ["CALENDAR", "LINES", "LTS", "Line", "Server", "home_folder", "line"]
