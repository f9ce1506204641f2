"""Memories as a block for a prompt, within a token budget.

The block is `<memories>`, then one line a memory, the most relevant first, then `</memories>`. A line is
`- [2025-03-04] Mei Lin: what she said`; without a speaker the role stands there. If the budget is short, the most
relevant memories that fit are taken; one too long for what is left is passed over for the next.

A memory cannot end the block or fake a line of it: line breaks and other control characters are folded into
spaces, and the block's own tags inside a text lose their bracket.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TypeVar

from helamem_core.errors import InvalidInput
from helamem_core.showing import shown
from helamem_core.text import count_tokens
from helamem_core.types import Recollection

OPENING = "<memories>\n"
CLOSING = "</memories>"
_TAG = re.compile(r"<(?=\s*/?\s*memories)", re.IGNORECASE)

Item = TypeVar("Item", bound=Recollection)


def as_context(items: Sequence[Recollection], max_tokens: int) -> str:
    """Return the block; empty if no memory fits.

    Args:
        items: best first.
        max_tokens: budget by `helamem_core.text.count_tokens`, at least 0.

    Raises:
        InvalidInput: the budget is no whole number of at least 0.
    """
    lines = [_line(item) for item in fitting(items, max_tokens)]
    return OPENING + "".join(lines) + CLOSING if lines else ""


def fitting(items: Sequence[Item], max_tokens: int) -> list[Item]:
    """Return the items that `as_context` shows within the budget, in their order.

    Raises:
        InvalidInput: the budget is no whole number of at least 0.
    """
    left = budget(max_tokens) - count_tokens(OPENING) - count_tokens(CLOSING)
    found = []
    for item in items:
        cost = count_tokens(_line(item))
        if cost <= left:
            found.append(item)
            left -= cost
    return found


def budget(max_tokens: object) -> int:
    """Return a token budget as it is.

    Raises:
        InvalidInput: it is no whole number of at least 0.
    """
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 0:
        raise InvalidInput(f"max_tokens is {shown(max_tokens)}; it must be a whole number of at least 0")
    return max_tokens


def _line(item: Recollection) -> str:
    who = _folded(item.speaker or item.role)
    return f"- [{item.at:%Y-%m-%d}] {who}: {_folded(item.text)}\n"


def _folded(text: str) -> str:
    spaced = "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text)
    return _TAG.sub("\u2039", " ".join(spaced.split()))
