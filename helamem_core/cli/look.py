"""Commands that only look: `show`, `neighbours`, `list`, `stats`, `spaces`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

import typer

from helamem_core.cli.call import WORDS, Call
from helamem_core.cli.command import command
from helamem_core.cli.options import FilterOption, read_filter
from helamem_core.cli.output import Column
from helamem_core.errors import MemoryNotFound
from helamem_core.types import Episode, Neighbour, Stats

_LISTED = (
    Column("id", "cyan"),
    Column("said", "dim"),
    Column("session", "dim"),
    Column("who"),
    Column("uses", right=True),
    Column("text", text=True),
)
_LINKS = (
    Column("link", "magenta"),
    Column("weight", "green", right=True),
    Column("times", right=True),
    Column("way", "dim"),
    Column("id", "cyan"),
    Column("text", text=True),
)


class Order(StrEnum):
    """Orders of a list."""

    said = "said"
    remembered = "remembered"
    id = "id"


_UP: Final[dict[Order, Literal["at", "recorded_at", "id"]]] = {
    Order.said: "at",
    Order.remembered: "recorded_at",
    Order.id: "id",
}
_DOWN: Final[dict[Order, Literal["-at", "-recorded_at", "-id"]]] = {
    Order.said: "-at",
    Order.remembered: "-recorded_at",
    Order.id: "-id",
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "show", "Look")(show)
    command(app, "neighbours", "Look")(neighbours)
    command(app, "list", "Look")(list_memories)
    command(app, "stats", "Look")(stats)
    command(app, "spaces", "Look", without=("space", "embedder", "preset"))(spaces)


def show(call: Call, id: Annotated[str, typer.Argument(metavar="ID", help="Id of a memory.")]) -> None:
    """Show a memory with everything known of it."""
    with call.memory(embeds=False) as memory:
        episode = memory.get(id)
    if episode is None:
        raise MemoryNotFound([id], call.named_space())
    if call.out.as_json:
        call.out.document(episode.to_dict())
        return
    call.out.pairs(_facts(episode, waits=call.embedder != WORDS))


def _facts(episode: Episode, *, waits: bool) -> list[tuple[str, object]]:
    without = "waits for one: found by words only" if waits else "none: found by words"
    metadata = [(f"metadata.{key}", value) for key, value in episode.metadata.items()]
    return [
        ("id", episode.id),
        ("text", episode.text),
        ("role", episode.role),
        ("speaker", episode.speaker),
        ("session", episode.session),
        ("said", episode.at),
        ("remembered", episode.recorded_at),
        ("expires", episode.expires_at),
        ("archived", episode.archived_at),
        ("keywords", ", ".join(episode.keywords)),
        ("vector", "yes" if episode.embedded else without),
        ("uses", episode.uses),
        ("last used", episode.last_used_at),
        ("previous", episode.previous),
        *metadata,
    ]


def neighbours(call: Call, id: Annotated[str, typer.Argument(metavar="ID", help="Id of a memory or cue.")]) -> None:
    """Show the links of a memory or cue, the strongest first."""
    with call.memory(embeds=False) as memory:
        links = memory.neighbours(id)
    if call.out.as_json:
        call.out.document([link.to_dict() for link in links])
    elif links:
        call.out.table(_LINKS, [_link(link) for link in links])
    else:
        call.out.note(f"{id} has no links")


def _link(link: Neighbour) -> tuple[object, ...]:
    return link.kind, link.weight, link.count, "to" if link.outgoing else "from", link.id, link.text


def list_memories(
    call: Call,
    filter: FilterOption = None,
    order: Annotated[Order, typer.Option(help="By when it was said, when it was remembered, or the id.")] = Order.said,
    reverse: Annotated[bool, typer.Option("--reverse", "-r", help="The other way round: the newest first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100,
    offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
    archived: Annotated[bool, typer.Option("--archived", help="Those that left the active graph instead.")] = False,
) -> None:
    """List memories."""
    filters = read_filter(filter)
    with call.memory(embeds=False) as memory:
        way = _DOWN[order] if reverse else _UP[order]
        found = memory.list(filters, order=way, limit=limit, offset=offset, archived=archived)
    if call.out.as_json:
        call.out.document([episode.to_dict() for episode in found])
        return
    if found:
        call.out.table(_LISTED, [_listed(episode) for episode in found])
    if len(found) == limit:
        call.out.note(f"there may be more: --offset {offset + limit}")


def _listed(episode: Episode) -> tuple[object, ...]:
    who = episode.speaker or episode.role
    return episode.id, f"{episode.at:%Y-%m-%d %H:%M}", episode.session, who, episode.uses, episode.text


def stats(call: Call) -> None:
    """Count what the space holds."""
    with call.memory(embeds=False) as memory:
        counts = memory.stats()
    if call.out.as_json:
        call.out.document(counts.to_dict())
    else:
        call.out.pairs(stats_rows(counts, waits=call.embedder != WORDS))


def stats_rows(counts: Stats, *, waits: bool) -> list[tuple[str, object]]:
    """Return counts with their names, for eyes."""
    model = counts.embedder
    return [
        ("memories", f"{counts.memories:,}"),
        ("archived", f"{counts.archived:,}"),
        ("waiting for a vector" if waits else "without a vector", f"{counts.unembedded:,}"),
        ("sessions", f"{counts.sessions:,}"),
        ("index terms", f"{counts.terms:,}"),
        ("cues", f"{counts.cues:,}"),
        ("reinforcements", f"{counts.steps:,}"),
        *((f"links {kind}", f"{count:,}") for kind, count in sorted(counts.links.items())),
        ("model", f"{model.name} ({model.dimension} numbers)" if model else "none yet"),
    ]


def spaces(call: Call) -> None:
    """List the spaces of the store."""
    call.require_store()
    with call.warnings_told(), call.open("-") as memory:
        names = memory.spaces()
    if call.out.as_json:
        call.out.document(names)
        return
    for name in names:
        call.out.line(name)
    if not names:
        call.out.note("no space yet: `helamem --space NAME remember ...` makes one")
