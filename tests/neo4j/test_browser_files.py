"""The files for Neo4j Browser: saved queries that tell the truth about one space, a style for every node, a guide."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import pytest

from helamem_core import DEFAULT, Memory, StoreUnavailable, Turn, neo4j_browser
from helamem_core.embedders.hashing import DIMENSION
from helamem_core.local_neo4j import CALENDAR, Server
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.neo4j.recall import fading
from helamem_core.testing.fakes import FakeClock
from tests.neo4j.talk import held

SETTINGS, *TITLES = neo4j_browser.queries()
OWN, OTHER = "browser-own", "browser-other"
WIDTHS = {DIMENSION, 384, 512, 768, 1024, 1536, 3072}  # of models that people use
SHORT = 60  # characters of a text in a table of links


@pytest.fixture(scope="module")
def memory(neo4j_server: Server) -> Iterator[Memory]:
    """A space beside another one that holds the same words; its own name is in some of its memories and cues."""
    with closing(Neo4jStore(neo4j_server.bolt_url, auth=neo4j_server.auth)) as store:
        other, own = (filled(store, name) for name in (OTHER, OWN))
        other.close()
        yield own


def filled(store: Neo4jStore, space: str) -> Memory:
    memory = held(store, space, FakeClock())
    memory.remember([Turn(f"The tea of {space}.", session="fri", id=f"tea-{number}") for number in (1, 2)])
    memory.reinforce(["tea-1", "m8"], cue=f"Is there tea in {space}?")
    memory.reinforce(["m8"])
    memory.archive(["tea-2"])
    return memory


def rows(server: Server, title: str, version: str = "", **parameters: Any) -> list[dict[str, Any]]:
    """The rows of a saved query as the driver gives them."""
    text = version + neo4j_browser.queries()[title]
    settings = {"space": OWN, "about": "tea", "c": fading(DEFAULT)} | parameters
    with neo4j.GraphDatabase.driver(server.bolt_url, auth=server.auth) as driver:
        found = driver.execute_query(text, settings, database_="neo4j", routing_=neo4j.RoutingControl.READ)
    assert found.summary.query_type == "r"
    return [dict(record) for record in found.records]


@pytest.mark.parametrize("title", TITLES)
def test_a_query_reads_one_space(neo4j_server: Server, memory: Memory, title: str) -> None:
    versions = ["CYPHER 5\n", "CYPHER 25\n"] if neo4j_server.line is CALENDAR else ["CYPHER 5\n"]
    answers = [str(rows(neo4j_server, title, version)) for version in ["", *versions]]
    assert all(OWN in answer and OTHER not in answer for answer in answers)
    assert rows(neo4j_server, title, space="nobody's") == []


def test_tables_show_the_weights_that_the_memory_goes_by(neo4j_server: Server, memory: Memory) -> None:
    weights = {
        (link.kind, frozenset([episode.text[:SHORT], link.text[:SHORT]])): link.weight
        for episode in memory.list()
        for link in memory.neighbours(episode.id)
    }
    grown = rows(neo4j_server, "8 How did this link grow?", about="")
    learned = {key: weight for key, weight in weights.items() if key[0] in ("ASSOCIATED", "CUED")}
    shown = {(row["kind"], frozenset([row["from"], row["to"]])): row["weight now"] for row in grown}
    assert shown == pytest.approx(learned, abs=0.00051)
    assert any(row["weight now"] < row["weight then"] for row in grown)
    strongest = rows(neo4j_server, "4 Strongest associations")
    associated = {ends: weight for (kind, ends), weight in weights.items() if kind == "ASSOCIATED"}
    ranked = {frozenset([row["memory"], row["goes with"]]): row["weight"] for row in strongest}
    assert ranked == pytest.approx(associated, abs=0.0051)
    assert [row["weight"] for row in strongest] == sorted((row["weight"] for row in strongest), reverse=True)


def test_a_dead_link_is_shown_as_dead_and_nowhere_else(neo4j_server: Server, memory: Memory) -> None:
    strict = fading(replace(DEFAULT, plasticity=replace(DEFAULT.plasticity, decay=0.5, floor=0.14)))
    faded = rows(neo4j_server, "5 What faded?", c=strict)
    assert {row["link"] for row in faded} == {"alive", "dead"}
    assert [row["now"] for row in faded if row["link"] == "dead"] == [row["now"] for row in faded if row["now"] < 0.14]
    for title in ("1 Overview", "2 What do you know?"):
        drawn = [link for row in rows(neo4j_server, title, c=strict) for link in row["links"]]
        every = [link for row in rows(neo4j_server, title) for link in row["links"]]
        assert 0 < len(drawn) < len(every)


def test_words_are_found_whatever_their_case_in_both_languages(neo4j_server: Server, memory: Memory) -> None:
    title = "3 The same in words"
    assert [row["memory"] for row in rows(neo4j_server, title, about=" TEA hangzhou")] == [
        "I've given up coffee; I drink green tea from Hangzhou now."
    ]
    assert len(rows(neo4j_server, title, about="花生")) == 3
    assert rows(neo4j_server, title, about="100% .*") == []


def test_the_first_query_sets_the_parameters_of_the_others() -> None:
    text = neo4j_browser.queries()[SETTINGS]
    used = {name for title in TITLES for name in re.findall(r"\$(\w+)", neo4j_browser.queries()[title])}
    assert set(re.findall(r"^  (\w+):", text, flags=re.MULTILINE)) == used
    constants = dict(re.findall(r"(clock|decay|floor): '?([\w.]+)", text))
    assert constants == {name: str(value) for name, value in fading(DEFAULT).items()}


def test_every_node_has_a_colour_and_a_caption_of_its_kind() -> None:
    rules = dict(re.findall(r"([\w.]+) \{([^}]*(?:\{\w+\}[^}]*)*)\}", neo4j_browser.style().read_text("utf-8")))
    extra = {f"node.{label}{width}" for label in ("Vector", "CueVector") for width in WIDTHS}
    kinds = ["node.Space", "node.Keyword", "node.Cue", "node.Episode"]
    links = [f"relationship.{kind}" for kind in ("NEXT", "ASSOCIATED", "CUED", "SIMILAR")]
    for name in [*extra, "node.Asked", "node.Waiting", *kinds, *links]:
        assert "color: #" in rules[name], name
        assert 'caption: "' in rules[name], name
    order = list(rules)  # a later rule wins
    assert max(order.index(name) for name in extra) < min(order.index(name) for name in kinds)
    assert order.index("node.Archived") > order.index("node.Episode")
    assert "caption" not in rules["node.Archived"]


def test_the_archive_is_one_folder_and_always_the_same_bytes() -> None:
    assert neo4j_browser.archive() == neo4j_browser.archive()
    with zipfile.ZipFile(io.BytesIO(neo4j_browser.archive())) as packed:
        texts = [packed.read(name).decode() for name in packed.namelist()]
        assert all(re.fullmatch(r"helamem/\d\d\.cypher", name) for name in packed.namelist())
    assert texts == list(neo4j_browser.queries().values())
    assert not any("include:" in text or "{width}" in text for text in texts)


def test_the_guide_names_every_query() -> None:
    guide = neo4j_browser.guide().read_text("utf-8")
    assert [title for title in neo4j_browser.queries() if title not in guide] == []


def test_files_are_saved_where_they_are_at_hand(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "desk"
    for _ in range(2):
        style, queries, guide = neo4j_browser.save(folder)
    assert style.read_bytes() == neo4j_browser.style().read_bytes()
    assert queries.read_bytes() == neo4j_browser.archive()
    assert guide.read_bytes() == neo4j_browser.guide().read_bytes()
    assert {file.parent for file in (style, queries, guide)} == {folder}
    with pytest.raises(StoreUnavailable, match="name another folder"):
        neo4j_browser.save(style / "below a file")
