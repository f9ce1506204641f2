"""Every form of url and credentials."""

from __future__ import annotations

import re
from typing import Any

import pytest
from neo4j.exceptions import AuthConfigurationError, Neo4jError

from helamem_core.errors import InvalidInput, StoreBusy, StoreError, StoreUnavailable
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.neo4j.address import address
from helamem_core.stores.neo4j.failures import translated

NOTHING: dict[str, Any] = {"user": None, "password": None, "auth": None, "database": None}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "PASSWORD", "DATABASE"):
        monkeypatch.delenv(f"HELAMEM_NEO4J_{name}", raising=False)


@pytest.mark.parametrize(
    ("url", "bare", "auth", "database"),
    [
        ("bolt://host", "bolt://host", None, "neo4j"),
        ("BOLT://host:7688", "bolt://host:7688", None, "neo4j"),
        ("neo4j+s://me:pass%40word@host:7687/mine", "neo4j+s://host:7687", ("me", "pass@word"), "mine"),
        ("neo4j+ssc://me:p@host?database=mine", "neo4j+ssc://host", ("me", "p"), "mine"),
        ("neo4j://host/?policy=eu", "neo4j://host?policy=eu", None, "neo4j"),
        ("bolt+s://:secret@[::1]:7687", "bolt+s://[::1]:7687", ("neo4j", "secret"), "neo4j"),
        ("bolt+ssc://me@host", "bolt+ssc://host", ("me", ""), "neo4j"),
    ],
)
def test_urls(url: str, bare: str, auth: object, database: str) -> None:
    found = address(url, **NOTHING)
    assert (found.url, found.auth or None, found.database) == (bare, auth, database)
    assert "pass" not in repr(found)
    assert "secret" not in repr(found)


def test_arguments_win_over_the_url_and_the_url_over_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("USER", "env"), ("PASSWORD", "env-secret"), ("DATABASE", "env-db")):
        monkeypatch.setenv(f"HELAMEM_NEO4J_{name}", value)
    assert address("bolt://host", **NOTHING).auth == ("env", "env-secret")
    assert address("bolt://host", **NOTHING).database == "env-db"
    assert address("bolt://u:p@host/db", **NOTHING).auth == ("u", "p")
    found = address("bolt://u:p@host/db", user="arg", password="arg-secret", auth=None, database="arg-db")
    assert (found.auth, found.database) == (("arg", "arg-secret"), "arg-db")
    token = object()
    assert address("bolt://host", **NOTHING | {"auth": token}).auth is token


@pytest.mark.parametrize(
    "url",
    [
        *("bolt://", "bolt://:7687", "bolt://host/a/b", "bolt://host#x", "bolt://host:port", "bolt://a..b:7687"),
        *(
            "bolt://" + 64 * "a",
            "bolt://h\ud800st",
            "bolt://me:hu/sh@host",
            "bolt://me:hu?sh@host",
            "bolt://me:hu#sh@host",
        ),
        *("bolt://me:12/hush@host", "bolt://me:12?hush@host", "bolt://me:12#hush@host", "bolt://me:hu/s h'@host"),
    ],
)
def test_urls_that_lead_nowhere(url: str) -> None:
    with pytest.raises(InvalidInput, match="use neo4j://host:7687") as caught:
        address(url, **NOTHING)
    assert not re.search(r"hu\b|sh\b|12", str(caught.value))
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("what", ["user", "password", "database"])
def test_half_a_character_is_told(what: str) -> None:
    with pytest.raises(InvalidInput, match=rf"the {what} holds half a character"):
        address("bolt://host", **NOTHING | {"password": "p", what: "x\ud800"})


def test_the_servers_own_database_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'System' holds the server's own things"):
        address("bolt://host/System", **NOTHING)


def test_what_is_no_driver_and_no_auth_is_told() -> None:
    with pytest.raises(InvalidInput, match="driver is 'x'; it must be a"):
        Neo4jStore("bolt://host", driver="x")  # type: ignore[arg-type]
    with (
        pytest.raises(InvalidInput, match="`auth` is nothing that the driver takes") as caught,
        translated(address("bolt://host", **NOTHING)),
    ):
        raise AuthConfigurationError("Cannot determine auth details from 'hush'")
    assert "hush" not in str(caught.value)


def test_two_kinds_of_credentials_are_refused() -> None:
    with pytest.raises(InvalidInput, match="not both"):
        address("bolt://host", user="me", password="p", auth=("me", "p"), database=None)


def test_a_routing_context_for_one_server_is_told_without_the_password() -> None:
    with pytest.raises(InvalidInput, match="routing context") as caught:
        Neo4jStore("bolt://ann:hush@127.0.0.1:7687?password=hush")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        ("ClientError.Database.DatabaseNotFound", StoreUnavailable, "has no database 'mine'"),
        ("ClientError.Security.AuthenticationRateLimit", StoreUnavailable, "wait, and check it"),
        ("ClientError.Security.Unauthorized", StoreUnavailable, "check user and password"),
        ("TransientError.General.MemoryPoolOutOfMemoryError", StoreError, "ask for less at once"),
        ("TransientError.Transaction.DeadlockDetected", StoreBusy, "try again"),
        ("ClientError.Statement.SyntaxError", StoreError, "failed: what {it} said"),
    ],
)
def test_each_error_of_the_server_names_the_way_out(code: str, kind: type[Exception], told: str) -> None:
    error = Neo4jError._hydrate_neo4j(code=f"Neo.{code}", message="what {it} said")
    with pytest.raises(StoreError, match=re.escape(told)) as caught, translated(address("bolt://host/mine", **NOTHING)):
        raise error
    assert type(caught.value) is kind


@pytest.mark.parametrize("scheme", ["neo4j", "bolt"])
def test_a_name_without_an_address_is_told(scheme: str) -> None:
    """Fault: version 5 of the driver tells it as a ValueError."""
    with pytest.raises(StoreUnavailable, match=r"no Neo4j answers at .*nowhere\.invalid"):
        Neo4jStore(f"{scheme}://nowhere.invalid", retry_seconds=0)
