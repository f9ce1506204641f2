"""`helamem doctor` finds what is wrong and says the way out."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helamem_core.cli import checks, store_checks
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.stores.sqlite.purge import purge
from helamem_core.types import EmbedderIdentity
from tests.core.shell import TALK, Shell

MINILM = EmbedderIdentity("sentence-transformers/all-MiniLM-L6-v2", 384)
CHINESE = ["苔寺要提前申请参观，我已经寄了明信片。", "好的，升级前先做一次快照。", "他叫Tom，住在上海。"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.talk()
    return made


def found(shell: Shell, level: str, *args: str, code: int = 0) -> list[dict[str, Any]]:
    """Findings of one level."""
    report = shell.json("doctor", *args, code=code)
    assert report["ok"] is (code == 0)
    # Whether the tests run from a source folder or an installation is not their subject.
    return [item for item in report["findings"] if item["level"] == level and item["about"] != "helamem"]


def test_a_healthy_memory(shell: Shell) -> None:
    answer = shell.run("doctor")
    assert "store: consistent" in answer.out
    assert "space me: vectors of the chosen model hashing" in answer.out
    assert " ok" in answer.err
    assert not found(shell, "warn") + found(shell, "fail")


def test_without_a_store_it_only_warns(tmp_path: Path) -> None:
    shell = Shell(tmp_path, space=None)
    (finding,) = found(shell, "warn")
    assert "no file at" in finding["message"]
    assert "`helamem remember`" in finding["way_out"]
    assert not shell.store.exists()


def test_a_missing_extra(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sentence_transformers" else find(name)
    )
    (finding,) = found(shell, "fail", "--embedder", "minilm", code=1)
    assert finding["about"] == "extra local"
    assert finding["way_out"].startswith("pip install 'helamem[local]'")
    (unneeded,) = [item for item in found(shell, "ok") if item["about"] == "extra local"]
    assert "not needed" in unneeded["message"]
    assert "pip install 'helamem[local]'" in unneeded["message"]


def test_an_embedder_that_fails(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no [route] to host")

    monkeypatch.setattr(HashingEmbedder, "embed", broken)
    (finding,) = found(shell, "fail", code=1)
    assert finding["message"] == "hashing cannot embed: RuntimeError: no [route] to host"
    assert "--embedder" in finding["way_out"]
    (finding,) = found(shell, "fail", "--embedder", "nonsense", code=1)
    assert "nonsense" in finding["message"]


def test_an_embedder_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    gone = threading.Event()
    monkeypatch.setattr(HashingEmbedder, "embed", lambda *_, **__: gone.wait(20))
    monkeypatch.setattr(checks, "PATIENCE", 0.05)
    _, (finding,) = checks.embedding("hashing")
    gone.set()
    assert "no answer within" in finding.message


def test_a_foreign_file(shell: Shell, tmp_path: Path) -> None:
    text = tmp_path / "letter.txt"
    text.write_text("Dear Ann, " * 50)
    (finding,) = found(shell, "fail", "--store", f"sqlite:///{text}", code=1)
    assert finding["message"].startswith("foreign: ")
    assert "--store" in finding["way_out"]
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE songs (title)")
        db.commit()
    before = other.read_bytes()
    (finding,) = found(shell, "fail", "--store", f"sqlite:///{other}", code=1)
    assert finding["message"].startswith("foreign: ")
    assert other.read_bytes() == before
    assert text.read_text().startswith("Dear Ann")
    assert "letter.txt" in shell.fails(4, "stats", "--store", f"sqlite:///{text}")


def test_a_newer_file(shell: Shell) -> None:
    with closing(sqlite3.connect(shell.store)) as db:
        db.execute("PRAGMA user_version = 999")
    (finding,) = found(shell, "fail", code=1)
    assert finding["message"].startswith("newer: ")
    assert "999" in finding["message"]
    assert finding["way_out"] == "pip install --upgrade helamem"
    assert "999" in shell.fails(4, "list")


def test_a_locked_file(shell: Shell) -> None:
    with closing(sqlite3.connect(shell.store, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        findings = found(shell, "fail", code=1)
        db.execute("ROLLBACK")
    assert findings[0]["message"].startswith("locked: another process")
    assert "wait for it, or end it" in findings[0]["way_out"]
    assert not found(shell, "fail")


def test_commands_on_a_locked_file_say_so(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SQLiteStore.__init__.__kwdefaults__ or {}, "timeout", 0.2)
    with closing(sqlite3.connect(shell.store, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        assert "lock" in shell.fails(4, "reinforce", "a1", "a2")
        assert "lock" in shell.fails(4, "remember", "--text", "later")
        assert shell.run("recall", "Lisbon").rows
        db.execute("ROLLBACK")


def test_erased_bytes_that_a_reader_keeps_alive(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(purge.__kwdefaults__ or {}, "wait", 0.2)
    with closing(sqlite3.connect(shell.store, isolation_level=None)) as db:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        answer = shell.run("forget", "a1")
        assert "the erased bytes are still in it" in answer.err
        (finding,) = found(shell, "warn")
        assert "bytes are still in the file" in finding["message"]
        db.execute("ROLLBACK")
    assert not found(shell, "warn")


def test_a_damaged_file(shell: Shell) -> None:
    size = shell.store.stat().st_size
    with shell.store.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    findings = found(shell, "fail", code=1)
    assert findings
    assert any("backup" in finding["way_out"] for finding in findings)
    assert shell.fails(4, "list")


def test_an_inconsistent_store(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helamem_core.memory.Memory.check", lambda _: ["a link leads nowhere"])
    (finding,) = found(shell, "fail", code=1)
    assert finding["message"] == "a link leads nowhere"
    assert "export" in finding["way_out"]


def test_another_model(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "resolve", lambda _: HashingEmbedder("another"))
    (finding,) = found(shell, "fail", code=1)
    assert "holds vectors of hashing (256), the chosen embedder is another (256)" in finding["message"]
    assert "`helamem --space me reembed`" in finding["way_out"]


def test_texts_that_wait_for_a_vector(shell: Shell) -> None:
    shell.run("remember", "--text", "later", "--embedder", "words")
    (finding,) = found(shell, "warn")
    assert "1 text waits for a vector" in finding["message"]
    assert "reembed --pending" in finding["way_out"]


@pytest.mark.parametrize(
    ("name", "texts", "level"),
    [
        (MINILM.name, CHINESE, "warn"),
        (MINILM.name, ["I moved to Lisbon."] * 8 + ["好的。"], "ok"),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", CHINESE, "ok"),
        ("BAAI/bge-small-zh-v1.5", CHINESE, "ok"),
        ("BAAI/bge-small-en-v1.5", CHINESE, "warn"),
        ("text-embedding-3-small", CHINESE, "ok"),
    ],
)
def test_the_language_of_the_model(name: str, texts: list[str], level: str) -> None:
    (finding,) = store_checks.language("space me", texts, EmbedderIdentity(name, 8))
    assert finding.level == level
    if level == "warn":
        assert "bge-small-zh" in str(finding.way_out)
        assert "multilingual" in str(finding.way_out)


def test_a_misfit_of_language_is_found_in_a_space(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "resolve", lambda _: HashingEmbedder(MINILM.name))
    monkeypatch.setattr("helamem_core.embedders.resolve", lambda _: HashingEmbedder(MINILM.name))
    lines = [{"id": f"z{number}", "text": text} for number, text in enumerate(CHINESE)]
    shell.run("remember", shell.write("zh.jsonl", *lines), "--space", "zh")
    (finding,) = found(shell, "warn", "--space", "zh")
    assert "reads English" in finding["message"]


def test_a_full_disk(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1))
    (finding,) = found(shell, "warn")
    assert finding["about"] == "disk"


def test_all_spaces_without_a_chosen_one(shell: Shell) -> None:
    shell.run("remember", shell.write("talk.jsonl", TALK[0]), "--space", "you")
    shell.space = None
    abouts = {finding["about"] for finding in shell.json("doctor")["findings"]}
    assert {"space me", "space you"} <= abouts
    (finding,) = found(shell, "warn", "--space", "they")
    assert "does not exist; there are: 'me', 'you'" in finding["message"]


def test_a_password_in_the_url_is_not_shown(shell: Shell) -> None:
    answer = shell.run("doctor", "--store", "neo4j://ann:secret@host:1", code=1)
    assert "secret" not in answer.out + answer.err
    assert "secret" not in json.dumps(shell.json("doctor", "--store", "neo4j://ann:secret@host:1", code=1))
    assert "secret" not in shell.fails(2, "stats", "--store", "what://ann:secret@host:1")
