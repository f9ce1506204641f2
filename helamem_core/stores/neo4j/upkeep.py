"""Upkeep: fading and similarity links."""

from __future__ import annotations

from typing import Any

from helamem_core.config import Config, Forgetting, Linking
from helamem_core.dynamics.scoring import DIGITS
from helamem_core.stores.neo4j import content, erase, steps
from helamem_core.stores.neo4j.connection import Connection, Transaction
from helamem_core.stores.neo4j.recall import Reach, fading
from helamem_core.stores.neo4j.steps import Write, finish, pages, repeat, stepwise
from helamem_core.types import FadeReport

LOOKED_UP = 100
"""Memories whose neighbours one step looks for."""


def fade(db: Connection, space: str, now: float, config: Config) -> FadeReport:
    """Erase expired, archive weak, old, unused memories, remove dead links and idle cues, write weights back."""
    c = fading(config)

    def verb(write: Write) -> FadeReport:
        expired = [id for ids in repeat(write, lambda tx: _expire(tx, space, now)) for id in ids]
        pruned = sum(pages(write, space, lambda tx, page: _decay(tx, space, page, c)))
        finish(repeat(write, lambda tx: _drop_idle_cues(tx, space)))
        faded = pages(write, space, lambda tx, page: _archive(tx, space, page, now, config.forgetting))
        archived = [id for ids in faded for id in ids]
        return FadeReport(tuple(sorted(archived)), tuple(sorted(expired)), pruned)

    return stepwise(db, space, verb)


def _expire(tx: Transaction, space: str, now: float) -> tuple[str, ...]:
    found = tx.run("fade.expired", space=space, now=now, batch=steps.PAGE)
    return erase.erase(tx, space, found[0]["ids"]).ids if found else ()


def _decay(tx: Transaction, space: str, page: dict[str, int], c: dict[str, Any]) -> int:
    pruned = int(tx.one("fade.dead", space=space, c=c, **page)["pruned"])
    tx.run("fade.write_back", space=space, c=c, **page)
    return pruned


def _drop_idle_cues(tx: Transaction, space: str) -> int:
    found = tx.run("fade.idle_cues", space=space, batch=steps.PAGE)
    return int(found[0]["cues"]) if found else 0


def _archive(tx: Transaction, space: str, page: dict[str, int], now: float, bounds: Forgetting) -> list[str]:
    weak = [row["id"] for row in tx.run("fade.weak", space=space, now=now, weak=bounds.weak, age=bounds.age, **page)]
    return content.archive(tx, space, weak, now) if weak else []


def link_similar(db: Connection, space: str, now: float, config: Config, reach: Reach) -> int:
    """Make similarity links between active near neighbours, in place of the earlier ones; return how many are new.

    Memories of a small space (`Reach.exact_up_to`) are compared with all others; in a larger one each asks the vector
    index for its nearest.
    """

    def verb(write: Write) -> int:
        finish(pages(write, space, lambda tx, page: tx.run("link_similar.doom", space=space, **page)))
        asked = _asked(space, now, config.linking, reach)
        made = sum(pages(write, space, lambda tx, page: _link(tx, space, page, asked), LOOKED_UP))
        finish(pages(write, space, lambda tx, page: tx.run("link_similar.end", space=space, **page)))
        return made

    return stepwise(db, space, verb)


def _link(tx: Transaction, space: str, page: dict[str, int], asked: dict[str, Any]) -> int:
    (here,) = tx.run("spaces.locked", space=space)
    if not here["embedded"]:
        return 0
    found = tx.run("link_similar.link", width=here["dimension"], **asked, **page)
    return int(found[0]["made"])


def _asked(space: str, now: float, settings: Linking, reach: Reach) -> dict[str, Any]:
    return {
        "space": space,
        "now": now,
        "near": max(reach.near, 4 * settings.neighbours),
        "exact_up_to": reach.exact_up_to,
        "everything": False,
        "neighbours": settings.neighbours,
        "threshold": settings.threshold,
        "scale": settings.scale,
        "digits": DIGITS,
    }
