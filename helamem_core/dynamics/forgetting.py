"""Which memories leave the active graph by themselves."""

from __future__ import annotations

from helamem_core.config import Forgetting


def fades(strongest: float, uses: int, age: float, settings: Forgetting) -> bool:
    """Return whether a memory is weak, never used and old.

    Args:
        strongest: weight now of its strongest learned or similarity link, 0 without one.
        uses: how often it was reinforced.
        age: seconds since it was recorded.
        settings: the bounds.
    """
    return strongest < settings.weak and uses == 0 and age > settings.age
