"""From turns to nodes: ids, times, metadata, cleaning."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helamem_core import InvalidInput, Turn
from helamem_core.episodes import cue_id, differences, identified, metadata, node
from helamem_core.records import Node
from helamem_core.testing.fakes import NOW, CountingIds
from helamem_core.times import seconds


def made(turn: Turn) -> Node:
    return node(turn, now=NOW, ids=CountingIds())


def test_a_turn_becomes_a_node() -> None:
    found = made(Turn("The cats of Lisbon", speaker="Mei Lin", session="s", at="2025-01-01T00:00:00Z", id="x"))
    assert (found.id, found.at, found.recorded_at, found.session) == ("x", 1735689600.0, NOW, "s")
    assert found.terms == {"cat": 1, "lisbon": 1}
    assert set(found.keywords) == {"cat", "lisbon"}
    assert found.speaker_terms == ("mei", "lin")
    assert found.vector is None


def test_ids() -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    base = made(Turn("a", at=at)).id
    assert base.startswith("t-")
    assert len(base) == 22
    assert base == made(Turn("a", at="2025-01-01T01:00:00+01:00", metadata={"x": 1})).id
    others = [
        Turn("b", at=at),
        Turn("a", at=at + timedelta(microseconds=1)),
        Turn("a", at=at, role="tool"),
        Turn("a", at=at, speaker="s"),
        Turn("a", at=at, session="s"),
    ]
    assert len({base, *(made(turn).id for turn in others)}) == 6
    assert made(Turn("a")).id == "m1"
    assert cue_id("a") == cue_id("a") != cue_id("b")


@pytest.mark.parametrize("id", ["", "x" * 513, "a\x00", "\ud800", "cue:1", 5, b"x"])
def test_bad_ids(id: Any) -> None:
    with pytest.raises(InvalidInput, match="id is"):
        made(Turn("a", id=id))


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": " \n"},
        {"text": b"x"},
        {"text": None},
        {"role": ""},
        {"role": 1},
        {"speaker": 1},
        {"session": 1},
        {"session": "s" * 513},
    ],
)
def test_bad_fields(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(fields))):
        made(Turn(**{"text": "a"} | fields))


def test_blanks_for_nobody() -> None:
    found = made(Turn("a", speaker=" ", session=""))
    assert (found.speaker, found.session, found.speaker_terms) == (None, None, ())


def test_what_counts_as_the_same() -> None:
    turn = Turn("a", id="1", speaker="Bo", at="2025-01-01", metadata={"x": (1,)}, expires_at="2030-01-01")
    held = made(turn)
    assert differences(turn, made(turn), held) == []
    assert differences(Turn("a", id="1"), made(Turn("a", id="1")), held) == []
    other = Turn(
        "b", id="1", role="tool", speaker="Al", session="s", at="2025-01-02", metadata={}, expires_at="2031-01-01"
    )
    names = ["text", "role", "speaker", "session", "at", "metadata", "expires_at"]
    assert differences(other, made(other), held) == names


def test_a_turn_with_what_it_was_given_is_the_same_again() -> None:
    turn = Turn("a")
    first = made(turn)
    again = identified(turn, first)
    assert (again.id, seconds(again.at or "", "at")) == (first.id, first.at)
    assert differences(again, made(again), first) == []


class Colour(StrEnum):
    RED = "red"


def test_metadata_is_plain_json() -> None:
    given = {"a": (1, [2.5, None]), "b": {"c": True}, "标签": Colour.RED, "f": np.float64(0.5), "n\x00": "\ud83d"}
    plain = metadata(given)
    assert plain == {"a": [1, [2.5, None]], "b": {"c": True}, "标签": "red", "f": 0.5, "n\ufffd": "\ufffd"}
    assert type(plain["标签"]) is str
    assert type(plain["f"]) is float
    given["a"] = 5
    assert plain["a"] == [1, [2.5, None]]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (float("nan"), r"\['a'\]"),
        (float("-inf"), r"\['a'\]"),
        ([1, {"b": datetime.now(UTC)}], r"\['a'\]\[1\]\['b'\].*ISO 8601"),
        ({1: 2}, "key 1"),
        ({1, 2}, "set"),
        (b"x", "bytes"),
        (np.float32(1), "float32"),
    ],
)
def test_what_metadata_cannot_hold(value: Any, place: str) -> None:
    with pytest.raises(InvalidInput, match=place):
        metadata({"a": value})


def test_metadata_has_a_bottom() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    with pytest.raises(InvalidInput, match="levels deep"):
        metadata(endless)
    with pytest.raises(InvalidInput, match="mapping"):
        metadata([("a", 1)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1970-01-01", 0.0),
        (date(1970, 1, 2), 86_400.0),
        (" 1970-01-01T00:00:01Z ", 1.0),
        ("1970-01-01 01:00:00+01:00", 0.0),
        (datetime(1970, 1, 1), 0.0),
        (datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), 0.0),
        ("0001-01-01", -62_135_596_800.0),
    ],
)
def test_times(value: Any, expected: float) -> None:
    assert seconds(value, "at") == expected


def test_the_end_of_a_day() -> None:
    assert seconds("1970-01-01", "until", end=True) == pytest.approx(86_400, abs=1e-5)
    assert seconds("1970-01-01T00:00", "until", end=True) == 0


@pytest.mark.parametrize("value", ["", "soon", "2025-13-01", 5, 1.5, b"2025", None, "9999-12-31T23:59:59-12:00"])
def test_bad_times(value: Any) -> None:
    with pytest.raises(InvalidInput, match="at is"):
        seconds(value, "at")


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_round_trip(moment: datetime) -> None:
    assert abs(datetime.fromtimestamp(seconds(moment, "at"), UTC) - moment) <= timedelta(microseconds=16)


@given(st.text(), st.text())
def test_any_text_is_stored_clean(text: str, speaker: str) -> None:
    if text.strip():
        found = made(Turn(text, speaker=speaker))
        assert "\x00" not in found.text + str(found.speaker)
        (found.text + str(found.speaker)).encode()
