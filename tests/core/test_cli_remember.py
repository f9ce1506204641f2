"""`helamem remember`: files, standard input, what cannot be read, and going on after a failure."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.types import Vector
from tests.core.shell import TALK, Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def texts(shell: Shell) -> list[str]:
    return [item["text"] for item in shell.json("list")]


def test_remembers_json_lines_once(shell: Shell) -> None:
    path = shell.write("talk.jsonl", *TALK)
    first = shell.json("remember", path)
    again = shell.json("remember", path)
    assert (first["stored"], first["unchanged"], first["failed"]) == (4, 0, 0)
    assert (again["stored"], again["unchanged"], again["failed"]) == (0, 4, 0)
    assert first["items"][3] == {"source": path, "line": 4, "id": "c1", "outcome": "stored", "error": None}
    assert texts(shell)[3] == "服务器部署在腾讯云。"


def test_lines_of_a_text_file_are_known_again_and_new_ones_are_added(shell: Shell) -> None:
    path = shell.write("notes.txt", "first note", "", "  second note  ")
    assert shell.json("remember", path, "--session", "n", "--speaker", "Ann", "--role", "assistant")["stored"] == 2
    path = shell.write("notes.txt", "first note", "", "  second note  ", "third note")
    report = shell.json("remember", path, "--session", "n", "--speaker", "Ann", "--role", "assistant")
    assert (report["stored"], report["unchanged"]) == (1, 2)
    assert texts(shell) == ["first note", "second note", "third note"]
    episode = shell.json("list")[1]
    assert (episode["session"], episode["speaker"], episode["role"]) == ("n", "Ann", "assistant")
    assert episode["previous"] == shell.json("list")[0]["id"]


def test_reads_standard_input_as_text_or_json(shell: Shell) -> None:
    assert shell.json("remember", "-", stdin="eins\nzwei\n")["stored"] == 2
    assert shell.json("remember", "-", stdin="eins\n")["stored"] == 1
    assert shell.json("remember", "-", stdin=json.dumps(TALK[3]) + "\n")["stored"] == 1
    assert texts(shell).count("eins") == 2
    assert "服务器部署在腾讯云。" in texts(shell)


def test_format_decides_where_the_look_of_a_line_does_not(shell: Shell) -> None:
    path = shell.write("odd.txt", '{"text": "a line of code"}')
    shell.run("remember", path, "--format", "text")
    assert texts(shell) == ['{"text": "a line of code"}']


def test_text_on_the_command_line_is_listed_with_its_id(shell: Shell) -> None:
    answer = shell.run("remember", "--text", "buy [red]milk[/red]", "--text", "喝茶")
    assert [row[1] for row in answer.rows] == ["stored", "stored"]
    assert "2 stored, 0 unchanged, 0 failed" in answer.err
    assert shell.json("show", answer.rows[0][2])["text"] == "buy [red]milk[/red]"


def test_options_fill_only_what_a_line_leaves_open(shell: Shell) -> None:
    path = shell.write("two.jsonl", {"text": "one", "role": "user", "speaker": "Ann"}, {"text": "two"})
    shell.run("remember", path, "--role", "tool", "--speaker", "Bob")
    assert [(item["role"], item["speaker"]) for item in shell.json("list")] == [("user", "Ann"), ("tool", "Bob")]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{not json", ":2: not JSON: "),
        ("[1, 2]", ":2: a turn is a JSON object"),
        ('{"txt": "x"}', ":2: unknown key 'txt'; a turn has text, role, "),
        ('{"text": 5}', ":2: 'text' must be text, not 5"),
        ('{"text": "x", "at": 17}', ":2: 'at' must be text, not 17"),
        ('{"text": "x", "metadata": []}', ":2: 'metadata' must be an object"),
        ('{"text": "x", "metadata": "y"}', ":2: 'metadata' must be an object"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_stored(shell: Shell, line: str, told: str) -> None:
    path = shell.write("bad.jsonl", TALK[0], line)
    error = shell.fails(1, "remember", path)
    assert told in error
    assert "nothing was stored" in error
    assert not shell.store.exists()


def test_many_bad_lines_are_counted(shell: Shell) -> None:
    assert "(and 2 more lines)" in shell.fails(1, "remember", shell.write("bad.jsonl", *["{"] * 5))


def test_a_turn_that_the_memory_refuses_fails_alone(shell: Shell) -> None:
    path = shell.write("talk.jsonl", TALK[0], {"text": "x", "at": "yesterday"}, TALK[1])
    report = shell.json("remember", path, code=1)
    assert [item["outcome"] for item in report["items"]] == ["stored", "failed", "stored"]
    assert "yesterday" in report["items"][1]["error"]
    answer = shell.run("remember", path, code=1)
    assert f"{path}:2" in answer.out
    assert "error: 1 turn could not be stored" in answer.err


def test_another_text_under_a_known_id_is_told(shell: Shell) -> None:
    shell.talk()
    changed = shell.write("changed.jsonl", TALK[0] | {"text": "I moved to Porto."})
    assert "id 'a1' is stored already" in shell.json("remember", changed, code=1)["items"][0]["error"]


def test_what_cannot_be_read_is_bad_usage(shell: Shell, tmp_path: Path) -> None:
    assert "No such file" in shell.fails(2, "remember", str(tmp_path / "none.jsonl"))
    assert "Is a directory" in shell.fails(2, "remember", str(tmp_path))
    assert "nothing to remember" in shell.fails(2, "remember")
    assert "only once" in shell.fails(2, "remember", "-", "-")


def test_a_file_that_is_not_utf8_is_told_with_its_line(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("erste\nzweite \xe4\n".encode("latin-1"))
    assert f"{path}:2: not UTF-8" in shell.fails(1, "remember", str(path))


def test_a_byte_order_mark_and_windows_line_ends_are_no_text(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "windows.txt"
    path.write_bytes("\ufeffone\r\ntwo\r\n".encode())
    shell.run("remember", str(path))
    assert texts(shell) == ["one", "two"]


def test_a_failing_embedder_leaves_the_turns_stored_and_says_what_to_do(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    with monkeypatch.context() as patch:
        patch.setattr("helamem_core.embedders.hashing.HashingEmbedder.embed", broken)
        answer = shell.run("remember", "--text", "a note about cellos")
    assert "warning: " in answer.err
    assert "`helamem reembed --pending`" in answer.err
    assert shell.json("stats")["unembedded"] == 1
    assert shell.json("reembed", "--pending") == {"embedded": 1}
    assert shell.json("stats")["unembedded"] == 0


def test_a_run_that_is_broken_off_says_so_and_can_be_given_again(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shell.write("long.txt", *[f"line number {number}" for number in range(600)])
    embed, calls = HashingEmbedder.embed, itertools.count()

    def interrupted(self: HashingEmbedder, texts: Sequence[str], *, kind: Literal["memory", "query"]) -> Vector:
        if next(calls):
            raise KeyboardInterrupt
        return embed(self, texts, kind=kind)

    with monkeypatch.context() as patch:
        patch.setattr(HashingEmbedder, "embed", interrupted)
        answer = shell.run("remember", path, code=130)
    assert "256 of 600 turns were done" in answer.err
    report = shell.json("remember", path)
    assert (report["stored"], report["unchanged"]) == (344, 256)


def test_an_engine_loads_in_bulk_and_a_row_fails_alone(shell: Shell, tmp_path: Path) -> None:
    path = shell.write("talk.jsonl", *TALK, "{not json", {"text": "neither id nor time"})
    rejects = tmp_path / "rejects.jsonl"
    report = shell.json("remember", path, "--engine", "local", "--rejects", str(rejects), code=1)
    told = {key: report[key] for key in ("engine", "workers", "turns", "stored", "unchanged", "failed", "unembedded")}
    assert told == {
        "engine": "local", "workers": 1, "turns": 6, "stored": 4, "unchanged": 0, "failed": 2, "unembedded": 0
    }  # fmt: skip
    assert report["turns_per_second"] > 0
    lines = [json.loads(line) for line in rejects.read_text(encoding="utf-8").splitlines()]
    assert [(line["source"], line["line"]) for line in lines] == [(path, 5), (path, 6)]
    assert (lines[0]["turn"], lines[1]["turn"]) == ("{not json", {"text": "neither id nor time"})
    assert "needs 'id' or 'at'" in lines[1]["error"]
    assert report["failures"] == lines
    answer = shell.run("remember", path, "--engine", "local", code=1)
    assert f"{path}:5\tnot JSON" in answer.out
    assert "0 stored, 4 unchanged, 2 failed in " in answer.err
    assert "error: 2 turns could not be stored; run it again once mended" in answer.err


def test_bulk_reads_standard_input_and_takes_defaults_and_vectors(shell: Shell) -> None:
    vector = HashingEmbedder().embed(["far away"], kind="memory")[0]
    line = json.dumps({"text": "x", "id": "v", "vector": vector.tolist()})
    assert shell.json("remember", "-", "--engine", "local", "--session", "n", stdin=line + "\n")["stored"] == 1
    assert shell.json("show", "v")["session"] == "n"
    assert shell.json("recall", "far away")["items"][0]["why"]["similarity"] > 0.5


def test_bulk_goes_on_after_a_failing_embedder(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    path = shell.write("talk.jsonl", *TALK)
    with monkeypatch.context() as patch:
        patch.setattr(HashingEmbedder, "embed", broken)
        answer = shell.run("remember", path, "--engine", "local")
    assert "warning: 4 turns of the space wait for a vector" in answer.err
    assert "`helamem reembed --pending` tries again" in answer.err
    assert shell.json("reembed", "--pending") == {"embedded": 4}


def test_a_bulk_load_that_is_broken_off_says_so_and_can_be_given_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [{"id": f"t{number}", "session": "s", "text": f"line number {number}"} for number in range(600)]
    path = shell.write("long.jsonl", *turns)
    monkeypatch.setattr("helamem_core.bulk.local.BATCHES", 1)
    embed, calls = HashingEmbedder.embed, itertools.count()

    def interrupted(self: HashingEmbedder, texts: Sequence[str], *, kind: Literal["memory", "query"]) -> Vector:
        if next(calls):
            raise KeyboardInterrupt
        return embed(self, texts, kind=kind)

    with monkeypatch.context() as patch:
        patch.setattr(HashingEmbedder, "embed", interrupted)
        answer = shell.run("remember", path, "--engine", "local", code=130)
    assert "256 turns were done; the same command goes on from there" in answer.err
    report = shell.json("remember", path, "--engine", "local")
    assert (report["stored"], report["unchanged"]) == (344, 256)
    assert shell.json("show", "t256")["previous"] == "t255"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--engine", "ray"], "--engine ray needs a store that many processes write to"),
        (["--workers", "2"], "are for loading in bulk"),
        (["--engine", "local", "--workers", "2"], "are for --engine ray"),
        (["--engine", "local", "--text", "x"], "cannot be loaded in bulk"),
        (["--engine", "local", "--format", "text"], "cannot be loaded in bulk"),
        (["--engine", "local", "-"], "standard input must be loaded alone"),
        (["--engine", "local", "none.jsonl"], "No such file"),
        (["--engine", "ray", "--store", "bolt://127.0.0.1:1", "-"], "cannot read standard input"),
    ],
)
def test_bulk_refuses_what_it_cannot_do(shell: Shell, options: list[str], told: str) -> None:
    assert told in shell.fails(2, "remember", shell.write("talk.jsonl", *TALK), *options)
    assert not shell.store.exists()


def test_bulk_never_writes_rejects_over_what_it_reads(shell: Shell) -> None:
    path = shell.write("talk.jsonl", *TALK)
    assert "would overwrite" in shell.fails(2, "remember", path, "--engine", "local", "--rejects", path)
    assert "would overwrite" in shell.fails(2, "remember", path, "--engine", "local", "--rejects", str(shell.store))
    other = Path(path).with_name("alias.jsonl")
    other.symlink_to(path)
    assert "would overwrite" in shell.fails(2, "remember", path, "--engine", "local", "--rejects", str(other))
    beside = f"{shell.store}-wal"
    assert "would overwrite" in shell.fails(2, "remember", path, "--engine", "local", "--rejects", beside)
    assert "nothing to remember" in shell.fails(2, "remember", "--engine", "local")
    assert shell.json("remember", path, "--engine", "local")["stored"] == 4
