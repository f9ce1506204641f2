"""What another process does in `test_transfer`: begin an import and be killed in the middle of it.

Usage: `transfer_process.py URL SPACE FILE STATEMENT TIMES`, credentials in the environment. It kills itself after the
statement has run so many times.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from helamem_core.stores.neo4j import Neo4jStore
from helamem_core.stores.neo4j.connection import StatementTime


def main(url: str, space: str, file: str, statement: str, times: str) -> None:
    """Import, and die."""
    left = int(times)

    def watch(spent: StatementTime) -> None:
        nonlocal left
        left -= spent.name == statement
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    store = Neo4jStore(url, on_statement=watch)
    store.load(space, map(json.loads, Path(file).read_text(encoding="utf-8").splitlines()))


if __name__ == "__main__":
    main(*sys.argv[1:])
