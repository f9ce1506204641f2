"""Filters mean the same on every engine; lists have an order and pages."""

from __future__ import annotations

from typing import Any

import pytest

from helamem_core.filters import matches, parse
from helamem_core.protocols import Store
from helamem_core.stores.rows import filterable
from helamem_core.testing.conformance.engine import StoreCase
from helamem_core.testing.fakes import NOW, Room, axis, node

RECORDS: dict[str, dict[str, Any]] = {
    "a": {
        "metadata": {"n": 10, "a": {"b": 1}, "tags": ["x", "y"], "标签": "模型", "mark": "😀"},
        "role": "user",
        "speaker": "Ann",
    },
    "b": {
        "metadata": {"n": 9, "a": {"b": 2}, "tags": ["y"], "mark": "！"},
        "role": "assistant",
        "speaker": "Bob",
        "at": NOW - 1,
    },
    "c": {"metadata": {"n": 9.5, "a": {"b": "1"}, "tags": "x"}, "session": "s1", "at": NOW - 2},
    "d": {"metadata": {"n": "10", "a": {"b": True}, "tags": []}, "session": "s10"},
    "e": {"metadata": {"n": None, "a": {"b": None}, "flag": True}, "speaker": "ann"},
    "f": {"metadata": {"n": True, "a": 1, "flag": False, "n ": 10}, "speaker": "Ann%"},
    "g": {"metadata": {"n": 2**53 + 1, "a": {"b": [1, 2]}, "a.b": 1, "id": "z", "flag": 1}},
    "h": {"metadata": {}, "at": NOW + 1, "speaker": "😀"},
    "i": {
        "metadata": {"n": -1, "a": {"b": 1.0}, "text": 'O\'Brien "x" \\ %', "u": "é", "deep": {"x": {"y": {"z": 1}}}}
    },
}

CASES: list[tuple[dict[str, Any], str]] = [
    ({}, "abcdefghi"),
    ({"n": 10}, "a"),
    ({"n": 9}, "b"),
    ({"n": "10"}, "d"),
    ({"n": {"$gt": 9}}, "acg"),
    ({"n": {"$gte": 9}}, "abcg"),
    ({"n": {"$gt": 9, "$lt": 10}}, "c"),
    ({"n": {"$lt": 9.5}}, "bi"),
    ({"n": {"$lte": 9.5}}, "bci"),
    ({"n": {"$gt": "1"}}, "d"),
    ({"n": {"$ne": 10}}, "bcdefghi"),
    ({"n": None}, "eh"),
    ({"n": {"$exists": True}}, "abcdfgi"),
    ({"n": {"$exists": False}}, "eh"),
    ({"n": True}, "f"),
    ({"n": 2**53}, ""),
    ({"n": 2**53 + 1}, "g"),
    ({"n ": 10}, "f"),
    ({"n": {"$in": [9, "10", True]}}, "bdf"),
    ({"n": {"$nin": [9, "10", True]}}, "aceghi"),
    ({"n": {"$in": []}}, ""),
    ({"a": {"b": 1}}, "ai"),
    ({"a": {"b": "1"}}, "c"),
    ({"a": {"b": True}}, "d"),
    ({"a": {"b": [1, 2]}}, "g"),
    ({"a": {"b": {"$gte": 1, "$lt": 2}}}, "ai"),
    ({"a": {"b": {"$contains": 2}}}, "g"),
    ({"a": 1}, "f"),
    ({"a.b": 1}, "g"),
    ({"tags": {"$contains": "x"}}, "a"),
    ({"tags": ["x", "y"]}, "a"),
    ({"tags": []}, "d"),
    ({"tags": "x"}, "c"),
    ({"标签": "模型"}, "a"),
    ({"mark": {"$gt": "！"}}, "a"),
    ({"mark": {"$lte": "！"}}, "b"),
    ({"flag": True}, "e"),
    ({"flag": False}, "f"),
    ({"flag": 1}, "g"),
    ({"text": 'O\'Brien "x" \\ %'}, "i"),
    ({"text": {"$gt": "O"}}, "i"),
    ({"u": "e\u0301"}, ""),
    ({"deep": {"x": {"y": {"z": 1}}}}, "i"),
    ({"id": {"$in": ["a", "h", "nobody"]}}, "ah"),
    ({"metadata": {"id": "z"}}, "g"),
    ({"role": "assistant"}, "b"),
    ({"speaker": "Ann"}, "a"),
    ({"speaker": "Ann%"}, "f"),
    ({"speaker": None}, "cdgi"),
    ({"speaker": {"$gt": "！"}}, "h"),
    ({"session": {"$in": ["s1"]}}, "c"),
    ({"session": {"$gte": "s1"}}, "cd"),
    ({"at": {"$lt": NOW}}, "bc"),
    ({"at": NOW + 1}, "h"),
    ({"$or": [{"n": 9}, {"speaker": "Ann"}, {"a": {"b": [1, 2]}}]}, "abg"),
    ({"$and": [{"n": {"$gt": 0}}, {"tags": {"$contains": "y"}}]}, "ab"),
    ({"$not": {"n": {"$gt": 0}}}, "defhi"),
    ({"$not": {"$or": [{"n": {"$exists": True}}, {"flag": True}]}}, "h"),
    ({"role": "user", "$or": [{"n": 9.5}, {"n": "10"}]}, "cd"),
]


class Filtering(StoreCase):
    """`filter` in recall and in lists."""

    @pytest.mark.parametrize(("filters", "expected"), CASES, ids=[str(n) for n in range(len(CASES))])
    def test_one_meaning_everywhere(self, store: Store, filters: dict[str, Any], expected: str) -> None:
        """Faults: filters differ per backend, some operators crash with vectors, a key becomes a column."""
        room = Room(store)
        room.remember(*(node("same", id=id, vector=axis(0), **fields) for id, fields in RECORDS.items()))
        assert room.listed(filters=filters, order="id") == list(expected)
        assert sorted(room.found("", axis(0), filters=filters)) == list(expected)
        assert sorted(room.found("same", filters=filters)) == list(expected)
        assert sorted(room.found("same", axis(0), filters=filters)) == list(expected)
        meant = [id for id in RECORDS if matches(parse(filters), filterable(room.get(id)))]
        assert meant == list(expected)

    def test_filter_comes_before_the_cut(self, room: Room) -> None:
        """A filter that few fulfil still fills k, however many others score higher."""
        room.remember(*(node("tea", id=f"n{n:03}", vector=axis(0)) for n in range(300)))
        room.remember(*(node("rain tea", id=f"r{n}", vector=axis(1), metadata={"rare": True}) for n in range(3)))
        for text, vector in (("tea", None), ("", axis(0)), ("tea", axis(0))):
            assert room.found(text, vector, k=3, filters={"rare": True}) == ["r0", "r1", "r2"]


class Listed(StoreCase):
    """`select`."""

    def test_orders(self, room: Room) -> None:
        """By time said, time recorded or id, up or down; equal ones by id, upwards."""
        times = {"a": (3, 1), "b": (1, 2), "c": (2, 2), "d": (1, 1)}
        room.remember(*(node(id, at=NOW + at, recorded_at=NOW + rec) for id, (at, rec) in times.items()))
        orders = {
            "at": "bdca",
            "-at": "acbd",
            "recorded_at": "adbc",
            "-recorded_at": "bcad",
            "id": "abcd",
            "-id": "dcba",
        }
        assert {order: "".join(room.listed(order=order)) for order in orders} == orders

    def test_ids_are_ordered_by_code_point(self, room: Room) -> None:
        """Not by a language's collation."""
        ids = ["Z", "a", "é", "e\u0301", "用", "0", "_", "😀", "\uffee"]
        room.remember(*ids)
        assert room.listed(order="id") == sorted(ids)
        assert room.found("", axis(0)) == []

    def test_pages_cover_all_once(self, room: Room) -> None:
        """Limit and offset cut one order; beyond its end there is nothing."""
        room.remember(*(node("x", id=f"m{n:02}", metadata={"even": n % 2 == 0}) for n in range(23)))
        pages = [room.listed(limit=5, offset=start) for start in range(0, 30, 5)]
        assert [id for page in pages for id in page] == [f"m{n:02}" for n in range(23)]
        assert (pages[5], room.listed(limit=0), room.listed(offset=22)) == ([], [], ["m22"])
        assert room.listed(filters={"even": False}, limit=2, offset=1, order="-id") == ["m19", "m17"]

    def test_counts(self, room: Room) -> None:
        """`stats` says what is there."""
        room.remember(
            node("green tea", session="s", vector=axis(0)),
            node("black tea", session="s"),
            node("rain", session="t", expires_at=NOW),
            "tram",
        )
        room.reinforce("green tea", "black tea", cue="tram")
        room.store.archive("room", ["tram"], NOW)
        stats = room.store.stats("room", NOW, room.config)
        assert (stats.memories, stats.archived, stats.sessions, stats.steps, stats.cues) == (2, 1, 1, 1, 0)
        assert dict(stats.links) == {"NEXT": 1, "ASSOCIATED": 1, "CUED": 2, "SIMILAR": 0}
        assert stats.terms == len({*node("green tea").terms, *node("black tea").terms})
        assert stats.embedder == room.store.identity("room")

    def test_neighbours_are_the_strongest_first(self, room: Room) -> None:
        """Then by kind and id; expired ends are not shown."""
        room.remember(node("a", session="s"), node("b", session="s"), "c", "d", node("e", expires_at=NOW + 1))
        room.reinforce("b", "d", times=2)
        room.reinforce("b", "c", "e")
        room.now += 1
        found = room.store.neighbours("room", "b", room.now, room.config)
        assert [(n.id, n.kind, n.outgoing) for n in found] == [
            ("a", "NEXT", False),
            ("d", "ASSOCIATED", True),
            ("c", "ASSOCIATED", True),
        ]
        assert [n.weight for n in found] == sorted((n.weight for n in found), reverse=True)
