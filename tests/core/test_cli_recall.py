"""`helamem recall` and `helamem reinforce`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.talk()
    return made


def ids(shell: Shell, *args: str) -> list[str]:
    return [item["id"] for item in shell.json("recall", *args)["items"]]


def test_recalls_best_first(shell: Shell) -> None:
    rows = shell.run("recall", "where did Ann move? Lisbon").rows
    assert rows[0][3] == "a1"
    assert rows[0][6] == "I moved to Lisbon in May."
    assert ids(shell, "腾讯云的服务器")[0] == "c1"
    assert len(ids(shell, "cello", "-k", "2")) == 2


def test_a_terminal_gets_a_table(shell: Shell) -> None:
    shell.env = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    out = shell.run("recall", "Lisbon").out
    assert "score" in out
    assert "─" in out
    assert "[bold]every[/bold]" in out


def test_a_narrow_terminal_gets_texts_with_the_rest_below(shell: Shell) -> None:
    shell.env = {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "60", "LINES": "25", "TERM": "dumb"}
    lines = shell.run("recall", "Lisbon").out.splitlines()
    assert lines[0] == "I moved to Lisbon in May."
    assert lines[1].startswith("  # 1 · score ")
    assert max(map(len, lines)) <= 60


def test_why_shows_parts_and_lifts(shell: Shell) -> None:
    shell.run("reinforce", "a1", "c1", "--cue", "where is the server of Lisbon?")
    found = shell.json("recall", "where is the server of Lisbon?")["items"]
    lifts = {lift["kind"] for item in found for lift in item["why"]["lifts"]}
    assert "CUED" in lifts
    rows = shell.run("recall", "where is the server of Lisbon?", "--why").rows
    assert any("over CUED from cue:" in row[7] for row in rows)
    assert "base " in rows[0][7]
    shell.env = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    assert "over CUED from cue:" in shell.run("recall", "where is the server of Lisbon?", "--why").out


def test_bounds_of_time(shell: Shell) -> None:
    assert ids(shell, "cello", "--since", "2025-04-01") == ["c1"]
    assert "c1" not in ids(shell, "cello", "--until", "2025-03-01")
    assert "a3" in ids(shell, "cello", "--until", "2025-03-01")
    assert set(ids(shell, "cello", "--as-of", "2025-03-01T10:00:30+00:00")) == {"a1"}
    assert "tomorrow" in shell.fails(2, "recall", "cello", "--since", "tomorrow")


def test_filters(shell: Shell) -> None:
    assert set(ids(shell, "cello", "--filter", '{"speaker": "Ann"}')) == {"a1", "a3"}
    assert "not JSON" in shell.fails(2, "recall", "x", "--filter", "{speaker}")
    assert "no JSON object" in shell.fails(2, "recall", "x", "--filter", "[1]")
    assert "$near" in shell.fails(2, "recall", "x", "--filter", '{"speaker": {"$near": 1}, "$near": 2}')


def test_context_is_a_block_for_a_prompt(shell: Shell) -> None:
    out = shell.run("recall", "Lisbon", "--context", "500").out
    assert out.startswith("<memories>\n- [2025-03-01] Ann: I moved to Lisbon in May.\n")
    assert out.endswith("</memories>\n")
    assert shell.run("recall", "Lisbon", "--context", "1").out == ""
    assert shell.json("recall", "Lisbon", "--context", "500")["context"] == out.rstrip("\n")


def test_an_empty_query_recalls_nothing(shell: Shell) -> None:
    answer = shell.run("recall", "")
    assert (answer.out, answer.err) == ("", "nothing recalled\n")
    assert shell.json("recall", "")["items"] == []


@pytest.mark.parametrize("query", ["memory:safe", 'say "hi', "foo AND", "(python", "--", "C++ a:b~", "`"])
def test_any_text_can_be_asked(shell: Shell, query: str) -> None:
    assert "items" in json.loads(shell.run("recall", "--json", "--", query).out)


def test_reinforce_teaches(shell: Shell) -> None:
    assert shell.run("reinforce", "a1", "a3").out == "strengthened 1 link between memories\n"
    report = shell.json("reinforce", "a1", "--cue", "a2", "--event", "e1")
    assert (report["applied"], report["cue"]) == (True, "a2")
    again = shell.run("reinforce", "a1", "--cue", "a2", "--event", "e1")
    assert again.out == "event e1 was applied before: nothing changed\n"
    assert shell.json("show", "a1")["uses"] == 2


def test_reinforce_with_unknown_ids_changes_nothing(shell: Shell) -> None:
    error = shell.fails(3, "reinforce", "a1", "nobody")
    assert "'nobody'" in error
    assert "`helamem list`" in error
    assert shell.json("show", "a1")["uses"] == 0
    assert "IDS" in shell.fails(2, "reinforce")


def test_another_models_vectors_are_warned_of(shell: Shell) -> None:
    shell.embedder = "words"
    assert ids(shell, "Lisbon")[0] == "a1"


def test_mismatch_warns_and_names_the_command(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from helamem_core.embedders.hashing import HashingEmbedder

    monkeypatch.setattr("helamem_core.embedders.resolve", lambda _: HashingEmbedder("another"))
    answer = shell.run("recall", "Lisbon")
    assert answer.rows[0][3] == "a1"
    assert answer.err.startswith("warning: space 'me' holds vectors of 'hashing'")
    assert "`helamem reembed`" in answer.err
