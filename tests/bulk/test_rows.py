"""What a row of a file says, and what is told of one that says nothing that can be remembered."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from helamem_core.bulk.rows import Row, from_line


def row(record: Any, number: int = 7, **defaults: str) -> Row:
    line = record if isinstance(record, bytes) else json.dumps(record).encode()
    found = from_line(line, "talk.jsonl", number, defaults)
    assert found is not None
    return found


def test_a_row_keeps_its_fields_and_its_vector() -> None:
    found = row({"text": "one", "id": "a", "metadata": {"n": None}, "vector": [1, 0.5], "speaker": None})
    assert (found.source, found.line, found.error) == ("talk.jsonl", 7, None)
    assert found.record == {"text": "one", "id": "a", "metadata": {"n": None}}
    assert found.turn.id == "a"
    assert found.vector is not None
    assert found.vector.dtype == np.float32
    assert found.vector.tolist() == [1.0, 0.5]


def test_defaults_fill_only_what_a_row_leaves_open() -> None:
    found = row({"text": "one", "id": "a", "role": "user"}, session="s", role="tool")
    assert found.record == {"text": "one", "id": "a", "session": "s", "role": "user"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{not json", "not JSON: "),
        (b"[1, 2]", "a turn is a JSON object"),
        (b'{"text": "x", "id": "a", "metadata": {"n": NaN}}', "NaN is no value"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"text": "\xff", "id": "a"}', "not UTF-8"),
        (b'{"txt": "x", "id": "a"}', "unknown key 'txt'"),
        (b'{"text": 5, "id": "a"}', "'text' must be text, not 5"),
        (b'{"text": "x", "at": 17}', "'at' must be text, not 17"),
        (b'{"text": "x", "id": "a", "metadata": []}', "'metadata' must be an object"),
        (b'{"text": "x"}', "needs 'id' or 'at'"),
        (b'{"text": "x", "id": "a", "vector": "far"}', "'vector' must be a list of numbers"),
        (b'{"text": "x", "id": "a", "vector": [[1]]}', "'vector' must be a list of numbers"),
        (b'{"text": "x", "id": "a", "vector": 5}', "'vector' must be a list of numbers"),
    ],
)
def test_what_is_wrong_with_a_row_is_told(line: bytes, told: str) -> None:
    assert told in (row(line).error or "")


def test_blank_lines_and_a_byte_order_mark_are_no_rows() -> None:
    assert from_line(b" \r\n", "talk.jsonl", 3, {}) is None
    assert row(b'\xef\xbb\xbf{"text": "x", "id": "a"}\r\n', number=1).error is None


def test_turns_of_one_session_have_one_key_also_where_its_name_is_cleaned() -> None:
    keys = {row({"text": f"t{at}", "id": f"i{at}", "session": name}).key for at, name in enumerate(["a\0", "a\ufffd"])}
    assert len(keys) == 1
    assert row({"text": "t", "id": "i", "session": " "}).key == row({"text": "u", "id": "i"}).key
    assert row({"text": "t", "at": "2025-01-01"}).key == row({"text": "t", "at": "2025-01-01T00:00:00Z"}).key
