"""Commands that tend the graph: `link-similar`, `reembed`."""

from __future__ import annotations

from typing import Annotated

import typer

from helamem_core.cli.call import Call
from helamem_core.cli.command import command
from helamem_core.cli.output import plural


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "link-similar", "Tend")(link_similar)
    command(app, "reembed", "Tend")(reembed)


def link_similar(call: Call) -> None:
    """Link memories that are alike in meaning."""
    with call.memory(embeds=False) as memory:
        made = memory.link_similar()
    if call.out.as_json:
        call.out.document({"made": made})
    else:
        call.out.line(f"made {plural(made, 'similarity link')}")


def reembed(
    call: Call,
    pending: Annotated[
        bool, typer.Option("--pending", help="Only what waits for its vector because the embedder failed.")
    ] = False,
) -> None:
    """Embed the whole space anew with the model that --embedder names.

    Needed when the model changes. Interrupted, the same command goes on where it stopped; until it is through, the
    old vectors stay.
    """
    with call.memory() as memory, call.out.progress("embedding") as tell:
        done = memory.embed_pending(progress=tell) if pending else memory.reembed(call.embedder, progress=tell)
    if call.out.as_json:
        call.out.document({"embedded": done})
    else:
        call.out.line(f"embedded {plural(done, 'text')}")
