"""`helamem forget`, `archive`, `restore`, `fade`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helamem_core.cli.output import Output
from tests.core.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.talk()
    return made


def ids(shell: Shell) -> list[str]:
    return [item["id"] for item in shell.json("list")]


def test_forget_by_id(shell: Shell) -> None:
    assert shell.run("forget", "a2").out.startswith("erased 1 memory, ")
    assert ids(shell) == ["a1", "a3", "c1"]
    report = shell.json("forget", "a3", "c1")
    assert sorted(report["ids"]) == ["a3", "c1"]
    assert report["purged"] is True
    assert "Lisbon" in shell.run("list").out
    assert b"\xe8\x85\xbe\xe8\xae\xaf" not in shell.store.read_bytes()


def test_unknown_ids_are_told_and_the_others_go(shell: Shell) -> None:
    assert "no memory 'zz' in space 'me'" in shell.fails(3, "forget", "zz", "a1")
    assert ids(shell) == ["a2", "a3", "c1"]


def test_forget_by_filter_or_everything_needs_a_yes(shell: Shell) -> None:
    assert "--yes" in shell.fails(2, "forget", "--filter", '{"speaker": "Ann"}')
    assert "--yes" in shell.fails(2, "forget", "--everything")
    assert len(ids(shell)) == 4
    assert shell.json("forget", "--filter", '{"speaker": "Ann"}', "--yes")["ids"]
    assert ids(shell) == ["a2", "c1"]
    shell.run("remember", "--text", "x", "--space", "other")
    shell.run("forget", "--everything", "-y")
    assert shell.json("spaces") == ["other"]


@pytest.mark.parametrize(("reply", "left"), [("y\n", 2), ("n\n", 4), ("\n", 4), ("", 4)])
def test_a_person_is_asked(shell: Shell, monkeypatch: pytest.MonkeyPatch, reply: str, left: int) -> None:
    asked = []

    def ask(_: Output, question: str) -> bool:
        asked.append(question)
        return reply == "y\n"

    monkeypatch.setattr("helamem_core.cli.forget._is_attended", lambda: True)
    monkeypatch.setattr(Output, "ask", ask)
    shell.run("forget", "--filter", '{"speaker": "Ann"}', code=0 if reply == "y\n" else 1)
    assert asked == ["Erase 2 memories of space 'me' for good?"]
    assert len(ids(shell)) == left


def test_the_question_goes_to_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))
    assert Output(as_json=True).ask("Erase [all]?")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "Erase [all]? [y/N] ")


def test_exactly_one_way_to_say_what(shell: Shell) -> None:
    for args in ([], ["a1", "--everything"], ["--everything", "--filter", "{}"]):
        assert "one of the three" in shell.fails(2, "forget", *args, "--yes")
    assert "--everything" in shell.fails(2, "forget", "--filter", "{}", "--yes")


def test_archive_and_restore(shell: Shell) -> None:
    assert shell.run("archive", "a1", "a2").out == "archived 2 memories\n"
    assert ids(shell) == ["a3", "c1"]
    assert [item["id"] for item in shell.json("list", "--archived")] == ["a1", "a2"]
    assert shell.json("archive", "a1") == {"archived": []}
    assert shell.json("restore", "a1") == {"restored": ["a1"]}
    assert "'zz'" in shell.fails(3, "restore", "zz", "a2")
    assert "'zz'" in shell.fails(3, "archive", "zz")
    assert ids(shell) == ["a1", "a3", "c1"]


def test_fade(shell: Shell) -> None:
    shell.run("remember", shell.write("old.jsonl", {"id": "o", "text": "old", "expires_at": "2020-01-01"}))
    assert shell.run("fade").out == "archived 0 memories, erased 1 expired, removed 0 dead links\n"
    assert shell.json("fade") == {"archived": [], "expired": [], "pruned": 0}
