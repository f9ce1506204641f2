"""The password of a local server, in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

_BYTES: Final = 18  # of chance in a password


def choose(path: Path) -> None:
    """Choose a password and keep it in a file, unless one is there.

    It is kept before the server has it: if this process ends in between, the next start gives it.
    """
    if path.exists():
        return
    part = path.with_name(f".{path.name}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{secrets.token_urlsafe(_BYTES)}\n")
    part.replace(path)


def kept(path: Path) -> str | None:
    """Return the password in a file, None if there is no file."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
