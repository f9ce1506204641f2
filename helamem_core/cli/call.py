"""One call of the command: what was chosen for all commands alike, and the memory it is about."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helamem_core.cli.failures import NOT_FOUND, STORE, Refused, for_shell
from helamem_core.cli.output import Output
from helamem_core.config import Config
from helamem_core.settings import PRESETS, URL
from helamem_core.urls import redacted

if TYPE_CHECKING:
    from helamem_core.memory import Memory

WORDS = "words"
"""The embedder that is none: nothing waits for a vector."""
_SQLITE = "sqlite:///"


class Preset(StrEnum):
    """The names of the presets."""

    default = "default"
    paper = "paper"


@dataclass(frozen=True, slots=True)
class Call:
    """What one call of the command works with.

    Attributes:
        store: url of the store.
        space: the space, None if none was named.
        embedder: name of the embedder, None for the default.
        preset: which numbers.
        out: where words go.
    """

    store: str = URL
    space: str | None = None
    embedder: str | None = None
    preset: Preset = Preset.default
    out: Output = field(default_factory=Output)

    def overridden(self, **given: Any) -> Call:
        """Return the call with those options that were given behind the command's name."""
        chosen = {name: value for name, value in given.items() if value is not None}
        as_json, quiet = bool(chosen.pop("as_json", False)), bool(chosen.pop("quiet", False))
        return replace(self, **chosen, out=Output(as_json=self.out.as_json or as_json, quiet=self.out.quiet or quiet))

    @property
    def config(self) -> Config:
        """The numbers of the preset."""
        return PRESETS[self.preset.value]

    @property
    def path(self) -> Path | None:
        """The store's file, None if it is none."""
        return store_path(self.store)

    def named_space(self) -> str:
        """Return the space.

        Raises:
            Refused: none was named.
        """
        if not self.space:
            raise Refused(
                "no space named: give --space NAME or set HELAMEM_SPACE (one space a user or agent; "
                "`helamem spaces` lists those there are)"
            )
        return self.space

    @contextmanager
    def memory(self, *, create: bool = False, embeds: bool = True) -> Iterator[Memory]:
        """Open the memory; its warnings are told on standard error.

        Args:
            embeds: whether the command embeds texts; the others work without the model's extra.
            create: whether the store and the space may be new; otherwise a missing one is an error, since a
                mistyped name would look like an empty memory.

        Raises:
            Refused: no space was named, or there is no such store or space.
        """
        space = self.named_space()
        if not create:
            self.require_store()
        with self.warnings_told(), self.open(space, embeds=embeds) as memory:
            if not create and space not in (names := memory.spaces()):
                has = f"it has {', '.join(map(repr, names))}" if names else "it is empty"
                raise Refused(f"no space {space!r} in {redacted(self.store)}: {has}", NOT_FOUND)
            yield memory

    def open(self, space: str, *, embeds: bool = False) -> Memory:
        """Open the memory as it is, be it new or not."""
        from helamem_core.memory import Memory

        embedder = self.embedder if embeds else "words"
        return Memory.open(self.store, space=space, embedder=embedder, config=self.config)

    def require_store(self) -> None:
        """Refuse a file that does not exist.

        Raises:
            Refused: there is none.
        """
        if self.path is not None and not self.path.exists():
            raise Refused(
                f"no store at {self.path}: give --store URL or set HELAMEM_URL; `helamem remember` makes a new one",
                STORE,
            )

    @contextmanager
    def warnings_told(self) -> Iterator[None]:
        """Tell each warning of ours once, in one line; those of other libraries are for programmers."""
        told: set[str] = set()

        def tell(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
            if str(message) not in told and category.__module__.startswith("helamem_core"):
                told.add(str(message))
                self.out.warn(for_shell(str(message)))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = tell
            yield


def store_path(url: str) -> Path | None:
    """Return the file that a store's url names, None for stores that are no files."""
    path = url.removeprefix(_SQLITE)
    return None if path in (url, "", ":memory:") else Path(path)
