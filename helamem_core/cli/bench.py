"""`helamem bench`: how well and how fast the memory recalls; thin commands over `helamem_core.evals`."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from helamem_core.cli.call import Call
from helamem_core.cli.command import EmbedderOption, command

if TYPE_CHECKING:
    from helamem_core.evals import Report

_OWN = ("store", "space", "embedder", "as_json")  # shared options that a benchmark has in a form of its own

StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Engine to measure, in a new space; default: a temporary SQLite file."),
]
OutOption = Annotated[
    str | None, typer.Option("--json", metavar="OUT", help="Also write the report to a file; `-`: print it as JSON.")
]
SeedOption = Annotated[int, typer.Option(help="Of all that is drawn.")]
CutsOption = Annotated[list[int], typer.Option("-k", min=1, help="Where lists are cut; may be repeated.")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="At most so many questions of each conversation.")]
CacheOption = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Keep vectors there between runs.")]
BaselinesOption = Annotated[bool, typer.Option("--baselines/--no-baselines", help="Measure dense and BM25 too.")]


class Lesson(StrEnum):
    """What is reinforced after each question."""

    retrieved = "retrieved"
    evidence = "evidence"


LessonOption = Annotated[
    Lesson | None, typer.Option("--reinforce", help="Teach with each question, then ask all again.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Measure how well and how fast the memory recalls.", no_args_is_help=True)
    command(group, "locomo", without=_OWN)(locomo)
    command(group, "dialogue", without=_OWN)(dialogue)
    command(group, "latency", without=_OWN)(latency)
    app.add_typer(group, name="bench", rich_help_panel="Tend")


def locomo(  # noqa: PLR0913, PLR0917 - one parameter an option
    call: Call,
    data: Annotated[
        Path | None, typer.Option(metavar="PATH", help="locomo10.json or its folder; default: HELAMEM_DATA.")
    ] = None,
    conversation: Annotated[list[int] | None, typer.Option(help="Only these, from 1; may be repeated.")] = None,
    store: StoreOption = None,
    embedder: EmbedderOption = None,
    k: CutsOption = [5, 10, 20],  # noqa: B006 - typer copies it
    limit: LimitOption = None,
    reinforce: LessonOption = None,
    baselines: BaselinesOption = True,
    cache: CacheOption = None,
    seed: SeedOption = 0,
    out: OutOption = None,
) -> None:
    """Recall of evidence in LoCoMo's ten long conversations, beside dense and BM25 baselines."""
    from helamem_core.evals import LocomoOptions, run_locomo

    options = LocomoOptions(
        data=data,
        conversations=tuple(conversation or ()),
        store=store,
        embedder=embedder or call.embedder,
        config=call.config,
        limit=limit,
        cuts=tuple(k),
        reinforce=reinforce.value if reinforce else None,
        baselines=baselines,
        cache=cache,
        seed=seed,
    )
    _run(call, run_locomo, options, out)


def dialogue(  # noqa: PLR0913, PLR0917 - one parameter an option
    call: Call,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON with `turns`, and `questions` with their evidence.")
    ],
    store: StoreOption = None,
    embedder: EmbedderOption = None,
    k: CutsOption = [5],  # noqa: B006 - typer copies it
    limit: LimitOption = None,
    reinforce: LessonOption = None,
    baselines: BaselinesOption = True,
    cache: CacheOption = None,
    seed: SeedOption = 0,
    out: OutOption = None,
) -> None:
    """Recall of evidence in a dialogue of your own, in any language."""
    from helamem_core.evals import DialogueOptions, run_dialogue

    options = DialogueOptions(
        file=file,
        store=store,
        embedder=embedder or call.embedder,
        config=call.config,
        limit=limit,
        cuts=tuple(k),
        reinforce=reinforce.value if reinforce else None,
        baselines=baselines,
        cache=cache,
        seed=seed,
    )
    _run(call, run_dialogue, options, out)


def latency(
    call: Call,
    size: Annotated[list[int], typer.Option(min=1, help="Memories in the space; may be repeated.")] = [  # noqa: B006
        1_000,
        10_000,
        100_000,
    ],
    rounds: Annotated[int, typer.Option(min=1, help="Pairs measured of each verb.")] = 100,
    k: Annotated[int, typer.Option("-k", min=1, help="How many are recalled and reinforced.")] = 10,
    store: StoreOption = None,
    seed: SeedOption = 0,
    out: OutOption = None,
) -> None:
    """Time of recall, reinforce and remember against the engine's bare lookups and writes; embedding is left out."""
    from helamem_core.evals import LatencyOptions, run_latency

    options = LatencyOptions(sizes=tuple(size), rounds=rounds, k=k, store=store, config=call.config, seed=seed)
    _run(call, run_latency, options, out)


def _run(call: Call, benchmark: Any, options: Any, out: str | None) -> None:
    with call.warnings_told(), call.out.steps() as step:
        report = benchmark(replace(options, progress=step))
    _show(call, report, out)


def _show(call: Call, report: Report, out: str | None) -> None:
    """Print the tables, and write the report where it was asked for."""
    if call.out.as_json or out == "-":
        call.out.document(report.to_dict())
    else:
        call.out.render(report.render())
    if out not in (None, "-"):
        report.write(Path(str(out)))
        call.out.note(f"wrote {out}")
