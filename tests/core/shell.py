"""A shell for the tests of the command line: runs `helamem` in this process or as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from helamem_core.cli.app import app

TALK = [
    {"id": "a1", "session": "s1", "at": "2025-03-01T10:00:00Z", "speaker": "Ann", "text": "I moved to Lisbon in May."},
    {"id": "a2", "session": "s1", "at": "2025-03-01T10:01:00Z", "speaker": "Bob", "text": "Do you play the cello?"},
    {
        "id": "a3",
        "session": "s1",
        "at": "2025-03-01T10:02:00Z",
        "speaker": "Ann",
        "text": "Yes, [bold]every[/bold] day.",
    },
    {"id": "c1", "session": "s2", "at": "2025-04-02T09:00:00Z", "speaker": "小雨", "text": "服务器部署在腾讯云。"},
]


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        """Fields of the tab-separated lines below the header."""
        return [line.split("\t") for line in self.out.splitlines()[1:]]


@dataclass
class Shell:
    """Runs commands on one store, by default in the space `me` with the test embedder."""

    folder: Path
    space: str | None = "me"
    embedder: str = "hashing"
    env: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.folder / "memory.db"

    @property
    def variables(self) -> dict[str, str]:
        chosen = {"HELAMEM_URL": f"sqlite:///{self.store}", "HELAMEM_EMBEDDER": self.embedder, "COLUMNS": "120"}
        chosen |= {"HELAMEM_SPACE": self.space or "", "HELAMEM_PRESET": "", "HELAMEM_DEBUG": "", "NO_COLOR": ""}
        return chosen | self.env

    def run(self, *args: str, code: int = 0, stdin: str | bytes = "") -> Answer:
        """Run a command in this process and check its exit code."""
        result = CliRunner().invoke(app, list(args), input=stdin, env=self.variables, prog_name="helamem")
        answer = Answer(result.exit_code, result.stdout, result.stderr)
        assert answer.code == code, (args, answer, result.exception)
        assert "Traceback" not in answer.err
        return answer

    def json(self, *args: str, code: int = 0, stdin: str = "") -> Any:
        """Run a command with `--json` and return the document, which must be all of standard output."""
        return json.loads(self.run(*args, "--json", code=code, stdin=stdin).out)

    def fails(self, code: int, *args: str, stdin: str | bytes = "") -> str:
        """Run a command that must fail and return its one line of error."""
        answer = self.run(*args, code=code, stdin=stdin)
        lines = [line for line in answer.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, answer
        return lines[0]

    def process(self, *args: str, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "helamem_core.cli", *args],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=os.environ | self.variables | env,
            timeout=120,
            check=False,
        )

    def write(self, name: str, *records: dict[str, Any] | str) -> str:
        """Write a file of JSON lines, or of lines as they are; return its path."""
        lines = [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in records]
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(path)

    def talk(self) -> None:
        """Remember the conversation."""
        self.run("remember", self.write("talk.jsonl", *TALK))
