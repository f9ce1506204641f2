"""The filter language: what each form means, and that nothing outside it is accepted in silence."""

import string
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helamem_core.errors import InvalidFilter
from helamem_core.filters import MAX_DEPTH, All, AnyOf, Leaf, Not, matches, parse, required

MOMENT = datetime(2026, 5, 8, 10, 30, tzinfo=UTC)
RECORD: dict[str, object] = {
    "id": "m1",
    "role": "user",
    "speaker": "小明",
    "session": None,
    "at": MOMENT.timestamp(),
    "metadata": {
        "n": 10,
        "f": 1.0,
        "flag": True,
        "text": "b",
        "null": None,
        "tags": ["x", 1, None],
        "a": {"b": 1, "c": {"d": "deep"}},
        "a.b": "dotted",
        "role": "metadata's role",
    },
}


def holds(filters: Mapping[Any, Any] | None, record: Mapping[str, object] = RECORD) -> bool:
    return matches(parse(filters), record)


@pytest.mark.parametrize(
    "filters",
    [
        None,
        {},
        {"id": "m1", "role": "user", "speaker": "小明"},
        {"session": None},
        {"n": 10.0},
        {"n": {"$gt": 9, "$lte": 10}},
        {"n": {"$in": [1, 10]}},
        {"n": {"$in": {10}}},
        {"n": {"$nin": []}},
        {"f": 1},
        {"flag": True},
        {"text": {"$gt": "a", "$lt": "c"}},
        {"null": None},
        {"missing": None},
        {"missing": {"$ne": 1}},
        {"missing": {"$nin": [1, 2]}},
        {"missing": {"$exists": False}},
        {"null": {"$exists": False}},
        {"n": {"$ne": None}},
        {"missing": {"$in": [None]}},
        {"tags": ["x", 1.0, None]},
        {"tags": {"$contains": "x"}},
        {"tags": {"$contains": None}},
        {"a": {"b": 1}},
        {"a": {"c": {"d": "deep"}, "b": {"$exists": True}}},
        {"a.b": "dotted"},
        {"metadata": {"role": "metadata's role", "a": {"b": 1}}},
        {"$and": [{"n": 10}, {"role": "user"}]},
        {"$or": [{"n": 11}, {"role": "user"}]},
        {"$not": {"n": 11}},
        {"at": MOMENT},
        {"at": "2026-05-08T10:30:00Z"},
        {"at": "2026-05-08T10:30:00"},
        {"at": {"$gt": "2026-05-08", "$lt": date(2026, 5, 9)}},
        {"at": {"$gte": MOMENT.timestamp()}},
        {"at": MOMENT.astimezone(timezone(timedelta(hours=8)))},
        {"at": MOMENT.replace(tzinfo=None)},
    ],
    ids=repr,
)
def test_holds(filters: Mapping[str, object] | None) -> None:
    assert holds(filters)


@pytest.mark.parametrize(
    "filters",
    [
        {"id": "m2"},
        {"n": "10"},
        {"n": {"$gt": "9"}},
        {"n": {"$lt": None}},
        {"n": {"$in": []}},
        {"n": {"$gt": 10}},
        {"flag": 1},
        {"f": True},
        {"flag": {"$gte": 0}},
        {"text": {"$gt": 0}},
        {"tags": "x"},
        {"tags": ["x", 1]},
        {"tags": ["x", True, None]},
        {"text": {"$contains": "b"}},
        {"tags": {"$contains": True}},
        {"missing": {"$gt": 0}},
        {"missing": {"$contains": None}},
        {"missing": {"$ne": None}},
        {"null": {"$exists": True}},
        {"a": {"b": 2}},
        {"a": {"b": {"c": 1}}},
        {"a": 1},
        {"n": {"b": 1}},
        {"role": "metadata's role"},
        {"at": None},
        {"n": {"$ne": 10.0}},
    ],
    ids=repr,
)
def test_does_not_hold(filters: Mapping[str, object]) -> None:
    assert not holds(filters)


def test_a_record_without_time_or_metadata_fulfils_no_comparison() -> None:
    assert not holds({"at": {"$lt": MOMENT}}, {"at": None, "metadata": {}})
    assert not holds({"n": {"$lt": 9}}, {"metadata": None})
    assert holds({"at": None, "n": None}, {})


def nested(levels: int) -> dict[str, object]:
    filters: dict[str, object] = {"n": 1}
    for _ in range(levels):
        filters = {"$not": filters}
    return filters


def deep_list(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"n": {"$regex": "x"}}, "'$regex'"),
        ({"$gt": 1}, "'$gt'"),
        ({"$nor": [{"n": 1}]}, "'$nor'"),
        ({"n": {"$gt": 1, "m": 2}}, "'$gt'"),
        ({"n": {"$not": {"$gt": 1}}}, "'$not'"),
        ({1: "x"}, "1"),
        ({"a": {1: "x"}}, "1"),
        ({"a": {}}, "{}"),
        ({"$and": []}, "[]"),
        ({"$or": []}, "[]"),
        ({"$or": {"n": 1}}, "{'n': 1}"),
        ({"$or": [{}]}, "{}"),
        ({"$or": [3]}, "3"),
        ({"$not": {}}, "{}"),
        ({"$not": [{"n": 1}]}, "[{'n': 1}]"),
        ([], "[]"),
        ("n", "'n'"),
        ({"metadata": 5}, "5"),
        ({"metadata": {"$exists": True}}, "'$exists'"),
        ({"role": {"a": 1}}, "{'a': 1}"),
        ({"n": {"$in": "abc"}}, "'abc'"),
        ({"n": {"$nin": 3}}, "3"),
        ({"n": {"$exists": 1}}, "1"),
        ({"n": float("nan")}, "nan"),
        ({"n": b"x"}, "b'x'"),
        ({"n": MOMENT}, "datetime"),
        ({"tags": [{"a": 1}]}, "{'a': 1}"),
        ({"at": "yesterday"}, "'yesterday'"),
        ({"at": True}, "True"),
        ({"at": {"$in": [[]]}}, "[]"),
        ({"at": 10**400}, "1000"),
        ({"at": float("inf")}, "inf"),
        (nested(MAX_DEPTH), str(MAX_DEPTH)),
        (nested(5_000), str(MAX_DEPTH)),
        ({"tags": deep_list(5_000)}, str(MAX_DEPTH)),
    ],
)
def test_a_filter_without_meaning_is_refused_by_name(filters: Any, named: str) -> None:
    with pytest.raises(InvalidFilter) as caught:
        parse(filters)
    assert named in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_depth_up_to_the_limit_is_read() -> None:
    assert holds(nested(MAX_DEPTH - 1)) is True


def test_the_tree_is_small_frozen_and_apart_from_what_was_given() -> None:
    given_list = ["x"]
    tree = parse(MappingProxyType({"role": "user", "tags": given_list, "n": {"$ne": 3, "$in": [1, 2]}}))
    given_list.append("y")
    assert tree == All(
        (
            Leaf(("role",), "eq", "user"),
            Leaf(("metadata", "tags"), "eq", ("x",)),
            All((Not(Leaf(("metadata", "n"), "eq", 3)), Leaf(("metadata", "n"), "in", (1, 2)))),
        )
    )
    assert hash(tree) == hash(tree)
    assert parse({"n": 1}) == Leaf(("metadata", "n"), "eq", 1)
    assert parse({"$or": [{"n": 1}, {"id": "x"}]}) == AnyOf(
        (Leaf(("metadata", "n"), "eq", 1), Leaf(("id",), "eq", "x"))
    )


def test_text_in_filters_is_cleaned_as_the_stored_text_is() -> None:
    assert parse({"a\x00": "\ud83d"}) == Leaf(("metadata", "a\ufffd"), "eq", "\ufffd")


KEYS = st.sampled_from(["n", "m", "a.b", "役"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([-1.0, 0.5, 1.0])
    | st.sampled_from(["", "a", "b", "1"])
)
VALUES = SCALARS | st.lists(SCALARS, max_size=2)
OPERATORS = st.one_of(
    st.dictionaries(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$contains"]), VALUES, min_size=1),
    st.dictionaries(st.sampled_from(["$in", "$nin"]), st.lists(VALUES, max_size=3), min_size=1),
    st.fixed_dictionaries({"$exists": st.booleans()}),
)
CONDITIONS = st.recursive(VALUES | OPERATORS, lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=2))
FILTERS = st.recursive(
    st.dictionaries(KEYS | st.just("role"), VALUES | OPERATORS, min_size=1, max_size=2)
    | st.dictionaries(KEYS, CONDITIONS, min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"$and": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"$or": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"$not": inner}),
    ),
    max_leaves=6,
)
RECORDS = st.fixed_dictionaries(
    {"role": st.sampled_from(["a", "b", None])},
    optional={"metadata": st.dictionaries(KEYS, st.recursive(VALUES, lambda v: st.dictionaries(KEYS, v)))},
)


@given(first=FILTERS, second=FILTERS, record=RECORDS)
def test_logic_obeys_de_morgan(first: dict[str, Any], second: dict[str, Any], record: dict[str, Any]) -> None:
    one, two = holds(first, record), holds(second, record)
    assert holds({"$and": [first, second]}, record) is (one and two)
    assert holds({"$or": [first, second]}, record) is (one or two)
    assert holds({"$not": {"$and": [first, second]}}, record) is holds(
        {"$or": [{"$not": first}, {"$not": second}]}, record
    )
    assert holds({"$not": {"$or": [first, second]}}, record) is holds(
        {"$and": [{"$not": first}, {"$not": second}]}, record
    )


@given(key=KEYS, values=st.lists(VALUES, min_size=1, max_size=4), record=RECORDS)
def test_in_is_some_equality_and_nin_none(key: str, values: list[Any], record: dict[str, Any]) -> None:
    some = holds({"$or": [{key: {"$eq": value}} for value in values]}, record)
    assert holds({key: {"$in": values}}, record) is some
    assert holds({key: {"$nin": values}}, record) is not some
    assert holds({"$and": [{key: {"$ne": value}} for value in values]}, record) is not some


@given(key=KEYS, value=VALUES, record=RECORDS)
def test_operators_agree_with_one_another(key: str, value: Any, record: dict[str, Any]) -> None:
    assert holds({key: value}, record) is holds({key: {"$eq": value}}, record)
    assert holds({key: value}, record) is holds({"metadata": {key: value}}, record)
    assert holds({key: {"$exists": True}}, record) is holds({key: {"$ne": None}}, record)
    below, above = holds({key: {"$lt": value}}, record), holds({key: {"$gt": value}}, record)
    at_most, at_least = holds({key: {"$lte": value}}, record), holds({key: {"$gte": value}}, record)
    comparable = at_most or at_least
    assert below is (comparable and not at_least)
    assert above is (comparable and not at_most)
    assert not comparable or (at_most and at_least) is holds({key: value}, record)


@given(filters=FILTERS, record=RECORDS)
def test_required_leaves_hold_in_every_match(filters: dict[str, Any], record: dict[str, Any]) -> None:
    tree = parse(filters)
    assert parse(filters) == tree
    if matches(tree, record):
        assert all(matches(leaf, record) for leaf in required(tree))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(string.printable + "$的\x00", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("$and or not in metadata at", max_size=8), inner, max_size=3)
    ),
)


@given(filters=JSON, record=RECORDS)
def test_anything_is_read_or_refused(filters: Any, record: dict[str, Any]) -> None:
    try:
        tree = parse(filters)
    except InvalidFilter:
        return
    assert matches(tree, record) in (True, False)
