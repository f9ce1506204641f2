"""Values that several commands take from the command line."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from helamem_core.cli.failures import Refused
from helamem_core.errors import InvalidFilter
from helamem_core.filters import parse

FilterOption = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="JSON",
        help='Only memories that match, such as {"speaker": "Ann", "topic": {"$in": ["food", "health"]}}.',
    ),
]
IdsArgument = Annotated[list[str], typer.Argument(metavar="IDS", help="Ids of memories.")]
SinceOption = Annotated[str | None, typer.Option(metavar="TIME", help="Said at or after (ISO 8601, UTC if no zone).")]
UntilOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="Said at or before; a date alone means its whole day.")
]


def read_filter(text: str | None) -> dict[str, Any] | None:
    """Return the filter that a JSON text says.

    Raises:
        Refused: it is no JSON, or no filter.
    """
    if text is None:
        return None
    try:
        filters = json.loads(text)
    except json.JSONDecodeError as error:
        raise Refused(f"--filter {text!r} is not JSON: {error.msg} at column {error.colno}") from error
    if not isinstance(filters, dict):
        raise Refused(f'--filter {text!r} is no JSON object; write it like {{"speaker": "Ann"}}')
    try:
        parse(filters)
    except InvalidFilter as error:
        raise Refused(f"--filter: {error}") from error
    return filters
