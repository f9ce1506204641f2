"""`helamem recall` and `helamem reinforce`: ask the memory, and teach it what was of use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Annotated

import typer

from helamem_core.cli.call import Call
from helamem_core.cli.command import command
from helamem_core.cli.options import FilterOption, SinceOption, UntilOption, read_filter
from helamem_core.cli.output import Column, Output, plural
from helamem_core.types import Recollection, Recollections, ReinforceReport, Why

_PARTS = tuple(item.name for item in fields(Why) if item.name not in ("decay", "base", "lifts"))
_COLUMNS = (
    Column("#", "dim", right=True),
    Column("score", "green", right=True),
    Column("path", "magenta"),
    Column("id", "cyan"),
    Column("said", "dim"),
    Column("who"),
    Column("text", text=True),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "recall", "Memory")(recall)
    command(app, "reinforce", "Memory")(reinforce)


def recall(
    call: Call,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to ask, in words.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many memories at most.")] = 10,
    since: SinceOption = None,
    until: UntilOption = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="As if asked then: nothing said later comes back.")
    ] = None,
    filter: FilterOption = None,
    context: Annotated[
        int | None, typer.Option(metavar="TOKENS", min=1, help="Print a block for a prompt, of at most so many tokens.")
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Show the parts of each score and the links that lifted it.")] = (
        False
    ),
) -> None:
    """Recall the memories that answer a query, best first. Recalling changes nothing.

    The path says whether a memory came by its own words and meaning (semantic) or by its links (associative).
    """
    filters = read_filter(filter)
    with call.memory() as memory:
        found = memory.recall(query, k=k, filters=filters, since=since, until=until, as_of=as_of)
        embeds = memory.embedder is not None
    if context is not None:
        _print_context(call.out, found, context)
    elif call.out.as_json:
        call.out.document(found.to_dict())
    elif not found:
        call.out.note("nothing recalled")
    else:
        show_recollections(call.out, found, why=why)
    if found.unembedded and embeds:
        call.out.note(f"{plural(found.unembedded, 'memory waits', 'memories wait')} for a vector: found by words only")


def _print_context(out: Output, found: Recollections, tokens: int) -> None:
    block = found.as_context(tokens)
    if out.as_json:
        out.document({**found.to_dict(), "context": block})
    elif block:
        out.line(block)


def show_recollections(out: Output, found: Recollections, *, why: bool) -> None:
    """Print recalled memories as a table, and the reasons below each."""
    if not why:
        out.table(_COLUMNS, [_row(rank, item) for rank, item in enumerate(found, 1)])
        return
    if not out.on_terminal:
        heads = (*_COLUMNS, Column("why"))
        out.table(heads, [(*_row(rank, item), "; ".join(reasons(item.why))) for rank, item in enumerate(found, 1)])
        return
    for rank, item in enumerate(found, 1):
        who = f"{item.speaker or item.role} · {item.at:%Y-%m-%d %H:%M}"
        out.line(f"{rank}. {item.text}", "bold")
        out.line(f"   score {item.score:.3f} · {item.path} · {item.id} · {who}", "cyan")
        for reason in reasons(item.why):
            out.line(f"   {reason}", "dim")


def _row(rank: int, item: Recollection) -> tuple[object, ...]:
    return rank, item.score, item.path, item.id, f"{item.at:%Y-%m-%d %H:%M}", item.speaker or item.role, item.text


def reasons(why: Why) -> Iterator[str]:
    """Yield the reasons of a score as sentences: its parts, then what lifted it."""
    parts = " + ".join(f"{name} {value:.3f}" for name in _PARTS if (value := getattr(why, name)))
    times = f"{why.decay:.3f} x ({parts})" if why.decay != 1 else parts
    yield f"base {why.base:.3f} = {times or '0'}"
    for lift in why.lifts:
        yield f"+{lift.amount:.3f} over {lift.kind} from {lift.source} (weight {lift.weight:.3f})"


def reinforce(
    call: Call,
    ids: Annotated[list[str], typer.Argument(metavar="IDS", help="Ids of memories that were used together.")],
    cue: Annotated[
        str | None, typer.Option(metavar="TEXT|ID", help="What called for them: a question, or the id of its turn.")
    ] = None,
    event: Annotated[
        str | None, typer.Option(metavar="ID", help="Name of this event: given again, it changes nothing.")
    ] = None,
) -> None:
    """Reinforce memories that were of use together; with a cue, a similar cue will bring them back."""
    with call.memory() as memory:
        report = memory.reinforce(ids, cue=cue, event_id=event)
    if call.out.as_json:
        call.out.document(
            {"applied": report.applied, "associated": report.associated, "cued": report.cued, "cue": report.cue}
        )
    else:
        call.out.line(_told(report, event))


def _told(report: ReinforceReport, event: str | None) -> str:
    if not report.applied:
        return f"event {event} was applied before: nothing changed"
    links = f"{plural(report.associated, 'link')} between memories"
    cued = f", {plural(report.cued, 'link')} from cue {report.cue}" if report.cue else ""
    return f"strengthened {links}{cued}"
