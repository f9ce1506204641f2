"""Statements are constant text in files, and every one that is run is known to both lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from neo4j import Driver, GraphDatabase

import helamem_core
from helamem_core.config import DEFAULT
from helamem_core.local_neo4j import Server
from helamem_core.stores import statements as package
from helamem_core.stores.statements import CALENDAR, cypher
from helamem_core.testing.fakes import DIMENSION, MODEL, axis, node
from tests.neo4j.wiping import opened

SOURCES = Path(str(files(helamem_core)))
NAMED = re.compile(r'"((?:\w+)\.(?:\w+))"')
STEMS = {entry.name.split(".")[0] for entry in files(package).iterdir() if entry.name.endswith(".cypher")}
EXPLAINED = ("SHOW", "CREATE CONSTRAINT", "CREATE INDEX", "CREATE VECTOR", "CREATE FULLTEXT")


def run_by_python() -> list[str]:
    """Names of statements as the sources say them."""
    python = [*(SOURCES / "stores" / "neo4j").glob("*.py"), SOURCES / "evals" / "bare_neo4j.py"]
    named = {name for file in python for name in NAMED.findall(file.read_text(encoding="utf-8"))}
    return sorted(name for name in named if name.split(".")[0] in STEMS)


@pytest.fixture(scope="module")
def driver(neo4j_server: Server) -> Iterator[Driver]:
    with closing(opened(neo4j_server)) as store:
        store.remember("widths", [node("wide", vector=axis(0))], embedder=MODEL, config=DEFAULT)  # makes the indexes
        store.drop_space("widths")
    with GraphDatabase.driver(neo4j_server.bolt_url, auth=neo4j_server.auth) as made:
        yield made


@pytest.fixture(scope="module")
def version(driver: Driver) -> str:
    rows = driver.execute_query(cypher("schema", "server"), database_="neo4j").records
    return CALENDAR if str(rows[0]["version"]).startswith("20") else "5"


def test_the_sources_name_statements() -> None:
    assert {"recall.recall", "reinforce.reinforce", "remember.create"} <= {*run_by_python()}
    assert len(run_by_python()) > 40


@pytest.mark.parametrize("name", run_by_python())
def test_both_lines_understand_it(driver: Driver, version: str, name: str) -> None:
    stem, _, block = name.partition(".")
    text = cypher(stem, block, version, DIMENSION)
    assert "include:" not in text
    prefix, body = text.split("\n", 1)
    if body.startswith(EXPLAINED):
        return
    driver.execute_query(f"{prefix} EXPLAIN {body}", database_="neo4j")


def test_a_statement_has_no_gap_for_user_text() -> None:
    for stem in STEMS:
        for file in files(package).iterdir():
            if file.name.startswith(f"{stem}.") and file.name.endswith(".cypher"):
                assert not re.search(r"%s|\{\}|\{(?!width\})\w+\}", file.read_text(encoding="utf-8")), file.name
