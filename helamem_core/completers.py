"""Cue completers by name: distributions offer them as entry points, since the core imports no model library."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from helamem_core.errors import InvalidInput
from helamem_core.protocols import CueCompleter
from helamem_core.showing import shown

GROUP = "helamem.cue_completers"


def resolve(completer: CueCompleter | str) -> CueCompleter:
    """Return the completer that is meant; a name is looked up among the installed distributions and called.

    Raises:
        InvalidInput: no installed distribution offers the name, or an object that is no completer.
        ImportError: what the distribution needs is not installed.
    """
    found = _named(completer) if isinstance(completer, str) else completer
    if isinstance(found, type) or not isinstance(found, CueCompleter):
        raise InvalidInput(f"cue_completer is {shown(completer)}; it has no `complete`")
    return found


def _named(name: str) -> Any:
    offered = {point.name: point for point in entry_points(group=GROUP)}
    if name in offered:
        return offered[name].load()()
    known = ", ".join(sorted(offered)) or "none"
    raise InvalidInput(f"no installed distribution offers the cue completer {name!r}; installed: {known}")
