"""Numbered schema changes, only ever added to; each runs in one transaction and sets the version to its number."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def migrations(dialect: str = "sql") -> tuple[str, ...]:
    """Return the scripts in order; a store of version n has had the first n."""
    names = sorted(entry.name for entry in files(__package__).iterdir() if entry.name.endswith(f".{dialect}"))
    return tuple(files(__package__).joinpath(name).read_text(encoding="utf-8") for name in names)
