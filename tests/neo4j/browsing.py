"""A person at Neo4j Browser: a headless Chromium that drags files in, runs saved queries and reads answers."""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, ViewportSize, expect, sync_playwright

from helamem_core.local_neo4j import Server

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WINDOW: ViewportSize = {"width": 1600, "height": 900}
PATIENCE = 60_000  # milliseconds
ANSWERED = re.compile(r"Displaying \d+ nodes|Started streaming|no records|ERROR|:help params")
# The legend tells how many nodes and links there are; captions come when they are laid out.
DRAWN = """() => {
  const frame = document.querySelector("[data-testid=frame]:not([data-seen])")
  const told = [...frame.innerText.matchAll(/^\\* \\((\\d+)\\)/gm)].map(found => Number(found[1]))
  const [nodes, links] = ["g.node", "g.relationship"].map(kind => [...frame.querySelectorAll(kind)])
  return nodes.length == (told[0] ?? 0) && links.length == (told[1] ?? 0)
    && nodes.every(node => node.textContent != "") && (links.length == 0 || links.some(link => link.textContent != ""))
}"""
AT_REST = """() => {
  const now = document.querySelector("g.layer").parentElement.getAttribute("transform")
  const before = window.transformBefore
  window.transformBefore = now
  return now == before
}"""
DROPPED = """([name, encoded]) => {
  const bytes = Uint8Array.from(atob(encoded), letter => letter.charCodeAt(0))
  const transfer = new DataTransfer()
  transfer.items.add(new File([bytes], name))
  return transfer
}"""


def chromium() -> str:
    """Where Chromium is; without it the test is skipped, or fails in the CI."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is not None:
        return found
    told = "no Chromium here: `make browser` installs it where it may, and says what is missing where it may not"
    if os.environ.get("CI") and os.environ.get("HELAMEM_REQUIRE_DATA"):
        pytest.fail(told)
    pytest.skip(told)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person sees of an answer.

    Attributes:
        colours: of the nodes that are drawn, by caption; lines of a caption are joined by spaces.
        links: captions of the links that are drawn.
        text: all that can be read, with the rows of a table or the legend of a graph.
    """

    colours: dict[str, str]
    links: tuple[str, ...]
    text: str

    def node(self, begin: str) -> str:
        """Return the colour of the node whose caption begins like this; spaces do not count."""
        found = [colour for caption, colour in self.colours.items() if _tight(caption).startswith(_tight(begin))]
        assert len(found) == 1, f"{begin!r} is not one of {list(self.colours)}"
        return found[0]


class Browser:
    """One page of Neo4j Browser.

    Args:
        page: of Chromium.
        pictures: where screenshots go.
    """

    def __init__(self, page: Page, pictures: Path) -> None:
        self._page, self._pictures = page, pictures

    def connect(self, server: Server) -> None:
        """Open the page and log in."""
        self._page.goto(server.browser_url)
        self._page.get_by_test_id("connect").wait_for()
        if server.user and server.password:
            self._page.get_by_test_id("username").fill(server.user)
            self._page.get_by_test_id("password").fill(server.password)
        else:
            self._page.get_by_test_id("authenticationMethod").select_option("NO_AUTH")
        self._page.get_by_test_id("connect").click()
        expect(self._page.get_by_test_id("frameCommand").filter(has_text=":play start")).to_be_visible()

    def drop(self, name: str, content: bytes) -> None:
        """Drag a file into the page."""
        transfer = self._page.evaluate_handle(DROPPED, [name, base64.b64encode(content).decode()])
        self._page.dispatch_event(".filedrop", "drop", {"dataTransfer": transfer})

    def take_style(self, file: Path) -> None:
        """Drag a style in; Browser shows it."""
        self.drop(file.name, file.read_bytes())
        expect(self._page.get_by_test_id("frameCommand").filter(has_text=":style")).to_be_visible()

    def take_queries(self, archive: bytes, folder: str) -> None:
        """Drag saved queries in and open their folder in the drawer."""
        self.drop("queries.zip", archive)
        self._page.get_by_test_id("navigationFavorites").click()
        self._page.get_by_test_id(f"expandFolder-{folder}").click()

    def titles(self) -> list[str]:
        """Return the titles of the saved queries."""
        items = self._page.get_by_test_id("savedScriptListItem")
        expect(items.first).to_be_visible()
        return [title.strip() for title in items.all_inner_texts()]

    def command(self, text: str) -> None:
        """Type a command and run it."""
        self._page.get_by_test_id("activeEditor").click()
        self._page.keyboard.insert_text(text)
        with self._new_frame() as frame:
            self._page.get_by_test_id("editor-Run").click()
        expect(frame.get_by_test_id("frameContents")).not_to_be_empty()

    def run(self, title: str) -> Answer:
        """Click a saved query and read its answer."""
        row = self._page.get_by_test_id("savedScriptListItem").filter(
            has=self._page.get_by_test_id(f"scriptTitle-{title}")
        )
        row.hover()
        with self._new_frame() as frame:
            row.get_by_test_id("savedScriptsButton-Run").click()
        expect(frame).to_contain_text(ANSWERED)
        self._page.wait_for_function(DRAWN)
        self._page.screenshot(path=self._pictures / f"{title.rstrip('?').replace(' ', '-').lower()}.png")
        return _read(frame)

    def enlarge(self, name: str) -> None:
        """Take a picture of the latest graph on the full screen."""
        frame = self._page.get_by_test_id("frame").first
        frame.get_by_title("Fullscreen").click()
        frame.get_by_label("zoom-to-fit").click()
        self._page.wait_for_function(AT_REST, polling=300)
        self._page.screenshot(path=self._pictures / name)
        frame.get_by_title("Close fullscreen").click()

    @contextmanager
    def _new_frame(self) -> Iterator[Locator]:
        """Yield the frame that does not exist yet: Browser puts each answer into a new one, above the others."""
        self._page.get_by_test_id("frame").evaluate_all("frames => frames.forEach(frame => frame.dataset.seen = 'yes')")
        yield self._page.locator("[data-testid=frame]:not([data-seen])")


def _read(frame: Locator) -> Answer:
    nodes = frame.locator("g.node").all()
    captions = [" ".join(line.strip() for line in node.locator("text").all_text_contents()) for node in nodes]
    fills = [node.locator("circle.b-outline").get_attribute("fill") or "" for node in nodes]
    return Answer(
        colours=dict(zip(captions, fills, strict=True)),
        links=tuple(frame.locator("g.relationship text").all_text_contents()),
        text=frame.get_by_test_id("frameContents").inner_text(),
    )


def _tight(caption: str) -> str:
    return caption.replace(" ", "")


@contextmanager
def opened(pictures: Path) -> Iterator[Browser]:
    """Open a fresh page that reaches this machine and nothing else."""
    with sync_playwright() as tools:
        chrome = tools.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        try:
            page = chrome.new_page(viewport=WINDOW)
            page.set_default_timeout(PATIENCE)
            expect.set_options(timeout=PATIENCE)
            page.route("**/*", _only_here)
            yield Browser(page, pictures)
        finally:
            chrome.close()


def _only_here(route: Route) -> None:
    if urlsplit(route.request.url).hostname == "127.0.0.1":
        route.continue_()
    else:
        route.abort()
