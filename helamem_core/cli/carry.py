"""Commands that carry a memory elsewhere: `export`, `import`, `backup`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from helamem_core.cli.call import Call
from helamem_core.cli.command import command
from helamem_core.cli.failures import USAGE, Refused
from helamem_core.cli.output import plural

STANDARD = "-"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "export", "Carry")(export)
    command(app, "import", "Carry")(import_)
    command(app, "backup", "Carry", without=("space", "embedder", "preset"))(backup)


def export(
    call: Call,
    path: Annotated[str, typer.Argument(metavar="PATH", help="The file to write; `-`: standard output.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace a file of that name.")] = False,
) -> None:
    """Write a space as JSON Lines: memories, links with their weights, vectors."""
    if path == STANDARD and call.out.as_json:
        raise Refused("standard output cannot take the export and a JSON document: leave out --json, or name a file")
    if path != STANDARD and Path(path).exists() and not replace:
        raise Refused(f"{path} exists: name another file, or add --replace")
    with call.memory(embeds=False) as memory:
        count = memory.export(path)
    _tell(call, "exported", count, path)


def import_(
    call: Call, path: Annotated[str, typer.Argument(metavar="PATH", help="What export wrote; `-`: standard input.")]
) -> None:
    """Fill an empty space from an export, on any store, weights intact."""
    if path != STANDARD and not Path(path).is_file():
        raise Refused(f"cannot read {path!r}: no such file", USAGE)
    with call.memory(create=True, embeds=False) as memory:
        count = memory.import_(path)
    _tell(call, "imported", count, path)


def backup(call: Call, path: Annotated[Path, typer.Argument(metavar="PATH", help="The file to write.")]) -> None:
    """Copy the whole store, all spaces, to a new file that can be opened by itself."""
    call.require_store()
    with call.warnings_told(), call.open("-") as memory:
        memory.backup(path)
    if call.out.as_json:
        call.out.document({"path": str(path)})
    else:
        call.out.line(f"backed up to {path}")


def _tell(call: Call, what: str, count: int, path: str) -> None:
    if call.out.as_json:
        call.out.document({what: count, "path": path})
    else:
        call.out.note(f"{what} {plural(count, 'memory', 'memories')}: {path}")
