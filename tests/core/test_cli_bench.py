"""`helamem bench`: the commands hand their options over and show the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.shell import TALK, Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, space=None)


@pytest.fixture
def dialogue(shell: Shell) -> str:
    record = {"turns": TALK, "questions": [{"question": "Who moved to Lisbon?", "evidence": ["a1"]}]}
    return shell.write("dialogue.json", json.dumps(record))


def test_dialogue_prints_a_table_and_writes_the_report(shell: Shell, dialogue: str, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    answer = shell.run("bench", "dialogue", dialogue, "-k", "2", "--json", str(out))
    assert "helamem" in answer.out
    assert answer.err.endswith(f"wrote {out}\n")
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["benchmark"] == "dialogue"
    assert report["embedder"] == "hashing"
    assert report["configuration"]["cuts"] == [2]


def test_a_report_on_standard_output(shell: Shell, dialogue: str) -> None:
    args = ["bench", "dialogue", dialogue, "--no-baselines", "--reinforce", "evidence", "--embedder", "words"]
    report = json.loads(shell.run(*args, "--json", "-").out)
    assert report["configuration"]["reinforce"] == "evidence"
    assert json.loads(shell.run("--json", *args).out)["embedder"] == "words"


def test_latency(shell: Shell) -> None:
    report = json.loads(shell.run("bench", "latency", "--size", "50", "--rounds", "2", "-k", "3", "--json", "-").out)
    assert report["configuration"]["sizes"] == [50]
    assert not shell.store.exists()


def test_locomo_needs_its_data(shell: Shell, tmp_path: Path) -> None:
    shell.env = {"HELAMEM_DATA": ""}
    assert "--data" in shell.fails(2, "bench", "locomo")
    assert "no data file" in shell.fails(2, "bench", "locomo", "--data", str(tmp_path / "none.json"))
    assert "LoCoMo" in shell.fails(2, "bench", "locomo", "--data", shell.write("x.json", "[1]"))


@pytest.mark.data
def test_locomo(shell: Shell, data_folder: Path) -> None:
    args = ["--conversation", "1", "--limit", "3", "-k", "5", "--no-baselines"]
    report = json.loads(shell.run("bench", "locomo", "--data", str(data_folder), *args, "--json", "-").out)
    assert report["configuration"]["conversations"] == [1]


def test_bad_usage(shell: Shell, dialogue: str) -> None:
    assert "FILE" in shell.fails(2, "bench", "dialogue")
    assert "fast" in shell.fails(2, "bench", "fast")
    assert "--rounds" in shell.fails(2, "bench", "latency", "--rounds", "0")
    assert "everything" in shell.fails(2, "bench", "dialogue", dialogue, "--reinforce", "everything")
