"""Records on their way between a database and a file."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import suppress
from tempfile import SpooledTemporaryFile
from types import TracebackType

from helamem_core.stores.rows import Item

_IN_MEMORY = 2**26  # bytes


class Spool:
    """Pages of items in memory, or, if they are many, in a temporary file that goes when it is closed."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed by `__exit__`

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def clear(self) -> None:
        """Begin anew."""
        self._file.seek(0)
        self._file.truncate()

    def add(self, page: list[Item]) -> None:
        """Append items."""
        pickle.dump(page, self._file)

    def __iter__(self) -> Iterator[list[Item]]:
        """Yield the pages as they were added."""
        self._file.seek(0)
        with suppress(EOFError):
            while True:
                yield pickle.load(self._file)
