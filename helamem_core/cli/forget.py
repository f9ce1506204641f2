"""Commands that take memories away: `forget` for good, `archive` and `fade` so that `restore` brings them back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from helamem_core.cli.call import Call
from helamem_core.cli.command import command
from helamem_core.cli.failures import FAILED, NOT_FOUND, Refused
from helamem_core.cli.options import FilterOption, IdsArgument, read_filter
from helamem_core.cli.output import plural
from helamem_core.episodes import CUE
from helamem_core.types import ForgetReport

if TYPE_CHECKING:
    from helamem_core.memory import Memory

_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "forget", "Forget")(forget)
    command(app, "archive", "Forget")(archive)
    command(app, "restore", "Forget")(restore)
    command(app, "fade", "Forget")(fade)


def forget(
    call: Call,
    ids: Annotated[list[str] | None, typer.Argument(metavar="IDS", help="Ids of memories to erase.")] = None,
    filter: FilterOption = None,
    everything: Annotated[bool, typer.Option("--everything", help="Erase all memories of the space.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Erase memories for good, with their links and every trace in the indexes.

    Name ids, or a filter, or everything; the last two ask first. To keep a way back, use archive.
    """
    filters = read_filter(filter)
    if (bool(ids), filter is not None, everything).count(True) != 1:
        raise Refused("say what to forget: ids, or --filter JSON, or --everything (one of the three)")
    if filters == {}:
        raise Refused("--filter {} matches everything: say --everything to erase all")
    with call.memory(embeds=False) as memory:
        if not ids and not yes:
            _confirm(call, memory, filters)
        report = memory.forget(ids or None, filters=filters, everything=everything)
    _tell(call, report)
    memories = [id for id in dict.fromkeys(ids or []) if not id.startswith(CUE)]
    missing = [id for id in memories if id not in report.ids]
    if missing:
        raise Refused(f"no memory {', '.join(map(repr, missing))} in space {call.space!r}", NOT_FOUND)


def _confirm(call: Call, memory: Memory, filters: dict[str, Any] | None) -> None:
    """Ask before erasing what was not named by id."""
    if not _is_attended():
        raise Refused("this erases memories and nobody can be asked here: add --yes")
    if filters is None:
        counts = memory.stats()
        what = plural(counts.memories + counts.archived, "memory", "memories")
    else:
        found = len(memory.list(filters=filters)) + len(memory.list(filters=filters, archived=True))
        what = plural(found, "memory", "memories")
    if not call.out.ask(f"Erase {what} of space {call.space!r} for good?"):
        raise Refused("nothing was erased", FAILED)


def _is_attended() -> bool:
    return sys.stdin.isatty()


def _tell(call: Call, report: ForgetReport) -> None:
    if call.out.as_json:
        call.out.document(
            {"ids": list(report.ids), "links": report.links, "cues": report.cues, "purged": report.purged}
        )
    else:
        what = plural(len(report.ids), "memory", "memories")
        call.out.line(f"erased {what}, {plural(report.links, 'link')}, {plural(report.cues, 'cue')}")
    if not report.purged:
        call.out.warn(
            "another process has the file open, so the erased bytes are still in it: "
            "they go when the store is next opened alone"
        )


def archive(call: Call, ids: IdsArgument) -> None:
    """Take memories out of the active graph; restore brings them back, links and all."""
    with call.memory(embeds=False) as memory:
        done = memory.archive(ids)
    _tell_ids(call, "archived", done)


def restore(call: Call, ids: IdsArgument) -> None:
    """Bring archived memories back."""
    with call.memory(embeds=False) as memory:
        done = memory.restore(ids)
    _tell_ids(call, "restored", done)


def _tell_ids(call: Call, what: str, ids: list[str]) -> None:
    if call.out.as_json:
        call.out.document({what: ids})
    else:
        call.out.line(f"{what} {plural(len(ids), 'memory', 'memories')}")


def fade(call: Call) -> None:
    """Archive weak, old, unused memories; erase expired ones; remove dead links."""
    with call.memory(embeds=False) as memory:
        report = memory.fade()
    if call.out.as_json:
        call.out.document({"archived": list(report.archived), "expired": list(report.expired), "pruned": report.pruned})
        return
    call.out.line(
        f"archived {plural(len(report.archived), 'memory', 'memories')}, "
        f"erased {len(report.expired):,} expired, removed {plural(report.pruned, 'dead link')}"
    )
    for id in report.archived[:_SHOWN]:
        call.out.line(f"  archived {id}")
    if len(report.archived) > _SHOWN:
        call.out.note(f"  and {len(report.archived) - _SHOWN:,} more: `helamem list --archived`")
