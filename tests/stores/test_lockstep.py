"""The engines agree with the specification on histories that hypothesis writes.

`HELAMEM_LOCKSTEP=5000` (examples) looks longer than the default.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

import pytest

from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.lockstep import run_lockstep

EXAMPLES = int(os.environ.get("HELAMEM_LOCKSTEP", "200"))


@pytest.mark.timeout(0 if EXAMPLES > 200 else 300)
def test_sqlite_agrees_with_the_specification() -> None:
    run_lockstep({"reference": ReferenceStore, "sqlite": SQLiteStore}, max_examples=EXAMPLES, steps=30)


@pytest.mark.timeout(0 if EXAMPLES > 200 else 300)
def test_sqlite_agrees_on_a_file(tmp_path: Path) -> None:
    numbers = count()

    def on_file() -> SQLiteStore:
        return SQLiteStore(tmp_path / f"{next(numbers)}.db", synchronous="normal")

    run_lockstep({"reference": ReferenceStore, "file": on_file}, max_examples=EXAMPLES // 10, steps=30)
