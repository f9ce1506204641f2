"""See it work: remember a conversation, recall, show why, reinforce, show what changed (`make demo`)."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from helamem_core import Memory, Recollection, Turn

DATA = Path(__file__).parent / "data"
STORE = Path("build", "demo.db")
PROGRAM = os.path.relpath(Path(sys.executable).with_name("helamem"))
ASKED, SHOWN, WIDE = (0, 2, 4, 5, 6), 3, 20  # lines of questions.jsonl: easy, hard, in two steps, and two in Chinese
PARAPHRASED = (
    ("What did Mei's old espresso habit give way to?", "s6-05"),
    ("Which door do I knock on to reach whoever minds Mei's pet?", "s8-07"),
)
console = Console(highlight=False, width=110)


def read(name: str) -> list[dict[str, Any]]:
    """Return the records of a file of examples/data."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def heading(text: str) -> None:
    """Print what comes next."""
    console.print()
    console.rule(f"[bold]{escape(text)}", align="left", style="cyan")


def why(item: Recollection, cues: Mapping[str, str]) -> str:
    """Return the reason for a recalled memory: the parts of its score, then the links that lifted it."""
    names = [field.name for field in fields(item.why) if field.name not in ("decay", "base", "lifts")]
    parts = [f"{name} {value:.2f}" for name in names if (value := getattr(item.why, name))]
    lifts = [
        f"[magenta]+{lift.amount:.2f} {lift.kind} from {escape(cues.get(lift.source, lift.source))}[/]"
        for lift in item.why.lifts
    ]
    return " · ".join([*parts, *lifts])


def table(places: list[tuple[int, Recollection]], evidence: list[str], cues: Mapping[str, str]) -> Table:
    """Return memories with their places and reasons; a star marks evidence."""
    grid = Table.grid(padding=(0, 1))
    for style in ("yellow", "dim", "green", "cyan", ""):
        grid.add_column(style=style, no_wrap=bool(style))
    for place, item in places:
        text = f"{escape(item.text)}\n[dim]{why(item, cues)}[/]"
        grid.add_row("★" if item.id in evidence else " ", f"{place:>2}", f"{item.score:.2f}", item.id, text)
    return grid


def find(memory: Memory, question: str, id: str) -> list[tuple[int, Recollection]]:
    """Return the place at which a question finds a memory, and what it found; empty if it does not."""
    found = memory.recall(question, k=WIDE)
    return [(place, item) for place, item in enumerate(found, 1) if item.id == id]


def teach(memory: Memory, questions: list[dict[str, Any]]) -> dict[str, str]:
    """Ask, show, and reinforce the evidence that was recalled; return the questions by the id of their cue."""
    asked = []
    for question in questions:
        found, evidence = memory.recall(question["question"], k=WIDE), question["evidence"]
        shown = [(place, item) for place, item in enumerate(found, 1) if place <= SHOWN or item.id in evidence]
        console.print(f"\n[bold]{escape(found.query)}[/]", table(shown, evidence, {}), sep="\n")
        asked.append((found, [id for id in found.ids if id in evidence]))
    heading("Reinforce: what was of use, with the question as its cue")
    cues = {}
    for found, used in asked:
        report = memory.reinforce(used, cue=found)
        cues[str(report.cue)] = f"“{found.query}”"
        console.print(f"{', '.join(used):<13} [dim]<-[/] {escape(found.query)}")
    return cues


def main() -> None:
    """Run the demonstration."""
    began = time.perf_counter()
    STORE.parent.mkdir(exist_ok=True)
    for old in STORE.parent.glob(f"{STORE.name}*"):
        old.unlink()
    with Memory.open(f"sqlite:///{STORE}", space="mei") as memory:
        heading("Remember: 85 turns of nine conversations, English with some Chinese")
        with console.status("loading the packaged model"):
            report = memory.remember([Turn(**record) for record in read("conversation.jsonl")])
        console.print(f"{report.count('stored')} turns stored in {STORE}")
        heading(f"Recall: five questions, the first {SHOWN} memories of each and the evidence (★), and why they came")
        before = [find(memory, question, id) for question, id in PARAPHRASED]
        questions = read("questions.jsonl")
        cues = teach(memory, [questions[at] for at in ASKED])
        heading("What changed: the same asked in other words")
        for (question, id), was in zip(PARAPHRASED, before, strict=True):
            now = find(memory, question, id)
            places = [str(found[0][0]) if found else f"> {WIDE}" for found in (was, now)]
            console.print(f"\n[bold]{escape(question)}[/]\n{id} was at place {places[0]}, is at place {places[1]}")
            console.print(table(now, [id], cues))
        heading("Neighbours of s8-05: the turns around it, what was used with it, and what called for it")
        links = Table.grid(padding=(0, 2))
        for link in memory.neighbours("s8-05"):
            links.add_row(f"[magenta]{link.kind}[/]", f"[green]{link.weight:.2f}[/]", escape(link.text))
        console.print(links)
        counts = memory.stats()
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts.links.items() if count)
        heading(f"{counts.memories} memories, {counts.cues} cues, links: {kinds}")
    console.print(f"{time.perf_counter() - began:.1f} s. Look around:")
    console.print(
        f"  {PROGRAM} --store sqlite:///{STORE} --space mei recall 'Who looks after Dumpling?' --why", markup=False
    )


if __name__ == "__main__":
    main()
