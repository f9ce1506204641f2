"""What callers write as a time, to seconds since the epoch: the one reading of all verbs."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time

from helamem_core.errors import InvalidInput
from helamem_core.showing import shown

Moment = datetime | date | str
"""A datetime, a date or ISO 8601 text; without a zone it is UTC."""

EARLIEST = datetime(1, 1, 1, tzinfo=UTC).timestamp()
LATEST = math.nextafter(253_402_300_800.0, 0)
"""The last moment, in seconds since the epoch, that is still in the year 9999 once it is a float."""

_LAST = time(23, 59, 59, 999_999)


def seconds(value: Moment, name: str, *, end: bool = False) -> float:
    """Return the seconds since the epoch of a time.

    Args:
        value: the time.
        name: what it is called in the error.
        end: whether a bare date means its last microsecond instead of its first.

    Raises:
        InvalidInput: it is no time, or outside the years 1 to 9999 in UTC.
    """
    moment = _moment(value, name, end)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return min(moment.astimezone(UTC).timestamp(), LATEST)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"{name} is {shown(value)}, which is outside the years 1 to 9999 in UTC") from error


def seconds_or_none(value: Moment | None, name: str, *, end: bool = False) -> float | None:
    """Return `seconds` of a time, None for None."""
    return None if value is None else seconds(value, name, end=end)


def _moment(value: Moment, name: str, end: bool) -> datetime:
    if isinstance(value, datetime):
        return value
    day = _date(value)
    if day is not None:
        return datetime.combine(day, _LAST if end else time.min)
    try:
        return datetime.fromisoformat(str.strip(value))  # type: ignore[arg-type]
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            f"{name} is {shown(value)}; give a datetime or ISO 8601 text such as '2025-03-04T19:12:00+00:00'"
        ) from error


def _date(value: Moment) -> date | None:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str.strip(value))
    except (ValueError, TypeError):
        return None
