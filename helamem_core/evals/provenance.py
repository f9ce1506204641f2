"""Where figures come from: versions, data, command."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import sqlite3
import sys
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from helamem_core.urls import redacted


def versions() -> dict[str, str]:
    """Return the versions that figures depend on."""
    return {
        "helamem": _version("helamem"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "sqlite": sqlite3.sqlite_version,
        "sentence-transformers": _version("sentence-transformers"),
        "platform": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def fingerprint(path: Path) -> dict[str, str]:
    """Return a data file's name and the sha256 of its bytes."""
    return {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def command_line() -> str:
    """Return the command line of this process: programs by their names, passwords in urls masked."""
    words = [Path(word).name if Path(word).is_absolute() and at <= 1 else word for at, word in enumerate(sys.orig_argv)]
    return shlex.join(map(redacted, words))


def described(options: Any) -> dict[str, Any]:
    """Return options as JSON-able values, without passwords, and without what has no bearing on figures."""
    values = {name: getattr(options, name) for name in options.__dataclass_fields__}
    values = {name: value for name, value in values.items() if name not in {"progress", "embedder", "seed"}}
    values["store"] = None if values["store"] is None else redacted(values["store"])
    values["config"] = asdict(values["config"])
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"
