"""Reference, SQLite and both lines of Neo4j agree on histories that hypothesis writes.

Half of them look at small spaces as a whole, as users' first recalls do; the other half goes through the vector index,
asked wide enough to be exhaustive. `HELAMEM_LOCKSTEP_NEO4J=500` (examples of each half) looks longer than the default.
"""

from __future__ import annotations

import os

import pytest

from helamem_core.local_neo4j import Server
from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.lockstep import run_lockstep
from tests.neo4j.wiping import emptied

EXAMPLES = int(os.environ.get("HELAMEM_LOCKSTEP_NEO4J", "20"))
STEPS = 30
WIDE = 10_000


@pytest.mark.timeout(0)
@pytest.mark.parametrize("exact_up_to", [200, 0], ids=["exact", "index"])
def test_all_engines_agree(server_5_26: Server, server_2026_09: Server, exact_up_to: int) -> None:
    reach = {"exact_up_to": exact_up_to, "near": WIDE, "worded": WIDE}
    run_lockstep(
        {
            "reference": ReferenceStore,
            "sqlite": SQLiteStore,
            "5.26": lambda: emptied(server_5_26, **reach),
            "2026.09": lambda: emptied(server_2026_09, **reach),
        },
        max_examples=EXAMPLES,
        steps=STEPS,
    )
