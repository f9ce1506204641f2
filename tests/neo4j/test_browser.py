"""What a person sees who opens Neo4j Browser: words, kinds and weights, and nothing of what was forgotten."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helamem_core import Turn, neo4j_browser
from helamem_core.local_neo4j import Server
from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.testing.fakes import FakeClock
from tests.neo4j.browsing import Browser, chromium, opened
from tests.neo4j.talk import held

EPISODE, CUE, ARCHIVED = "#57C7E3", "#FFC454", "#E4E7EB"
CANARY = "zanzibar"
pytestmark = pytest.mark.timeout(900)  # the first of them waits for the server and for Chromium


@pytest.fixture
def browser(neo4j_server: Server, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Browser, connected, with the style and the saved queries; pictures go to HELAMEM_SCREENSHOTS if that is set."""
    folder = Path(os.environ.get("HELAMEM_SCREENSHOTS") or tmp_path)
    pictures = folder / f"neo4j-{neo4j_server.line.name}" / request.node.originalname
    pictures.mkdir(parents=True, exist_ok=True)
    with opened(pictures) as page:
        page.connect(neo4j_server)
        page.take_style(neo4j_browser.style())
        page.take_queries(neo4j_browser.archive(), neo4j_browser.FOLDER)
        yield page


@pytest.fixture
def store(neo4j_server: Server) -> Iterator[Neo4jStore]:
    chromium()  # without one there is nothing to see, and no server need be started
    with closing(Neo4jStore(neo4j_server.bolt_url, auth=neo4j_server.auth)) as opened_store:
        yield opened_store


@pytest.fixture
def space() -> str:
    """The name of a space that nobody has."""
    return f"alice-{uuid.uuid4().hex[:8]}"


def about(browser: Browser, space: str, words: str) -> None:
    """Set the parameters as the guide says: the shipped ones, then one's own."""
    browser.run("0 Settings")
    browser.command(f":param space => '{space}'")
    browser.command(f":param about => '{words}'")


def test_a_person_sees_words_kinds_and_weights(store: Neo4jStore, browser: Browser, space: str) -> None:
    held(store, space, FakeClock()).close()
    assert browser.titles() == list(neo4j_browser.queries())
    about(browser, space, "tea")

    graph = browser.run("1 Overview")
    assert graph.node("My train from Leeds") == EPISODE
    assert graph.node("龙井茶配绿豆糕") == EPISODE
    assert graph.node("美对什么过敏") == CUE
    assert {"associated", "cued", "next"} <= {link.split(" ")[-1] for link in graph.links}
    assert all(re.match(r"next|0\.\d", link) for link in graph.links), graph.links
    assert re.search(r"ASSOCIATED \(6\)", graph.text)

    browser.enlarge("browser.png")  # the picture of the README

    graph = browser.run("2 What do you know?")
    assert graph.node("Let's meet at the tea house") == EPISODE
    assert graph.node("Which tea does Mei") == CUE
    assert any(link.startswith("0.9") for link in graph.links)

    table = browser.run("3 The same in words").text
    assert "I've given up coffee; I drink green tea from Hangzhou now." in table
    assert "0.89 ASSOCIATED 龙井茶配绿豆糕，不放花生，我放心。" in table
    assert "0.9 CUED Which tea does Mei drink?" in table

    graph = browser.run("6 What was put aside?")
    assert graph.node("Which tea is it?") == ARCHIVED
    assert graph.node("Longjing.") == EPISODE

    graph = browser.run("7 Which cues led here?")
    assert graph.node("When does Mei arrive") == CUE
    assert any(link == "0.6 cued" for link in graph.links)


def test_a_person_reads_how_links_grew_and_faded(store: Neo4jStore, browser: Browser, space: str) -> None:
    held(store, space, FakeClock()).close()
    about(browser, space, "tea")

    strongest = browser.run("4 Strongest associations").text
    assert cells(strongest)[0] == [
        *("0.9", "3", '"I\'ve given up coffee; I drink green tea from Hangzhou now."'),
        *('"Longjing. My aunt sends a tin every spring."', '"2027-01-16 08:00"', '"2027-01-18 08:00"'),
    ]
    faded = browser.run("5 What faded?").text
    assert cells(faded)[0][:4] == ["0.9", "0.891", '"alive"', '"ASSOCIATED"']

    grown = cells(browser.run("8 How did this link grow?").text)
    assert [row[0] for row in grown].count('"CUED"') == 6
    assert grown[-1][1:4] == ["1", "0.3", "0.3"]
    assert grown[-1][-1] == '"When does Mei arrive in town?"'

    numbers = cells(browser.run("9 The space in numbers").text)
    assert numbers == [[f'"{space}"', "8", "1", "4", "0", "6", "6", "9", "0", "8", '"hashing"', "256"]]


def test_what_was_forgotten_is_in_no_answer(store: Neo4jStore, browser: Browser, space: str) -> None:
    clock = FakeClock()
    memory = held(store, space, clock)
    for number in (1, 2):
        memory.remember([Turn(f"Word {number} is {CANARY}, like the tea.", id=f"canary-{number}", session="fri")])
    report = memory.reinforce(["canary-1", "m8"], cue=f"Is the {CANARY} tea a password?")
    memory.reinforce(["m8"])  # so that the link fades
    memory.archive(["canary-2"])
    about(browser, space, CANARY)
    titles = browser.titles()[1:]
    shown = [title for title in titles if CANARY in answer(browser, title)]
    assert shown == titles[:-1]  # all but the counts

    assert report.cue is not None
    memory.forget(["canary-1", "canary-2", report.cue])
    memory.close()
    browser.command(":param about => ''")  # whatever there is
    assert not [title for title in titles if CANARY in answer(browser, title)]


def answer(browser: Browser, title: str) -> str:
    """All that an answer shows, but for the command above it."""
    seen = browser.run(title)
    return " ".join([seen.text, *seen.colours, *seen.links])


def cells(text: str) -> list[list[str]]:
    """The rows of a table: Browser numbers them from 1."""
    rows = re.split(r"^\d+\n", text, flags=re.MULTILINE)[1:]
    return [[cell.strip() for cell in row.strip().splitlines()[0].split("\t")] for row in rows]
