"""Every form of url and credentials."""

from __future__ import annotations

from typing import Any

import pytest

from helamem_core.errors import InvalidInput
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.neo4j.address import address

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


@pytest.mark.parametrize("url", ["bolt://", "bolt://:7687", "bolt://host/a/b", "bolt://host#x", "bolt://host:port"])
def test_urls_that_lead_nowhere(url: str) -> None:
    with pytest.raises(InvalidInput, match="use neo4j://host:7687"):
        address(url, **NOTHING)


def test_two_kinds_of_credentials_are_refused() -> None:
    with pytest.raises(InvalidInput, match="not both"):
        address("bolt://host", user="me", password="p", auth=("me", "p"), database=None)


def test_what_the_driver_refuses_is_told_without_the_password() -> None:
    with pytest.raises(InvalidInput, match="Routing context") as caught:
        Neo4jStore("bolt://ann:hush@127.0.0.1:7687?password=hush")
    assert "hush" not in str(caught.value)
