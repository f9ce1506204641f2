"""Statements are constant text in files, and every one that is run is known to both lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib.resources import files
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

import helamem_core
from helamem_core.config import DEFAULT
from helamem_core.local_neo4j import Server
from helamem_core.stores import statements as package
from helamem_core.stores.statements import CALENDAR, cypher
from helamem_core.testing.fakes import DIMENSION, MODEL, axis, node
from tests.neo4j.wiping import opened

FOLDER = files(package)
FILES = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".cypher"))
NOT_EXPLAINED = ("SHOW", "CREATE CONSTRAINT", "CREATE INDEX", "CREATE VECTOR", "CREATE FULLTEXT")
SCANS = ("AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "IntersectionNodeByLabelsScan")
OVER_ALL_SPACES = ("check", "schema", "spaces.names")


def headers() -> dict[str, str]:
    """The comments of each whole statement, `<stem>.<block>`; what is part of others names its scope."""
    found: dict[str, str] = {}
    for file in FILES:
        for block in re.split(r"(?m)^// name: ", FOLDER.joinpath(file).read_text(encoding="utf-8"))[1:]:
            name, *lines = block.splitlines()
            header = "\n".join(takewhile(lambda line: line.startswith("//"), lines))
            if "// scope:" not in header:
                found.setdefault(f"{file.split('.')[0]}.{name}", header)
    return found


HEADERS = headers()


def declared(name: str) -> set[str]:
    """The parameters that the comments tell of."""
    _, _, told = HEADERS[name].partition("// parameters:")
    told = told.partition("// columns:")[0].replace("//", "")
    while "(" in told:
        told = re.sub(r"\([^()]*\)", "", told)
    return {word.strip() for word in told.split(",") if word.strip()}


def operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield str(plan["operatorType"]).partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


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


def python() -> str:
    """The sources that run statements."""
    sources = Path(str(files(helamem_core)))
    names = [*(sources / "stores" / "neo4j").glob("*.py"), sources / "evals" / "bare_neo4j.py"]
    return "\n".join(name.read_text(encoding="utf-8") for name in names)


def test_every_statement_is_run_and_no_other() -> None:
    source = python()
    made = re.findall(r'f"(\w+\.\w*)\{\w+\}"', source)  # a name that is put together begins like this
    unused = {name for name in HEADERS if f'"{name}"' not in source and not name.startswith(tuple(made))}
    stems = {name.split(".")[0] for name in HEADERS}
    named = {name for name in re.findall(r'"(\w+\.\w+)"', source) if name.split(".")[0] in stems}
    assert unused == set()
    assert named - {*HEADERS} == set()


@pytest.mark.parametrize("name", HEADERS)
def test_both_lines_understand_it(driver: Driver, version: str, name: str) -> None:
    """Its parameters are those that it tells of, and it scans no label over all spaces."""
    text = cypher(*name.split("."), version, DIMENSION)
    prefix, body = text.split("\n", 1)
    assert "include:" not in text
    assert set(re.findall(r"\$(\w+)", body)) == declared(name)
    if body.startswith(NOT_EXPLAINED):
        return
    plan = driver.execute_query(f"{prefix} EXPLAIN {body}", database_="neo4j").summary.plan
    assert plan is not None
    if not name.startswith(OVER_ALL_SPACES):
        assert {*operators(plan)} & {*SCANS} == set()


def test_a_statement_has_no_gap_for_user_text() -> None:
    for file in FILES:
        assert not re.search(r"%s|\{\}|\{(?!width\})\w+\}", FOLDER.joinpath(file).read_text(encoding="utf-8")), file
