"""The lines of Neo4j that can be run here, and the Java that each needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from helamem_core.errors import InvalidInput
from helamem_core.showing import shown


@dataclass(frozen=True, slots=True)
class Line:
    """One line of Neo4j releases.

    Attributes:
        name: what users call it.
        alias: another name of it.
        version: the release that is run.
        javas: feature releases of Java that it runs on.
        newer_javas: whether it also runs on any Java newer than those.
        compiles: whether its launcher is a source file, so that the Java must be a JDK.
        settings: what only its `neo4j.conf` knows.
    """

    name: str
    alias: str
    version: str
    javas: tuple[int, ...]
    newer_javas: bool
    compiles: bool
    settings: tuple[str, ...]

    def runs_on(self, java: int) -> bool:
        """Return whether it runs on a feature release of Java."""
        return java in self.javas or (self.newer_javas and java > max(self.javas))

    @property
    def needs(self) -> str:
        """The Java it needs, in words."""
        releases = " or ".join(map(str, self.javas))
        return f"Java {releases}{' or newer' if self.newer_javas else ''}{' (a JDK)' if self.compiles else ''}"


# Without the first setting of each, a stop waits ten seconds for new connections.
LTS: Final = Line(
    "5.26",
    "lts",
    "5.26.28",
    javas=(17, 21),
    newer_javas=False,
    compiles=False,
    settings=("internal.dbms.bolt.netty_server_shutdown_quiet_period=0",),
)
CALENDAR: Final = Line(
    "2026.09",
    "calendar",
    "2026.09.0",
    javas=(21,),
    newer_javas=True,
    compiles=True,
    settings=(
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration=0s",
        # It would tell the local network of itself.
        "server.fleet_discovery.enabled=false",
        "dbms.fleet_manager.enabled=false",
        "server.http.x_forward.enabled=false",
    ),
)
LINES: Final = (LTS, CALENDAR)


def line(name: str) -> Line:
    """Return a line by its name, its alias or the version that is run.

    Raises:
        InvalidInput: there is no such line.
    """
    for known in LINES:
        if name in (known.name, known.alias, known.version):
            return known
    names = ", ".join(f"{known.name} ({known.alias})" for known in LINES)
    raise InvalidInput(f"no line of Neo4j is called {shown(name)}; there are: {names}")
