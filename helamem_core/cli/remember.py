"""`helamem remember`: turns from files, standard input or the command line into the memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from helamem_core.cli.bulk import Engine, Load, load
from helamem_core.cli.call import Call
from helamem_core.cli.command import command
from helamem_core.cli.failures import FAILED, STORE, Refused
from helamem_core.cli.output import Column, plural
from helamem_core.cli.turns_file import STDIN, Defaults, Format, Sourced, read_turns
from helamem_core.errors import RememberError, StoreError
from helamem_core.types import ItemOutcome, RememberReport, Turn

OUTCOMES: Final[tuple[ItemOutcome, ...]] = ("stored", "unchanged", "failed")
_LISTED = 10  # so few turns are listed one by one; of more only the failed ones
_BULK = "Bulk"
_COLUMNS = (Column("line", "dim"), Column("outcome"), Column("id", "cyan"), Column("why it failed", text=True))


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "remember", "Memory")(remember)


@dataclass(frozen=True, slots=True)
class Tally:
    """What happened to each turn read."""

    turns: list[Sourced]
    report: RememberReport

    def counts(self) -> dict[str, int]:
        """Return how many turns had each outcome."""
        return {outcome: self.report.count(outcome) for outcome in OUTCOMES}

    def rows(self) -> list[tuple[str, str, str | None, str | None]]:
        """Return place, outcome, id and error of each turn."""
        pairs = zip(self.turns, self.report.items, strict=True)
        return [(turn.place, item.outcome, item.id, item.error) for turn, item in pairs]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        items = [
            {"source": turn.source, "line": turn.line, **asdict(item)}
            for turn, item in zip(self.turns, self.report.items, strict=True)
        ]
        waiting = {"unembedded": self.report.unembedded, "embedding_error": self.report.embedding_error}
        return {**self.counts(), **waiting, "items": items}


def remember(  # noqa: PLR0913 - the options of the command
    call: Call,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES",
            help="JSON Lines or plain text, one turn a line; `-`: standard input. With --engine JSON Lines or Parquet.",
        ),
    ] = None,
    text: Annotated[list[str] | None, typer.Option("--text", "-t", help="The text of a turn; may be repeated.")] = None,
    session: Annotated[
        str | None, typer.Option(help="The conversation of turns that name none; its turns are linked in order.")
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="The speaker of turns that name none.")] = None,
    role: Annotated[str | None, typer.Option(help="The role of turns that name none: user, assistant, ...")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to read the files.")] = Format.auto,
    *,
    engine: Annotated[
        Engine | None,
        typer.Option(help="Load in bulk: in this process, or by Ray on many.", rich_help_panel=_BULK),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes of Ray that write; default: one a processor.", rich_help_panel=_BULK),
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A running Ray cluster, `auto`: the one of this machine; default: RAY_ADDRESS, else a new one here.",
            rich_help_panel=_BULK,
        ),
    ] = None,
    rejects: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rows that fail there, as JSON Lines.", rich_help_panel=_BULK),
    ] = None,
) -> None:
    """Remember turns: a conversation, or notes.

    A JSON line is a turn: text, and where known id, at, session, speaker, role, metadata, expires_at.

    If something fails, run the same command again: what is stored stays as it is. A line of a file that has neither
    id nor time is known by file name, line number and text; lines of standard input are always new.

    Without --engine all lines are checked before the first is stored. With it files of any size are streamed, each
    turn needs an id or a time, may bring its vector, and fails alone.
    """
    if engine is not None:
        if text or form is Format.text:
            raise Refused("--text and --format text cannot be loaded in bulk: leave out --engine")
        load(call, Load(engine, files or [], _named(session, speaker, role), workers, ray_address, rejects))
        return
    if workers is not None or ray_address is not None or rejects is not None:
        raise Refused("--workers, --ray-address and --rejects are for loading in bulk: add --engine local or ray")
    turns = _given(files or [], text or [], form, Defaults(session, speaker, role))
    done = 0
    with call.memory(create=True) as memory, call.out.progress("remembering") as show:

        def tell(count: int, total: int | None) -> None:
            nonlocal done
            done = count
            show(done, total)

        cause = None
        try:
            report = memory.remember([item.turn for item in turns], progress=tell)
        except RememberError as error:
            report, cause = error.report, error.__cause__
        except BaseException:
            call.out.warn(f"{done:,} of {plural(len(turns), 'turn')} were done; the same command goes on from there")
            raise
    _tell(call, Tally(turns, report), cause)


def _given(files: list[str], texts: list[str], form: Format, defaults: Defaults) -> list[Sourced]:
    if not files and not texts:
        raise Refused("nothing to remember: name a file, `-` for standard input, or --text TEXT")
    if files.count(STDIN) > 1:
        raise Refused("standard input can be read only once: give `-` once")
    known = _named(defaults.session, defaults.speaker, defaults.role)
    spoken = [Sourced(Turn(text, **known), "--text", number) for number, text in enumerate(texts, 1)]
    return read_turns(files, form, defaults) + spoken


def _named(session: str | None, speaker: str | None, role: str | None) -> dict[str, Any]:
    """Return those of the defaults that were given."""
    given = {"session": session, "speaker": speaker, "role": role}
    return {key: value for key, value in given.items() if value is not None}


def _tell(call: Call, tally: Tally, cause: BaseException | None) -> None:
    """Show what happened; raise if a turn failed."""
    rows = tally.rows()
    failed = [row for row in rows if row[1] == "failed"]
    if call.out.as_json:
        call.out.document(tally.to_dict())
    else:
        if listed := rows if len(rows) <= _LISTED else failed:
            call.out.table(_COLUMNS, listed)
        call.out.note(", ".join(f"{count:,} {outcome}" for outcome, count in tally.counts().items()))
    if failed:
        told = f"{plural(len(failed), 'turn')} could not be stored"
        if isinstance(cause, StoreError):
            raise Refused(f"{told}: {cause}", STORE)
        raise Refused(f"{told}; run it again once mended", FAILED)
