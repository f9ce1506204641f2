"""What all commands have in common: help, options, exit codes, errors, streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from helamem_core.cli import app as app_module
from helamem_core.cli import failures, main
from helamem_core.errors import ContentConflict, EmbedderError, InvalidInput, MemoryNotFound, StoreBusy, StoreError
from tests.core.shell import TALK, Shell

PLAIN = [
    "archive",
    "backup",
    "doctor",
    "export",
    "fade",
    "forget",
    "import",
    "link-similar",
    "list",
    "neighbours",
    "recall",
    "reembed",
    "reinforce",
    "remember",
    "restore",
    "show",
    "spaces",
    "stats",
]
COMMANDS = [[name] for name in PLAIN] + [["bench"], ["bench", "locomo"], ["bench", "latency"], ["bench", "dialogue"]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_of_every_command_reads_well(shell: Shell, path: list[str]) -> None:
    text = shell.run(*path, "--help").out
    assert "Usage: helamem " + " ".join(path) in text
    assert "Args:" not in text
    lines = [line for line in text.splitlines() if line.strip()]
    assert max(map(len, lines)) <= 120
    if path != ["bench"]:
        assert "Exit codes: 0 ok" in text
        assert "--quiet" in text


def test_help_lists_every_command(shell: Shell) -> None:
    text = shell.run("--help").out
    assert all(f" {name} " in text for name in [*PLAIN, "bench"])
    assert "HELAMEM_SPACE" in text


def test_without_a_command_the_help_is_shown(shell: Shell) -> None:
    assert "Usage: helamem" in shell.run(code=2).out


def test_version(shell: Shell) -> None:
    assert shell.run("--version").out == f"helamem {version('helamem')}\n"


def test_options_stand_before_or_behind_the_command(shell: Shell, tmp_path: Path) -> None:
    shell.talk()
    before = shell.run("--space", "me", "--json", "list").out
    assert json.loads(before) == shell.json("list", "--space", "me")
    other = f"sqlite:///{tmp_path / 'other.db'}"
    shell.run("--store", "sqlite:///nowhere/x.db", "remember", "--text", "hello", "--store", other)
    assert shell.json("spaces", "--store", other) == ["me"]


def test_a_space_must_be_named(shell: Shell) -> None:
    shell.space = None
    for command in (["stats"], ["recall", "x"], ["remember", "--text", "x"]):
        error = shell.fails(2, *command)
        assert "--space NAME" in error
        assert "HELAMEM_SPACE" in error


def test_a_mistyped_space_is_no_empty_memory(shell: Shell) -> None:
    shell.talk()
    error = shell.fails(3, "recall", "Lisbon", "--space", "mee")
    assert "no space 'mee'" in error
    assert "'me'" in error


def test_a_mistyped_file_is_not_made(shell: Shell) -> None:
    assert "no store at" in shell.fails(4, "recall", "Lisbon")
    assert not shell.store.exists()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["recal", "x"], "recal"),
        (["recall"], "QUERY"),
        (["recall", "x", "-k", "0"], "-k"),
        (["recall", "x", "--colour"], "--colour"),
        (["stats", "--preset", "best"], "best"),
        (["remember", "x.txt", "--format", "xml"], "xml"),
    ],
)
def test_bad_usage_is_one_line_with_the_help_to_look_at(shell: Shell, args: list[str], told: str) -> None:
    error = shell.fails(2, *args)
    assert told in error
    assert "--help`" in error


def test_preset_of_the_environment(shell: Shell) -> None:
    shell.talk()
    shell.env = {"HELAMEM_PRESET": "paper"}
    parts = shell.json("recall", "Lisbon")["items"][0]["why"]
    assert parts["keywords"] > 0
    shell.env = {"HELAMEM_PRESET": "best"}
    assert "HELAMEM_PRESET" in shell.fails(2, "recall", "Lisbon")


def test_an_unknown_embedder_and_url(shell: Shell) -> None:
    assert "minilm" in shell.fails(2, "remember", "--text", "x", "--embedder", "gpt")
    assert "ftp" in shell.fails(2, "remember", "--text", "x", "--store", "ftp://host/x")


def test_codes_of_errors() -> None:
    assert failures.code_of(InvalidInput("x")) == 2
    assert failures.code_of(ContentConflict("x")) == 1
    assert failures.code_of(MemoryNotFound(["a"], "s")) == 3
    assert failures.code_of(StoreBusy("x")) == failures.code_of(StoreError("x")) == 4
    assert failures.code_of(EmbedderError("x")) == failures.code_of(ZeroDivisionError()) == 1
    assert failures.code_of(KeyboardInterrupt()) == 130


def test_an_unexpected_error_is_one_line_unless_debugging(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("helamem_core.memory.Memory.stats", fail)
    shell.talk()
    error = shell.fails(1, "stats")
    assert error == "error: unexpected ZeroDivisionError: oh no; HELAMEM_DEBUG=1 shows where it came from"


def test_debugging_shows_the_traceback(shell: Shell) -> None:
    done = shell.process("stats", HELAMEM_DEBUG="1")
    assert done.returncode == 4
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: no store at")


def test_runs_as_a_module_in_a_process_of_its_own(shell: Shell) -> None:
    done = shell.process("remember", "-", "--session", "s", stdin="服务器在腾讯云\nthe cello [red]is[/red] loud\n")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "2 stored, 0 unchanged, 0 failed")
    done = shell.process("recall", "腾讯云", "--json", PYTHONIOENCODING="utf-8")
    assert json.loads(done.stdout)["items"][0]["text"] == "服务器在腾讯云"
    done = shell.process("recall", "cello", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["query"] == "cello"


def test_an_entry_point_is_installed() -> None:
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="helamem")
    assert script.load() is main


def test_a_missing_extra_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('no typer', name='typer')\n")
    paths = os.pathsep.join([str(tmp_path), str(Path(app_module.__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-m", "helamem_core.cli", "stats"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "error: the command line needs an optional dependency: pip install 'helamem[cli]'\n"


def test_a_reader_that_leaves_is_no_error(shell: Shell) -> None:
    shell.run("remember", shell.write("long.txt", *[f"line number {number} " + "x" * 90 for number in range(2000)]))
    command = [sys.executable, "-m", "helamem_core.cli", "list", "--limit", "2000"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | shell.variables
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) in (0, 141)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_interrupting_ends_with_130(shell: Shell) -> None:
    command = [sys.executable, "-m", "helamem_core.cli", "remember", "-"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | shell.variables | {"PYTHONUNBUFFERED": "1"},
        text=True,
        # A job in the background is started with interrupts ignored, and hands that on to its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread is running yet
    ) as running:
        assert running.stdin is not None
        running.stdin.write("one\n" * 20_000)  # more than a pipe holds: now it reads
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert told.strip() == "error: interrupted"


def test_texts_are_shown_literally_on_a_terminal(shell: Shell) -> None:
    shell.run("remember", "--text", "[bold red]loud[/] :smile: \x1b[31mred\x1b[0m \u202egnp", "--text", "plain")
    shell.env = {"FORCE_COLOR": "1"}
    out = shell.run("recall", "loud").out
    assert "[bold red]loud[/] :smile:" in out.replace("\n", "")
    assert "\x1b[31mred" not in out
    assert "\\x1b[31mred" in out
    assert "\u202e" not in out
    shell.env = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    assert "\x1b[3" not in shell.run("recall", "plain").out


def test_a_pipe_gets_lines_of_fields_without_colour(shell: Shell) -> None:
    shell.run("remember", shell.write("x.jsonl", TALK[0] | {"text": "two\nlines\tand a tab"}))
    answer = shell.run("list")
    assert answer.out.splitlines()[0] == "id\tsaid\tsession\twho\tuses\ttext"
    assert answer.rows == [["a1", "2025-03-01 10:00", "s1", "Ann", "0", "two\\nlines\\tand a tab"]]
    assert "\x1b" not in answer.out


def test_quiet_leaves_answers_and_errors(shell: Shell) -> None:
    assert shell.run("remember", "--text", "x", "-q").err == ""
    assert shell.fails(3, "show", "nobody", "--quiet")
