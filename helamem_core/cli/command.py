"""How a command is made: it gets the options that all commands share, before or behind its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from helamem_core.cli.call import Call, Preset
from helamem_core.cli.failures import CODES_HELP
from helamem_core.settings import URL

_PANEL = "Options of all commands"

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help=f"The store; default: HELAMEM_URL, or {URL}.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
SpaceOption = Annotated[
    str | None,
    typer.Option(
        "--space",
        metavar="NAME",
        help="Whose memory: one space a user or agent; default: HELAMEM_SPACE.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="The model of the vectors; default: HELAMEM_EMBEDDER, or the packaged one.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
PresetOption = Annotated[
    Preset | None,
    typer.Option(
        "--preset",
        help="Numbers: what measured best, or the paper's.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on standard output.", rich_help_panel=_PANEL),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress and no advice on standard error.", rich_help_panel=_PANEL),
]

_SHARED: dict[str, Any] = {
    "store": StoreOption,
    "space": SpaceOption,
    "embedder": EmbedderOption,
    "preset": PresetOption,
    "as_json": JsonOption,
    "quiet": QuietOption,
}
_FLAGS = ("as_json", "quiet")


def command(
    app: typer.Typer, name: str, panel: str | None = None, *, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command; its first parameter takes the `Call`, its docstring is the help.

    Args:
        app: where to register it.
        name: the command's name.
        panel: heading of the list of commands to stand under.
        without: shared options that mean nothing to it or that it has in another form.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        shared = {key: hint for key, hint in _SHARED.items() if key not in without}

        def run(ctx: typer.Context, **given: Any) -> None:
            call: Call = ctx.obj
            chosen = {key: given.pop(key) for key in shared}
            function(call.overridden(**chosen), **given)

        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        _sign(run, own, shared)
        app.command(name, help=paragraphs(function.__doc__ or ""), rich_help_panel=panel, epilog=CODES_HELP)(run)
        return function

    return register


def paragraphs(text: str) -> str:
    """Return a docstring whose paragraphs are one line each, so that the terminal's width breaks them."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def _sign(run: Callable[..., None], own: list[inspect.Parameter], shared: dict[str, Any]) -> None:
    """Give a function the signature that typer is to read."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    options = [
        inspect.Parameter(key, keyword, annotation=hint, default=False if key in _FLAGS else None)
        for key, hint in shared.items()
    ]
    parameters = [context, *(item.replace(kind=keyword) for item in own), *options]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in parameters}
