"""What a server said last, for the message that tells why it ended."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_LINES: Final = 6
_LENGTH: Final = 1200  # characters of them
_NOISE: Final = ("at ", "... ", "WARNING:")  # traces of the stack and warnings of Java


def last_words(log: Path) -> str:
    """Return the last lines of a log that people can make sense of."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return f"(cannot be read: {error.strerror})"
    told = [text for line in lines if (text := line.strip()) and not text.startswith(_NOISE)]
    return "\n".join(told[-_LINES:])[-_LENGTH:] or "(it said nothing)"
