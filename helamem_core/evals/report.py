"""What a benchmark run leaves behind: its figures with all that is needed to have them again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helamem_core.errors import MissingExtra
from helamem_core.evals.metrics import Interval
from helamem_core.evals.provenance import command_line, versions

if TYPE_CHECKING:
    from rich.console import RenderableType

Value = str | int | float | Interval | None
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

_LEADING_ZERO = re.compile(r"(?<!\d)0(?=\.)")


def quiet(what: str, done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class Table:
    """Figures of one kind; a row names its columns, and missing ones stay empty."""

    title: str
    rows: tuple[Mapping[str, Value], ...]

    @property
    def columns(self) -> list[str]:
        """The columns of all rows, in order of appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def find(self, **labels: Value) -> Mapping[str, Value]:
        """Return the first row with these values.

        Raises:
            KeyError: there is none.
        """
        for row in self.rows:
            if all(row.get(name) == value for name, value in labels.items()):
                return row
        raise KeyError(f"no row of {self.title!r} has {labels!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run of a benchmark.

    Attributes:
        benchmark: its name.
        tables: the figures.
        configuration: everything that could be chosen, as it was.
        data: file name and sha256 of the data set; None for synthetic data.
        seed: of all that is drawn.
        embedder: the model's name.
        seconds: how long the run took.
        started: when it began (UTC).
        command: what ran it, without passwords.
        versions: of Python and of what the figures depend on.
    """

    benchmark: str
    tables: tuple[Table, ...]
    configuration: Mapping[str, Any]
    data: Mapping[str, str] | None
    seed: int
    embedder: str
    seconds: float
    started: datetime
    command: str = field(default_factory=command_line)
    versions: Mapping[str, str] = field(default_factory=versions)

    def table(self, title: str) -> Table:
        """Return a table by its title.

        Raises:
            KeyError: there is none.
        """
        for table in self.tables:
            if table.title == title:
                return table
        raise KeyError(f"report {self.benchmark!r} has no table {title!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values; an interval becomes {value, low, high}."""
        return {
            "benchmark": self.benchmark,
            "started": self.started.astimezone(UTC).isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 2),
            "command": self.command,
            "seed": self.seed,
            "embedder": self.embedder,
            "data": None if self.data is None else dict(self.data),
            "versions": dict(self.versions),
            "configuration": dict(self.configuration),
            "tables": [{"title": table.title, "rows": [_row(row) for row in table.rows]} for table in self.tables],
        }

    def write(self, path: Path) -> None:
        """Write the report as JSON, replacing a file of that name."""
        path.write_text(json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def render(self) -> RenderableType:
        """Return the tables for a terminal, with one line on where they come from.

        Raises:
            MissingExtra: rich is not installed.
        """
        try:
            from rich.box import SIMPLE_HEAD
            from rich.console import Group
            from rich.table import Table as Grid
        except ImportError as error:
            raise MissingExtra("a table on the terminal", "cli") from error
        grids = []
        for table in self.tables:
            grid = Grid(title=table.title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
            for name in table.columns:
                grid.add_column(name, justify="right" if _numeric(table, name) else "left", no_wrap=True)
            for row in table.rows:
                grid.add_row(*(shown(row.get(name)) for name in table.columns))
            grids.append(grid)
        return Group(*grids, f"{self.embedder} · {self.seconds:.0f} s · seed {self.seed} · {self.command}")


def shown(value: Value) -> str:
    """Return a value as a table shows it: three decimals, an interval by its larger half (JSON has both ends)."""
    if value is None:
        return ""
    if isinstance(value, Interval):
        half = max(value.high - value.value, value.value - value.low)
        mean, half_width = (_LEADING_ZERO.sub("", f"{part:.3f}") for part in (value.value, half))
        return f"{mean} ±{half_width}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _numeric(table: Table, name: str) -> bool:
    return not any(isinstance(row.get(name), str) for row in table.rows)


def _row(row: Mapping[str, Value]) -> dict[str, Any]:
    return {name: value._asdict() if isinstance(value, Interval) else value for name, value in row.items()}
