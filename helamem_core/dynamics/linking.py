"""Similarity links between near neighbours."""

from __future__ import annotations

from collections.abc import Mapping

from helamem_core.config import Linking
from helamem_core.dynamics.scoring import ranked


def proposals(cosines: Mapping[str, float], settings: Linking) -> list[tuple[str, float]]:
    """Return the (id, weight) of the similarity links that one memory proposes, the nearest first.

    Args:
        cosines: of the memory with every other one.
        settings: at most `neighbours`, each above `threshold`, weighing `scale` times the cosine.
    """
    near = [key for key, cosine in cosines.items() if cosine > settings.threshold]
    near.sort(key=lambda key: ranked(cosines[key], key))
    return [(key, settings.scale * cosines[key]) for key in near[: settings.neighbours]]
