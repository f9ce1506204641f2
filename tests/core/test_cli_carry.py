"""`helamem export`, `import`, `backup`, `reembed`, `link-similar`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.talk()
    made.run("reinforce", "a1", "c1", "--cue", "who moved?")
    return made


def test_export_and_import_keep_the_links(shell: Shell, tmp_path: Path) -> None:
    path = str(tmp_path / "me.jsonl")
    assert shell.json("export", path) == {"exported": 4, "path": path}
    target = f"sqlite:///{tmp_path / 'new.db'}"
    assert shell.run("import", path, "--store", target, "--space", "you").err == f"imported 4 memories: {path}\n"
    weights = [(link["id"], link["kind"], link["weight"]) for link in shell.json("neighbours", "a1")]
    there = shell.json("neighbours", "a1", "--store", target, "--space", "you")
    assert [(link["id"], link["kind"], link["weight"]) for link in there] == weights


def test_export_replaces_no_file_unasked(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "me.jsonl"
    path.write_text("precious")
    assert "--replace" in shell.fails(2, "export", str(path))
    assert path.read_text() == "precious"
    shell.run("export", str(path), "--replace")
    assert path.read_text() != "precious"
    assert "cannot" in shell.fails(4, "export", str(tmp_path / "no" / "me.jsonl"))


def test_standard_streams(shell: Shell) -> None:
    lines = shell.run("export", "-").out
    assert all(isinstance(json.loads(line), dict) for line in lines.splitlines())
    assert shell.run("import", "-", "--space", "copy", stdin=lines).err == "imported 4 memories: -\n"
    assert "leave out --json" in shell.fails(2, "export", "-", "--json")


def test_import_refuses(shell: Shell, tmp_path: Path) -> None:
    path = str(tmp_path / "me.jsonl")
    shell.run("export", path)
    assert "'me'" in shell.fails(1, "import", path)
    assert "no such file" in shell.fails(2, "import", str(tmp_path / "none"))
    assert "line 1: no JSON" in shell.fails(1, "import", shell.write("bad.jsonl", "{"), "--space", "new")
    assert shell.fails(1, "import", shell.write("talk2.jsonl", {"text": "no export"}), "--space", "new")
    assert shell.json("spaces") == ["me"]


def test_backup_can_be_opened(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "backup [1].db"
    assert shell.run("backup", str(path)).out == f"backed up to {path}\n"
    assert len(shell.json("list", "--store", f"sqlite:///{path}")) == 4
    assert "exists" in shell.fails(2, "backup", str(path))
    assert shell.json("backup", str(tmp_path / "b.db")) == {"path": str(tmp_path / "b.db")}


def test_reembed_takes_another_model(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from helamem_core.embedders.hashing import HashingEmbedder

    monkeypatch.setattr("helamem_core.embedders.resolve", lambda _: HashingEmbedder("another"))
    assert shell.json("reembed")["embedded"] == 5
    assert shell.json("stats")["embedder"]["name"] == "another"
    assert shell.run("recall", "Lisbon").err == ""


def test_reembed_by_words_is_told(shell: Shell) -> None:
    assert "words" in shell.fails(2, "reembed", "--embedder", "words")


def test_link_similar(shell: Shell) -> None:
    shell.run("remember", "--text", "I moved to Lisbon in May.", "--speaker", "Ann")
    made = shell.json("link-similar")["made"]
    assert made >= 1
    assert shell.run("link-similar").out == "made 0 similarity links\n"
