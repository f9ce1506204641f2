"""What an engine's author tells the suite, and the fixtures that every theme uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from helamem_core.protocols import Store
from helamem_core.testing.fakes import Room


@dataclass(frozen=True)
class Engine:
    """How the suite opens an engine, and what it can expect of it.

    Attributes:
        open: opens the store of this test, empty at first. A durable engine finds again what it stored, also
            while other stores on the same data are open.
        durable: whether data outlive `close()`.
        folder: the folder whose files hold all the data, if this engine has files of its own.
        restore: opens a backup by itself, if this engine makes them.
    """

    open: Callable[[], Store]
    durable: bool = False
    folder: Path | None = None
    restore: Callable[[Path], Store] | None = None


class StoreCase:
    """The fixtures of all themes; an engine's test overrides `engine`."""

    @pytest.fixture
    def engine(self) -> Engine:
        """Return how to open the engine: override this."""
        raise NotImplementedError(f"{type(self).__name__} needs a fixture `engine` that returns an Engine")

    @pytest.fixture
    def store(self, engine: Engine) -> Iterator[Store]:
        """Open an empty store."""
        store = engine.open()
        yield store
        store.close()

    @pytest.fixture
    def room(self, store: Store) -> Room:
        """Return a space of it under the default settings."""
        return Room(store)

    @pytest.fixture
    def durable(self, engine: Engine) -> Engine:
        """Return the engine if its data outlive a store, else skip."""
        if not engine.durable:
            pytest.skip("this engine does not claim to be durable")
        return engine


def about(value: Any, tolerance: float = 1e-6) -> Any:
    """Return what equals a number, or numbers in a container, up to the tolerance that engines are granted."""
    return pytest.approx(value, rel=0.0, abs=tolerance)


def unchanged(room: Room, act: Callable[[], object], error: type[Exception]) -> None:
    """Hold that an act fails with this error and leaves the space as it was."""
    before = room.dump()
    with pytest.raises(error):
        act()
    assert room.dump() == before
