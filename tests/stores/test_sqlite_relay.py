"""Two stores on one file, taking turns at every verb, are one store: neither may ever be behind the other."""

from __future__ import annotations

import os
from itertools import count, cycle
from pathlib import Path
from typing import Any, cast

import pytest

from helamem_core.protocols import Store
from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.lockstep import run_lockstep

EXAMPLES = int(os.environ.get("HELAMEM_LOCKSTEP", "200")) // 10


class Relay:
    """Hands each call to the next of several stores on one file."""

    def __init__(self, path: Path) -> None:
        self._stores = [SQLiteStore(path, synchronous="normal", cache_bytes=size) for size in (1, 1 << 29)]
        self._turns = cycle(self._stores)

    def __getattr__(self, verb: str) -> Any:
        return getattr(next(self._turns), verb)

    def close(self) -> None:
        for store in self._stores:
            store.close()


@pytest.mark.timeout(0 if EXAMPLES > 20 else 300)
def test_taking_turns_on_one_file(tmp_path: Path) -> None:
    numbers = count()

    def relay() -> Store:
        return cast(Store, Relay(tmp_path / f"{next(numbers)}.db"))

    run_lockstep({"reference": ReferenceStore, "relay": relay}, max_examples=EXAMPLES, steps=30)
