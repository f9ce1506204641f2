"""Where words go: answers to standard output, progress and warnings to standard error.

On a terminal answers are tables; in a pipe they are tab-separated lines with a header; with `--json` they are one
JSON document and nothing else. What users wrote is shown literally: no markup, no control characters.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

# Control characters could drive the terminal, and the marks of direction could reorder what is seen.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

Progress = Callable[[int, int | None], None]
Step = Callable[[str, int, int | None], None]
_PIPE_WIDTH = 200  # cells; a pipe has no width of its own
_READABLE = 40  # cells that a column of texts needs
_GAP = 3  # cells between two columns


def visible(text: str) -> str:
    """Return text with control characters written as escapes."""
    return _UNSEEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """Return text that is safe as a field of a tab-separated line."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def cell(value: object) -> str:
    """Return a value as people read it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3f}"
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00")
        case _:
            return str(value)


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun: `1 memory`, `2 memories`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its head, and how it looks on a terminal."""

    head: str
    style: str = ""
    right: bool = False
    text: bool = False


class Output:
    """Speaks to standard output and standard error.

    Args:
        as_json: standard output takes one JSON document only.
        quiet: standard error takes warnings and errors only, no progress and no advice.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self._out = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
        if not self._out.is_terminal:
            self._out.width = _PIPE_WIDTH
        self._err = Console(highlight=False, markup=False, emoji=False, soft_wrap=True, stderr=True)

    @property
    def on_terminal(self) -> bool:
        """Whether a person sees standard output."""
        return self._out.is_terminal and not self.as_json

    def document(self, value: object) -> None:
        """Print the one JSON document."""
        ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
        print(json.dumps(value, ensure_ascii=ascii_only, indent=2), flush=True)

    def line(self, text: str, style: str = "") -> None:
        """Print a line of the answer, unless it is a JSON document."""
        if not self.as_json:
            self._out.print(Text(visible(text), style))

    def note(self, text: str) -> None:
        """Tell how it went, on standard error, unless `--quiet` or `--json`."""
        if not (self.quiet or self.as_json):
            self._err.print(Text(visible(text), "dim"))

    def warn(self, text: str) -> None:
        """Print a warning on standard error, whatever the options."""
        self._err.print(Text.assemble(("warning: ", "yellow"), visible(" ".join(text.split()))))

    def ask(self, question: str) -> bool:
        """Ask for a yes on the terminal; `n` is the default."""
        self._err.print(Text(visible(question) + " [y/N] "), end="")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
        """Print rows as a table on a terminal and as tab-separated lines in a pipe."""
        texts = [[cell(value) for value in row] for row in rows]
        if not self.on_terminal:
            for fields in ([column.head for column in columns], *texts):
                print("\t".join(map(one_line, fields)))
        elif _room_for_text(columns, texts, self._out.width) >= _READABLE:
            self._out.print(_drawn(columns, texts), soft_wrap=False)
        else:
            for fields in texts:
                self._out.print(_stacked(columns, fields, self._out.width), soft_wrap=False)

    def pairs(self, rows: Iterable[tuple[str, object]]) -> None:
        """Print names with their values, leaving out those without one."""
        kept = [(name, cell(value)) for name, value in rows if value not in (None, "", {}, ())]
        if not self.on_terminal:
            for name, text in kept:
                print(f"{name}\t{one_line(text)}")
            return
        grid = Table.grid(padding=(0, 2))
        for name, text in kept:
            grid.add_row(Text(name, "cyan"), Text(visible(text)))
        self._out.print(grid, soft_wrap=False)

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """Show a bar on standard error while work goes on, if a person sees it.

        Yields:
            A function that takes how many are done and how many there are in all, if known.
        """
        with self.steps() as step:
            yield lambda done, total: step(what, done, total)

    @contextmanager
    def steps(self) -> Iterator[Step]:
        """Show a bar for work of several kinds.

        Yields:
            A function that takes what is being done, how much of it is done, and how much there is, if known.
        """
        if self.quiet or not self._err.is_terminal:
            yield lambda what, done, total: None
            return
        from rich.progress import Progress as Bar

        with Bar(console=self._err, transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)

    def render(self, content: RenderableType) -> None:
        """Print what rich can draw."""
        self._out.print(content, soft_wrap=False)


def _room_for_text(columns: Sequence[Column], texts: Sequence[Sequence[str]], width: int) -> int:
    """Return how many cells of a line the other columns leave to the column of texts."""
    heads = [column.head for column in columns]
    widths = [max(map(cell_len, values)) for values in zip(heads, *texts, strict=True)]
    return width - sum(wide + _GAP for wide, column in zip(widths, columns, strict=True) if not column.text)


def _stacked(columns: Sequence[Column], fields: Sequence[str], width: int) -> Text:
    """Return a row as lines: the text, and below it the other fields, broken where the line ends."""
    told, aside = "", []
    for column, field in zip(columns, fields, strict=True):
        if column.text:
            told += visible(field)
        elif field:
            aside.append(f"{column.head} {visible(field)}" if column.right else visible(field))
    below = textwrap.fill(" · ".join(aside), width, initial_indent="  ", subsequent_indent="  ", break_long_words=False)
    return Text.assemble((told, "bold"), "\n" if told else "", (below, "cyan"))


def _drawn(columns: Sequence[Column], texts: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        justify: Any = "right" if column.right else "left"
        table.add_column(Text(column.head), style=column.style, justify=justify, no_wrap=not column.text)
    for fields in texts:
        table.add_row(*(Text(visible(field), overflow="fold") for field in fields))
    return table
