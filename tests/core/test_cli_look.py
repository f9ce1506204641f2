"""`helamem show`, `neighbours`, `list`, `stats`, `spaces`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.talk()
    return made


def test_show(shell: Shell) -> None:
    lines = dict(line.split("\t", 1) for line in shell.run("show", "a3").out.splitlines())
    assert lines["text"] == "Yes, [bold]every[/bold] day."
    assert lines["said"] == "2025-03-01 10:02:00"
    assert lines["previous"] == "a2"
    assert shell.json("show", "c1")["speaker"] == "小雨"
    shell.env = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    assert "[bold]every[/bold]" in shell.run("show", "a3").out


def test_show_of_an_unknown_id(shell: Shell) -> None:
    assert "has no memory 'zz'; `helamem list` shows what it has" in shell.fails(3, "show", "zz")


def test_show_prints_metadata(shell: Shell) -> None:
    shell.run("remember", shell.write("m.jsonl", {"id": "m1", "text": "x", "metadata": {"topic": "茶", "n": 3}}))
    assert "metadata.topic\t茶\nmetadata.n\t3\n" in shell.run("show", "m1").out


def test_neighbours(shell: Shell) -> None:
    shell.run("reinforce", "a1", "c1", "--cue", "who [moved]?")
    rows = shell.run("neighbours", "a1").rows
    assert {row[0] for row in rows} == {"NEXT", "ASSOCIATED", "CUED"}
    cued = next(row for row in rows if row[0] == "CUED")
    assert cued[5] == "who [moved]?"
    assert [link["id"] for link in shell.json("neighbours", cued[4])] == ["a1", "c1"]
    assert "zz" in shell.fails(3, "neighbours", "zz")
    shell.run("remember", "--text", "alone")
    alone = shell.json("list", "--order", "remembered", "--reverse")[0]["id"]
    assert shell.run("neighbours", alone).err == f"{alone} has no links\n"


def test_list_pages_orders_and_filters(shell: Shell) -> None:
    assert [row[0] for row in shell.run("list").rows] == ["a1", "a2", "a3", "c1"]
    assert [row[0] for row in shell.run("list", "--reverse", "--limit", "2", "--offset", "1").rows] == ["a3", "a2"]
    assert "--offset 2" in shell.run("list", "--limit", "2").err
    assert [item["id"] for item in shell.json("list", "--filter", '{"session": "s2"}')] == ["c1"]
    assert shell.json("list", "--archived") == []
    assert "not JSON" in shell.fails(2, "list", "--filter", "x")
    assert "loudness" in shell.fails(2, "list", "--order", "loudness")


def test_stats(shell: Shell) -> None:
    lines = dict(line.split("\t", 1) for line in shell.run("stats").out.splitlines())
    assert lines["memories"] == "4"
    assert lines["links NEXT"] == "2"
    assert lines["model"] == "hashing (256 numbers)"
    assert shell.json("stats")["sessions"] == 2


def test_spaces(shell: Shell) -> None:
    shell.run("remember", "--text", "x", "--space", "你好 [b]")
    shell.space = None
    assert shell.run("spaces").out == "me\n你好 [b]\n"
    assert shell.json("spaces") == ["me", "你好 [b]"]


def test_looking_needs_no_model(shell: Shell) -> None:
    shell.embedder = "sentence-transformers:nobody/has-this"
    shell.run("show", "a1")
    shell.run("list")
    shell.run("stats")
    shell.run("neighbours", "a1")
