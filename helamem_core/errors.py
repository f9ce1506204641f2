"""Every error of the memory in one tree, each naming the value at fault and the way out.

Errors that a caller may also know by a builtin name (`ValueError`, `KeyError`, ...) derive from it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helamem_core.types import RememberReport


class HelaMemError(Exception):
    """Root of all errors that this library raises."""


class InvalidInput(HelaMemError, ValueError):
    """A value given by the caller cannot be used; nothing was stored."""


class InvalidFilter(InvalidInput):
    """A filter that has no meaning: unknown operator, wrong shape, too deep."""


class InvalidConfig(InvalidInput):
    """A setting outside its range, or two settings that contradict each other."""


class InvalidExport(InvalidInput):
    """A file that is no export of a space, or a damaged one."""


class ContentConflict(InvalidInput):
    """Another content is already stored under this id; identity is immutable."""


class SpaceNotEmpty(InvalidInput):
    """An import was asked into a space that already holds memories."""


class MemoryNotFound(HelaMemError, KeyError):
    """No memory of this space has the id.

    Attributes:
        ids: the ids that were not found.
    """

    def __init__(self, ids: Sequence[str], space: str) -> None:
        self.ids = tuple(ids)
        self.space = space
        super().__init__(f"space {space!r} has no memory {', '.join(map(repr, ids))}; `list()` shows what it has")

    def __str__(self) -> str:
        """Return the message as written, where `KeyError` would show its repr."""
        return str(self.args[0])


class MemoryClosed(HelaMemError, RuntimeError):
    """The memory was used after `close()`."""


class RememberError(HelaMemError):
    """Some turns could not be stored; the others are.

    Attributes:
        report: what happened to each turn; `report.remaining` can be given to `remember` again.
    """

    def __init__(self, message: str, report: RememberReport) -> None:
        self.report = report
        super().__init__(message)


class MissingExtra(HelaMemError, ImportError):
    """An optional dependency is not installed; the message holds its pip line."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs an optional dependency: pip install 'helamem[{extra}]'")


class EmbedderError(HelaMemError):
    """The embedder failed or returned something that is no embedding."""


class EmbedderMismatch(EmbedderError):
    """A space was embedded by another model; vectors of two models are never mixed."""


class StoreError(HelaMemError):
    """The engine behind the memory failed."""


class StoreUnavailable(StoreError, ConnectionError):
    """The file or server cannot be opened or reached."""


class StoreBusy(StoreError, TimeoutError):
    """Another process held the store's lock for longer than the time limit."""


class ForeignStore(StoreError):
    """The file or database exists but holds something else; it was left untouched."""


class SchemaTooNew(StoreError):
    """The store was written by a newer version of this library; it was left untouched."""


class EmbedderMismatchWarning(UserWarning):
    """The space holds another model's vectors: recall goes by words until `reembed`."""


class EmbeddingPendingWarning(UserWarning):
    """The embedder failed: turns are stored, found by their words and queued for embedding."""
