"""The `helamem` command (extra `cli`): the verbs of the memory for people and shell scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

# The notes of model libraries: the command has its own.
_HUSH = {"TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false"}
_PARTS = ("typer", "rich", "click", "shellingham")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code.

    Args:
        args: arguments without the program's name; default: those of the process.
    """
    for name, value in _HUSH.items():
        os.environ.setdefault(name, value)
    try:
        from helamem_core.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PARTS:
            raise
        print("error: the command line needs an optional dependency: pip install 'helamem[cli]'", file=sys.stderr)
        sys.exit(1)
    app(args, prog_name="helamem")
