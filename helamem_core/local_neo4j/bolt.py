"""Asks a local server over Bolt whether it is ready, and gives a new one its password."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from helamem_core.errors import MissingExtra

if TYPE_CHECKING:
    import neo4j

USER: Final = "neo4j"
_NEW: Final = "neo4j"  # the password of a server that was never given one
_PAUSE: Final = 0.1  # seconds between two tries
_PATIENCE: Final = 5.0  # seconds for an answer of a server that is up
_FIRST: Final = 30.0  # seconds for one of the first answers: the server's Java is still cold


class Answer(Enum):
    """What a server said."""

    ready = "it answered a query"
    refused = "it refuses the password"
    nothing = "it does not answer"


def require_driver() -> None:
    """Hold that the driver is installed.

    Raises:
        MissingExtra: it is not.
    """
    _driver()


def _driver() -> Any:
    try:
        import neo4j
    except ImportError as error:
        raise MissingExtra("a local Neo4j", "neo4j") from error
    return neo4j


def ask(url: str, password: str | None, seconds: float = _PATIENCE) -> Answer:
    """Ask a server for the answer to a query.

    Args:
        url: where it is.
        password: None for a server without authentication.
        seconds: how long it may take.
    """
    errors = _driver().exceptions
    try:
        with _connected(url, password, seconds) as driver, driver.session(database="neo4j") as session:
            session.run(_statement("ready", seconds)).consume()
    except errors.AuthError:
        return Answer.refused
    except (errors.Neo4jError, errors.DriverError, OSError):
        return Answer.nothing
    return Answer.ready


def wait(url: str, password: str | None, seconds: float, lives: Callable[[], bool]) -> Answer:
    """Ask a server again and again until it answers, its process ends or time is up; a new one gets its password.

    Args:
        url: where it is.
        password: None for a server without authentication.
        seconds: until when.
        lives: says whether its process runs.
    """
    deadline = time.monotonic() + seconds
    while lives():
        answer = ask(url, password, _FIRST)
        if answer is Answer.refused and password and _give_password(url, password) is not Answer.refused:
            answer = Answer.nothing
        if answer is not Answer.nothing or time.monotonic() > deadline:
            return answer
        time.sleep(_PAUSE)
    return Answer.nothing


def _give_password(url: str, password: str) -> Answer:
    """Give a new server its password; one that has another already refuses."""
    errors = _driver().exceptions
    try:
        with _connected(url, _NEW, _FIRST) as driver, driver.session(database="system") as session:
            session.run(_statement("set_password", _FIRST), {"old": _NEW, "new": password}).consume()
    except errors.AuthError:
        return Answer.refused
    except (errors.Neo4jError, errors.DriverError, OSError):
        return Answer.nothing
    return Answer.ready


def _connected(url: str, password: str | None, seconds: float) -> neo4j.Driver:
    auth = None if password is None else (USER, password)
    driver: neo4j.Driver = _driver().GraphDatabase.driver(
        url, auth=auth, connection_timeout=seconds, connection_acquisition_timeout=seconds
    )
    return driver


def _statement(name: str, seconds: float) -> Any:
    text = (files("helamem_core.local_neo4j") / f"{name}.cypher").read_text(encoding="utf-8")
    return _driver().Query(text, timeout=seconds)
