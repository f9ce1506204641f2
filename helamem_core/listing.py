"""What `list` and `forget` ask a store for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from helamem_core import filters
from helamem_core.errors import InvalidInput
from helamem_core.records import Listing, View
from helamem_core.showing import shown

Order = Literal["at", "-at", "recorded_at", "-recorded_at", "id", "-id"]

BEFORE_ALL = -1e15
"""A time, in seconds since the epoch, at which nothing has expired yet."""


def listing(
    wanted: Mapping[str, Any] | None,
    now: float,
    *,
    order: Order = "id",
    limit: int | None = None,
    offset: int = 0,
    archived: bool = False,
) -> Listing:
    """Return the listing that these arguments of `Memory.list` mean.

    Raises:
        InvalidInput: an unknown order, or a limit or offset that is no whole number of at least 0 (below 2^63).
    """
    if order not in get_args(Order):
        raise InvalidInput(f"order is {shown(order)}; it must be one of {', '.join(get_args(Order))}")
    if not isinstance(archived, bool):
        raise InvalidInput(f"archived is {shown(archived)}; it must be True or False")
    view = View(now=now, filter=None if wanted is None else filters.parse(wanted))
    page = None if limit is None else _count(limit, "limit")
    return Listing(view=view, archived=archived, order=order, limit=page, offset=_count(offset, "offset"))


def _count(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise InvalidInput(f"{name} is {shown(value)}; it must be a whole number of at least 0")
    return value
