"""Files read in pieces: every row once, in order, with its number, wherever the pieces begin."""

from __future__ import annotations

import json
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from helamem_core.bulk import pieces
from helamem_core.bulk.rows import Row
from helamem_core.errors import InvalidInput, MissingExtra
from tests.bulk.samples import turns, write_lines


def rows(paths: list[str], size: int = pieces.PIECE) -> list[tuple[int, Row]]:
    return [pair for piece in pieces.split(paths, size) for pair in pieces.read(piece, {})]


def parquet(path: Path, columns: dict[str, Any], **options: Any) -> str:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    files.write_table(pa.table(columns), path, **options)
    return str(path)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
def test_each_line_is_read_once_and_in_order(tmp_path: Path, size: int) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    lines = ['{"text": "服", "id": "1"}', "", '{"text": "two", "id": "2"}', "{", '{"text": "three", "id": "3"}']
    first.write_text("\n".join(lines), encoding="utf-8")
    second.write_text("\n" + lines[0] + "\r\n\r\n", encoding="utf-8")
    found = rows([str(first), str(second), str(first)], size)
    assert [(number, row.line) for number, row in found] == [
        (0, 1), (2, 3), (3, 4), (4, 5), (6, 2), (8, 1), (10, 3), (11, 4), (12, 5)
    ]  # fmt: skip
    assert [row.error is None for _, row in found] == [True, True, False, True, True, True, True, False, True]
    assert {row.source for _, row in found} == {str(first), str(second)}


def test_an_empty_file_has_no_pieces(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert pieces.split([str(path)]) == []


def test_a_table_says_what_json_lines_say(tmp_path: Path) -> None:
    records = list(turns(60))
    path = write_lines(tmp_path / "t.jsonl", iter(records))
    names = ("text", "at", "speaker", "id", "session", "vector")
    columns: dict[str, Any] = {name: [record.get(name) for record in records] for name in names}
    columns["at"] = [datetime.fromisoformat(moment) for moment in columns["at"]]
    columns["metadata"] = [json.dumps(record["metadata"]) if "metadata" in record else None for record in records]
    table = parquet(tmp_path / "t.parquet", columns, row_group_size=25)
    assert [piece.first for piece in pieces.split([table])] == [1, 26, 51]
    for (number, of_line), (other, of_table) in zip(rows([path]), rows([table]), strict=True):
        assert (number, of_line.line, of_line.record) == (other, of_table.line, of_table.record)
        assert of_line.vector is not None
        assert of_table.vector is not None
        assert of_line.vector.tobytes() == of_table.vector.tobytes()


def test_structures_and_maps_are_metadata_and_what_a_row_leaves_open_is_not_there(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    moments = pa.array([0, 1_500_000_000, None], pa.timestamp("ns"))
    days = pa.array([None, date(2030, 1, 1), None])
    kept = [{"a": 1, "b": {"c": None, "d": [1, None]}}, {"a": None, "b": None}, None]
    columns = {"text": ["x", "y", "z"], "id": ["1", "2", "3"], "at": moments, "expires_at": days, "metadata": kept}
    found = [row.record for _, row in rows([parquet(tmp_path / "t.parquet", columns)])]
    assert found == [
        {"text": "x", "id": "1", "at": "1970-01-01T00:00:00+00:00", "metadata": {"a": 1, "b": {"d": [1, None]}}},
        {"text": "y", "id": "2", "at": "1970-01-01T00:00:01.500000+00:00", "expires_at": "2030-01-01", "metadata": {}},
        {"text": "z", "id": "3"},
    ]
    mapped = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    path = parquet(tmp_path / "m.parquet", {"text": ["x"], "id": ["1"], "metadata": mapped})
    assert rows([path])[0][1].record == {"text": "x", "id": "1", "metadata": {"a": 1}}


def test_a_row_of_a_table_that_is_no_turn_is_told_alone(tmp_path: Path) -> None:
    columns = {"text": ["x", None, "y"], "id": ["1", "2", None], "metadata": [b"\xff", None, None]}
    found = rows([parquet(tmp_path / "t.parquet", columns)])
    errors = [row.error or "" for _, row in found]
    assert ["'metadata' must be an object" in errors[0], "'text' must be text" in errors[1]] == [True, True]
    assert "needs 'id' or 'at'" in errors[2]
    moment = [{"a": datetime(2025, 1, 1, tzinfo=UTC), "b": float("nan")}]
    path = parquet(tmp_path / "n.parquet", {"text": ["x"], "id": ["1"], "metadata": moment})
    assert "what JSON cannot" in (rows([path])[0][1].error or "")


@pytest.mark.parametrize(
    ("columns", "told"),
    [({"text": ["x"], "topic": ["y"]}, "'topic', which no turn has"), ({"id": ["x"]}, "no column 'text'")],
)
def test_a_table_without_the_columns_of_turns_is_refused(tmp_path: Path, columns: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        pieces.split([parquet(tmp_path / "t.parquet", columns)])


def test_what_is_no_table_or_cannot_be_read_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_text("no table", encoding="utf-8")
    with pytest.raises(InvalidInput, match="no Parquet file"):
        pieces.split([str(tmp_path / "t.parquet")])
    with pytest.raises(InvalidInput, match="No such file"):
        pieces.split([str(tmp_path / "none.jsonl")])
    with pytest.raises(InvalidInput, match="cannot read"):
        pieces.split(["nowhere://x/y.jsonl"])


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.parquet").touch()
    for name in ("pyarrow", "pyarrow.fs"):
        monkeypatch.setitem(sys.modules, name, None)
    for path in (f"{tmp_path}/t.parquet", f"file://{tmp_path}/t.jsonl"):
        with pytest.raises(MissingExtra, match=r"helamem\[ray\]"):
            pieces.split([path])


def test_a_url_is_read_like_a_path(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = write_lines(tmp_path / "t.jsonl", turns(20))
    assert [row.record for _, row in rows([f"file://{path}"], 999)] == [row.record for _, row in rows([path])]
