"""The largest degree: nodes that have too many learned links of a kind lose the weakest."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from helamem_core.config import Config
from helamem_core.dynamics import plasticity
from helamem_core.stores.sqlite import weights
from helamem_core.stores.sqlite.spaces import SpaceRow
from helamem_core.stores.statements import statements

SQL = statements("reinforce")
Key = tuple[str, int, int]


def hold(db: sqlite3.Connection, here: SpaceRow, numbers: Iterable[int], steps: int, config: Config) -> set[int]:
    """Cut the weakest links of nodes that have too many; both ends are judged before any link goes.

    Args:
        db: the transaction that changed them.
        here: the space.
        numbers: the nodes.
        steps: of the space now.
        config: all settings.

    Returns:
        Both ends of the memory-memory links that are gone.
    """
    asked = {"space": here.key, "numbers": json.dumps(list(numbers)), "most": config.plasticity.max_degree}
    cut: set[Key] = set()
    for number, role in db.execute(SQL["crowded"], asked).fetchall():
        cut |= _crowd(db, here, number, role, steps, config)
    db.executemany(SQL["cut"], [(here.key, *key) for key in cut])
    return {end for kind, *ends in cut if kind == "ASSOCIATED" for end in ends}


def _crowd(db: sqlite3.Connection, here: SpaceRow, number: int, role: str, steps: int, config: Config) -> set[Key]:
    kind = "ASSOCIATED" if role == "ASSOCIATED" else "CUED"
    rows: list[Any] = db.execute(SQL["crowd"], {"space": here.key, "number": number, "kind": kind}).fetchall()
    now = weights.current([row[3:] for row in rows], steps, config)
    there = [
        (weight, row[2], (row[3], row[0], row[1]))
        for row, weight in zip(rows, now, strict=True)
        if weight > 0 and (role == "ASSOCIATED" or row[role == "ARRIVING"] == number)
    ]
    over = plasticity.over_degree([(weight, other) for weight, other, _ in there], config.plasticity)
    return {there[at][2] for at in over}
