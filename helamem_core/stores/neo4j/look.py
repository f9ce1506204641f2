"""Looking at a space: a memory's neighbours, counts, and whether all is consistent."""

from __future__ import annotations

from typing import Any

from helamem_core.config import Config
from helamem_core.dynamics.scoring import ranked
from helamem_core.errors import MemoryNotFound
from helamem_core.stores import rows
from helamem_core.stores.neo4j import casts
from helamem_core.stores.neo4j.connection import Transaction
from helamem_core.stores.neo4j.recall import fading
from helamem_core.types import EmbedderIdentity, Neighbour, Stats

_KINDS = ("ASSOCIATED", "CUED", "SIMILAR")
_SENTENCES = {
    "unfinished": "it was being imported or erased; if that is not under way, erase it",
    "lost": "{} nodes are of it, and it is not there",
    "links": "{} links are between the wrong ends, or one too many",
    "episodes": "{} memories are not labelled or indexed as their content says",
    "cues": "{} cues are not labelled as their content says",
    "vectors": "{} vectors are of another width than the model's",
    "counts": "{} of its counts are wrong",
    "words": "{} of its words are counted wrongly",
}


def spaces(tx: Transaction) -> list[str]:
    """Return the names of all spaces, sorted."""
    return sorted(row["name"] for row in tx.run("spaces.names"))


def identity(tx: Transaction, space: str) -> EmbedderIdentity | None:
    """Return the model whose vectors the space holds."""
    found = tx.run("spaces.find", space=space)
    return casts.embedder(found[0]) if found else None


def neighbours(tx: Transaction, space: str, id: str, now: float, config: Config) -> list[Neighbour]:
    """Return a memory's or cue's living links, the strongest first.

    Raises:
        MemoryNotFound: neither a memory nor a cue has the id.
    """
    found = tx.run("neighbours.links", space=space, id=id, now=now, c=fading(config))
    if not found:
        raise MemoryNotFound([id], space)
    links = [_neighbour(link) for link in found[0]["links"]]
    return sorted(links, key=lambda link: (*ranked(link.weight, link.kind), link.id))


def stats(tx: Transaction, space: str, now: float, config: Config) -> Stats:
    """Return counts of the space."""
    found = tx.run("stats.stats", space=space, now=now, c=fading(config))
    links = dict.fromkeys(("NEXT", *_KINDS), 0)
    if not found:
        return Stats(0, 0, 0, links, 0, 0, 0, 0, None)
    row = found[0]
    living = {link["kind"]: link["living"] for link in row["links"]}
    return Stats(
        memories=row["memories"],
        archived=row["archived"],
        unembedded=row["unembedded"],
        links=links | living | {"NEXT": row["followed"]},
        cues=row["cues"],
        sessions=row["sessions"],
        terms=row["terms"],
        steps=row["steps"],
        embedder=casts.embedder(row),
    )


def check(tx: Transaction) -> list[str]:
    """Return what is inconsistent, one sentence each."""
    return [
        f"space {row['space']!r}: {sentence.format(row['found'])}"
        for name, sentence in _SENTENCES.items()
        for row in sorted(tx.run(f"check.{name}"), key=lambda row: str(row["space"]))
    ]


def _neighbour(link: dict[str, Any]) -> Neighbour:
    since, last_at = rows.moment(link.pop("since")), rows.moment_or_none(link.pop("last_at"))
    return Neighbour(**link, since=since, last_at=last_at)
