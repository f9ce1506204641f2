"""How values of callers appear in messages: cut short, and never a failure of their own."""

from __future__ import annotations

from reprlib import Repr

_LONGEST = 80
_BITS = 2048  # of an integer that Python writes whatever limit a process has set itself
_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = _LONGEST


def shown(value: object) -> str:
    """Return the repr of any value in at most 80 characters; of what has none, such as a huge integer, its type."""
    try:
        if isinstance(value, (str, bytes)):
            return repr(value[:_LONGEST])[:_LONGEST]
        if isinstance(value, int) and value.bit_length() > _BITS:
            return f"an integer of {value.bit_length()} bits"
        return _BRIEF.repr(value)[:_LONGEST]
    except Exception:
        return f"a value of type {type(value).__name__}"
