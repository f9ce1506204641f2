"""Statements are constant, say truly what they need and return, and run on the schema as it is."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from importlib.resources import files

import pytest

from helamem_core.stores import statements as package
from helamem_core.stores.sqlite import schema
from helamem_core.stores.statements import statements

NAME = "-- name:"
STEMS = sorted(entry.name.removesuffix(".sql") for entry in files(package).iterdir() if entry.name.endswith(".sql"))
BLOCKS = [(stem, name) for stem in STEMS for name in statements(stem)]


@pytest.fixture(scope="module")
def live() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.prepare(db, ":memory:", None)
    yield db
    db.close()


def header(stem: str, block: str) -> dict[str, list[str]]:
    """What a block's comments say: parameters and columns, without remarks in brackets."""
    text = files(package).joinpath(f"{stem}.sql").read_text(encoding="utf-8")
    lines = text.split(f"{NAME} {block}\n", 1)[1].splitlines()
    said = {}
    for line in lines:
        if not line.startswith("--") or line.startswith(NAME):
            break
        found = re.match(r"-- (parameters|columns): (.*)", line)
        if found:
            said[found[1]] = [part.strip() for part in re.sub(r"\(.*?\)", "", found[2]).split(",")]
    return said


def sample(name: str) -> object:
    return 0 if name in ("limit", "offset") else "[]"


def columns(db: sqlite3.Connection, statement: str, values: object) -> list[str]:
    cursor = db.execute(statement, values)  # type: ignore[arg-type]
    return [column[0] for column in cursor.description or ()]


@pytest.mark.parametrize(("stem", "block"), BLOCKS, ids=[f"{stem}:{block}" for stem, block in BLOCKS])
def test_the_header_is_true(live: sqlite3.Connection, stem: str, block: str) -> None:
    statement, said = statements(stem)[block], header(stem, block)
    named, asked = list(dict.fromkeys(re.findall(r":(\w+)", statement))), said.get("parameters", [])
    if "?" in statement:
        assert not named
        assert asked[0].startswith("in the order of") or len(asked) == statement.count("?")
    else:
        assert sorted(named) == sorted(asked)
    if stem == "connection":
        return
    values: object = [1] * statement.count("?") if "?" in statement else {name: sample(name) for name in named}
    live.execute(f"EXPLAIN {statement}", values)  # type: ignore[arg-type]
    if statement.startswith(("SELECT", "WITH")):
        assert columns(live, statement, values) == said["columns"]
    else:
        assert "columns" not in said


def test_no_block_is_named_twice() -> None:
    for stem in STEMS:
        text = files(package).joinpath(f"{stem}.sql").read_text(encoding="utf-8")
        names = re.findall(rf"^{NAME} (\w+)$", text, flags=re.MULTILINE)
        assert sorted(names) == sorted(set(names)) == sorted(statements(stem)), stem


def test_lists_and_user_text_are_parameters() -> None:
    for stem, block in BLOCKS:
        assert not re.search(r"[{%]", statements(stem)[block]), f"{stem}:{block}"


SPACE_WIDE = {"forget:count_notes", "forget:drop_notes", "reinforce:count_cues", "reinforce:oldest_cue"}


@pytest.mark.parametrize("stem", ["archive", "forget", "neighbours", "recall", "reinforce", "remember", "update"])
def test_what_concerns_a_few_memories_walks_no_space(live: sqlite3.Connection, stem: str) -> None:
    for block, statement in statements(stem).items():
        if "?" in statement or f"{stem}:{block}" in SPACE_WIDE:
            continue
        values = {name: sample(name) for name in re.findall(r":(\w+)", statement)}
        plan = [row[3] for row in live.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
        walks = [step for step in plan if step.endswith("(space=?)") or re.match(r"SCAN (?!.*VIRTUAL|CONSTANT)", step)]
        assert not walks, f"{stem}:{block}: {plan}"
