"""The command `helamem`, put together from its groups."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from helamem_core.cli import bench, carry, doctor, forget, look, neo4j, recall, remember, tend
from helamem_core.cli.call import Call, Preset
from helamem_core.cli.command import JsonOption, QuietOption
from helamem_core.cli.failures import CODES_HELP, OK, USAGE, report
from helamem_core.cli.output import Output
from helamem_core.settings import URL

_EPILOG = f"{CODES_HELP} HELAMEM_DEBUG=1 shows tracebacks, NO_COLOR=1 takes the colours away."


class Helamem(TyperGroup):
    """The group of all commands; errors end it with one line and an exit code, never with a traceback."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run a command and exit with its code."""
        extra["standalone_mode"] = False
        try:
            code = super().main(args, *rest, **extra)
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            code = report(error)
        sys.exit(code if isinstance(code, int) else OK)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a reader of standard output that has left is met here, before typer sees it."""
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, KeyboardInterrupt) as error:
            raise typer.Exit(report(error)) from error


app = typer.Typer(
    name="helamem", cls=Helamem, rich_markup_mode="rich", invoke_without_command=True, pretty_exceptions_enable=False
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"helamem {version('helamem')}")
        raise typer.Exit


@app.callback(epilog=_EPILOG)
def start(
    ctx: typer.Context,
    store: Annotated[str, typer.Option("--store", metavar="URL", envvar="HELAMEM_URL", help="The store.")] = URL,
    space: Annotated[
        str | None,
        typer.Option(
            "--space", metavar="NAME", envvar="HELAMEM_SPACE", help="Whose memory: one space a user or agent."
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", metavar="NAME", envvar="HELAMEM_EMBEDDER", help="The model of the vectors."),
    ] = None,
    preset: Annotated[
        Preset,
        typer.Option("--preset", envvar="HELAMEM_PRESET", help="Numbers: what measured best, or the paper's."),
    ] = Preset.default,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Long-term memory for agents: a graph that learns from use.

    Remember a conversation, recall from it, and reinforce what was of use:

      helamem --space me remember talk.jsonl
      helamem --space me recall "who waters the plants?" --why
      helamem --space me reinforce s1-07 --cue "who waters the plants?"

    The options below may stand before or behind the command's name.
    """
    del version
    ctx.obj = Call(
        store=store or URL,
        space=space or None,
        embedder=embedder or None,
        preset=preset,
        out=Output(as_json=as_json, quiet=quiet),
    )
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())
        raise typer.Exit(USAGE)


for group in (remember, recall, look, forget, tend, carry, doctor, neo4j, bench):
    group.register(app)
