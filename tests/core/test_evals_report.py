"""What is read, and what a run leaves behind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from helamem_core.errors import InvalidInput
from helamem_core.evals.answers import Answers, differences_table, groups, scores_table
from helamem_core.evals.conversations import Conversation, Question, locate, read_dialogue, read_locomo
from helamem_core.evals.metrics import Interval
from helamem_core.evals.provenance import command_line, fingerprint
from helamem_core.evals.report import Report, Table, Value, shown
from helamem_core.types import Turn

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "session_2_date_time": "12:05 am on 1 June, 2023",
            "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "", "blip_caption": "a red kite"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello!"},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Look:", "blip_caption": "a dog"},
            ],
        },
        "qa": [
            {"question": "one", "evidence": ["D1:1", "D1:1"], "category": 4},
            {"question": "two in one", "evidence": ["D1:2; D2:1"], "category": 1},
            {"question": "lost", "evidence": ["D9:9"], "category": 2},
            {"question": "half lost", "evidence": ["D9:9", "D2:1"], "category": 2},
            {"question": "adversarial", "evidence": ["D1:1"], "category": 5},
            {"question": "none", "category": 3},
        ],
    }
]


def written(folder: Path, content: object, name: str = "data.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_locomo_is_read_by_the_rules(tmp_path: Path) -> None:
    (talk,) = read_locomo(written(tmp_path, LOCOMO))
    assert [turn.text for turn in talk.turns] == ["Hello!", "Look: [shares a dog]", "[shares a red kite]"]
    assert [turn.at for turn in talk.turns] == [
        datetime(2023, 5, 8, 13, 56, 0, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC),
        datetime(2023, 6, 1, 0, 5, 0, tzinfo=UTC),
    ]
    assert talk.turns[2].session == "session_2"
    assert talk.questions == (
        Question("one", ("D1:1",), "single-hop"),
        Question("two in one", ("D1:2", "D2:1"), "multi-hop"),
        Question("half lost", ("D2:1",), "temporal"),
    )


@pytest.mark.parametrize("content", [{"a": 1}, [{"sample_id": "x"}], ["x"], 3])
def test_another_file_is_not_locomo(tmp_path: Path, content: object) -> None:
    with pytest.raises(InvalidInput, match="not LoCoMo"):
        read_locomo(written(tmp_path, content))


def test_a_dialogue_names_what_is_wrong(tmp_path: Path) -> None:
    turns = [{"id": "a", "text": "x"}]
    good = {"turns": turns, "questions": [{"question": "q", "evidence": ["a"]}]}
    assert read_dialogue(written(tmp_path, good)).questions == (Question("q", ("a",)),)
    with pytest.raises(InvalidInput, match="nowhere"):
        read_dialogue(written(tmp_path, {"turns": turns, "questions": [{"question": "nowhere", "evidence": ["b"]}]}))
    with pytest.raises(InvalidInput, match="no dialogue"):
        read_dialogue(written(tmp_path, {"turns": [{"words": "x"}], "questions": []}))
    with pytest.raises(InvalidInput, match="JSON"):
        read_dialogue(tmp_path)


def test_data_is_named_or_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, [], "locomo10.json")
    monkeypatch.delenv("HELAMEM_DATA", raising=False)
    assert locate(path, "locomo10.json") == path
    assert locate(tmp_path, "locomo10.json") == path
    with pytest.raises(InvalidInput, match="--data"):
        locate(None, "locomo10.json")
    monkeypatch.setenv("HELAMEM_DATA", str(tmp_path))
    assert locate(None, "locomo10.json") == path
    with pytest.raises(InvalidInput, match=r"other\.json"):
        locate(None, "other.json")


def talk(*kinds: str) -> Conversation:
    turns = tuple(Turn(id, id=id, session=id[0]) for id in ("a1", "a2", "b1"))
    return Conversation("talk", turns, tuple(Question(kind, ("a1", "b1"), kind) for kind in kinds))


def test_groups_are_all_kinds_and_parts() -> None:
    found = groups([talk("x", "y"), talk("x")], {"first": range(1), "rest": range(1, 2), "none": range(0)})
    assert found == {"all": [0, 1, 2], "x": [0, 2], "y": [1], "first": [0, 1], "rest": [2]}


def test_tables_of_answers() -> None:
    ours, theirs = Answers("ours"), Answers("theirs")
    ours.add(talk("x", "y"), [{1: ["a1"], 10: ["a1", "b1"]}, {1: ["a2"], 10: ["a2"]}])
    theirs.add(talk("x", "y"), [{1: ["a2"], 10: ["a2"]}, {1: ["a2"], 10: ["a2"]}])
    assert ours.scores == {"recall@1": [0.5, 0.0], "recall@10": [1.0, 0.0], "session hit@10": [1.0, 1.0]}
    table = scores_table([ours, theirs], {"all": [0, 1], "x": [0]}, seed=0)
    assert table.find(method="ours", questions="x")["recall@1"] == (0.5, 0.5, 0.5)
    (row,) = differences_table([(ours, theirs)], seed=0).rows
    gain = row["recall@10"]
    assert row["difference"] == "ours - theirs"
    assert isinstance(gain, Interval)
    assert gain.value == 0.5
    with pytest.raises(KeyError):
        table.find(method="nobody")


def report() -> Report:
    rows: tuple[Mapping[str, Value], ...] = (
        {"method": "a", "n": 3, "recall@5": Interval(0.5, 0.4, 0.6)},
        {"method": "b", "p50 ms": 1.23456},
    )
    return Report(
        benchmark="trial",
        tables=(Table("figures", rows),),
        configuration={"k": 10},
        data=None,
        seed=7,
        embedder="words",
        seconds=1.234,
        started=datetime(2027, 1, 2, tzinfo=UTC),
    )


def test_a_report_is_json_with_its_circumstances(tmp_path: Path) -> None:
    report().write(tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["tables"][0]["rows"][0]["recall@5"] == {"value": 0.5, "low": 0.4, "high": 0.6}
    assert {"python", "numpy", "sqlite", "helamem"} <= found["versions"].keys()
    assert (found["seed"], found["started"]) == (7, "2027-01-02T00:00:00+00:00")
    assert found["command"]


def test_a_report_is_a_table_for_people() -> None:
    console = pytest.importorskip("rich.console").Console(width=100, record=True, quiet=False)
    with console.capture() as capture:
        console.print(report().render())
    assert ".500 ±.100" in capture.get()
    assert "1.235" in capture.get()


def test_values_are_shown_alike() -> None:
    assert [shown(value) for value in (None, 3, "x", 0.12345)] == ["", "3", "x", "0.123"]
    assert shown(Interval(1.0, -0.01, 10.0)) == "1.000 ±9.000"


def test_no_password_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.orig_argv", ["/usr/bin/python3", "-m", "x", "--store", "neo4j://me:hush@host"])
    assert command_line() == "python3 -m x --store 'neo4j://***@host'"


def test_a_fingerprint_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_bytes(b"abc")
    assert fingerprint(tmp_path / "data.txt") == {
        "file": "data.txt",
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }
