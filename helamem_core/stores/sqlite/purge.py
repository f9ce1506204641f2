"""Getting erased bytes out of the file: written anew without them, and the log emptied.

Deleting overwrites with zeros, but pages that were split or merged may keep copies; only a rewrite is sure. Readers
go on while it runs; writers wait. It takes as much memory as the file is large, so that no temporary file holds a copy.
Whether it is due is counted in the file, so that any later open can finish it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

from helamem_core.errors import StoreError
from helamem_core.stores.sqlite.connections import Pool
from helamem_core.stores.sqlite.failures import translated
from helamem_core.stores.statements import statements

SQL, SPACES = statements("connection"), statements("spaces")
WAIT = 5.0
"""Seconds that a purge waits for another process's readers and writers before it is left for later."""


def purge(pool: Pool, *, wait: float = WAIT) -> bool:
    """Remove the bytes of all that was erased so far.

    Args:
        pool: the file's connections.
        wait: seconds to wait for others, at most as long as the store does.

    Returns:
        Whether none are left; False while another process reads what was.
    """
    try:
        with translated(pool.where), pool.alone(), closing(pool.connect(min(wait, pool.timeout))) as db:
            return _purge(db)
    except StoreError:
        return False


def due(db: sqlite3.Connection) -> bool:
    """Return whether erased bytes may be in the file."""
    erasures, purged = db.execute(SPACES["purge_state"]).fetchone()
    return bool(purged < erasures)


def _purge(db: sqlite3.Connection) -> bool:
    erasures, purged = db.execute(SPACES["purge_state"]).fetchone()
    if purged >= erasures:
        return True
    db.execute(SQL["rewrite"])
    busy, _, _ = db.execute(SQL["checkpoint"]).fetchone()
    if busy:
        return False
    db.execute(SPACES["purged"], {"erasures": erasures})
    return True
