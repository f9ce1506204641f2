"""Values as texts that compare as the values do."""

from __future__ import annotations

import pytest

from helamem_core.stores.neo4j.facets import code


@pytest.mark.parametrize(
    ("one", "other"),
    [([1], [True]), ([1], ["1"]), ([[]], ["l[]"]), ([["a"]], [["a"], []]), ([None], []), (["n1"], [1])],
)
def test_lists_that_differ_have_other_codes(one: object, other: object) -> None:
    assert code(one) != code(other)


def test_lists_that_are_equal_have_one_code() -> None:
    assert code([1, [2.0, "x"]]) == code((1.0, (2, "x")))


def test_a_nested_list_grows_by_its_depth_only() -> None:
    """Fault: escapes doubled at each level, so that thirty levels were gigabytes."""
    value: object = 'quoted "word"'
    for _ in range(31):
        value = [value]
    assert len(code(value)) < 200


@pytest.mark.parametrize("text", ["a", "汉", "！", "\ufffd", "😀", "a😀", "a！", "!"])
def test_java_orders_codes_as_python_orders_texts(text: str) -> None:
    """Fault: Java compares halves of an emoji, so that one came before a fullwidth mark."""
    for other in ("a", "汉", "！", "\ue000", "\ufffd", "😀", "a😁", "\ud7ff"):
        assert (java(text) < java(other)) == (text < other)


def java(text: str) -> bytes:
    """A code as Java compares it."""
    return code(text).encode("utf-16-be")
