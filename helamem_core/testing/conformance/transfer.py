"""Moving a space between engines, and what a durable engine keeps."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helamem_core.config import DEFAULT
from helamem_core.errors import InvalidExport, InvalidInput, SpaceNotEmpty
from helamem_core.protocols import Store
from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.rows import encode_vector, ended
from helamem_core.testing.conformance.engine import Engine, StoreCase, about, unchanged
from helamem_core.testing.fakes import MODEL, NOW, Room, axis, cue, near, node, weights

Lines = list[dict[str, Any]]
DAMAGES: dict[str, Callable[[Lines], Lines]] = {
    "nothing at all": lambda _: [],
    "no header": lambda lines: lines[1:],
    "header twice": lambda lines: [lines[0], *lines],
    "cut off": lambda lines: lines[:-1],
    "record lost": lambda lines: [*lines[:-2], lines[-1]],
    "record after the end": lambda lines: [*lines, lines[-2]],
    "unknown record": lambda lines: _with(lines, {"surprise": {}}),
    "two kinds in one": lambda lines: _with(lines, {"event": {"id": "x", "at": 1}, "cue": {}}),
    "no fields": lambda lines: _with(lines, {"event": None}),
    "field missing": lambda lines: _with(lines, {"episode": {"id": "x"}}),
    "memory twice": lambda lines: _with(lines, next(line for line in lines if "episode" in line)),
    "cue twice": lambda lines: _with(lines, next(line for line in lines if "cue" in line)),
    "link twice": lambda lines: _with(lines, next(line for line in lines if "link" in line)),
    "event twice": lambda lines: _with(lines, next(line for line in lines if "event" in line)),
    "turn before missing": lambda lines: _with([line for line in lines if line.get("episode", {}).get("id") != "tea"]),
    "link before its ends": lambda lines: [lines[0], *(line for line in lines if "link" in line), *lines[1:]],
    "no mapping": lambda lines: [*lines[:-1], ["episode"], lines[-1]],  # type: ignore[list-item]
}
FAR = 1e300
BIG = 10**400
VALUES: dict[tuple[str, str], list[Any]] = {
    ("header", "helamem"): [99, 1.0, True, "1", None],
    ("header", "steps"): [-5, 2**63, 1.0, "1", True, None],
    ("header", "embedder"): [
        None,
        "fake",
        {},
        *({"name": "fake", "dimension": size, "normalised": True} for size in (-1, 0, 8, "16", 1.5)),
        {"name": 5, "dimension": 16, "normalised": True},
        {"name": "fake", "dimension": 16, "normalised": 1},
    ],
    ("episode", "id"): ["", 7, None, "a\0", "\ud800", "x" * 513, "cue:x"],
    ("episode", "text"): ["", " ", 5, None, "a\0b", "\ud800"],
    ("episode", "role"): ["", 5, None],
    ("episode", "speaker"): ["", 5, "\ud800"],
    ("episode", "session"): ["", 5, None, "another"],
    ("episode", "at"): ["abc", "1", None, True, FAR, BIG, float("nan"), float("inf"), -1e12],
    ("episode", "recorded_at"): [None, FAR],
    ("episode", "expires_at"): ["x", FAR],
    ("episode", "archived_at"): ["x", BIG],
    ("episode", "last_used_at"): ["x", -FAR],
    ("episode", "metadata"): [None, [1], "x", {"a": "\ud800"}, {"a": float("nan")}, {"a": BIG * BIG}, {"a\0": 1}],
    ("episode", "keywords"): ["abc", [1], None, {"a": 1}, ["\0"], [""]],
    ("episode", "speaker_terms"): ["abc", [1], None],
    ("episode", "terms"): [["tea"], None, {"tea": -5}, {"tea": 0}, {"tea": "x"}, {"tea": 2**31}, {"": 1}, {"tea": 1.5}],
    ("episode", "vector"): [
        "AAAA",
        "AAA=",
        "?",
        5,
        [1.0],
        *(encode_vector(np.full(16, x)) for x in (np.nan, 1e3, 0.0)),
    ],
    ("episode", "previous"): ["", 5, "nobody", "tea", "rain", "tram"],
    ("episode", "fires"): [-5, 0, "x", 1.5, 2**63, True, None],
    ("episode", "uses"): [-3, 1.5, BIG],
    ("episode", "surprise"): [1],
    ("cue", "id"): ["tea", "", 5],
    ("cue", "text"): ["", 5],
    ("cue", "vector"): ["AAAA", encode_vector(axis(0, 8))],
    ("cue", "fires"): ["x", -1, 0],
    ("cue", "last_at"): [None, FAR],
    ("link", "kind"): ["FOO", "NEXT", 5, None],
    ("link", "weight"): [50.0, -1.0, "x", None, float("nan"), True],
    ("link", "count"): [-9, 1.5, 2**63],
    ("link", "reading"): [[1, 2], [10**6] * 3, [0, 0, -1], [0, 0, "1"], 5, None],
    ("link", "since"): ["x", FAR],
    ("link", "last_at"): [None, BIG],
    ("link", "source"): ["nobody", "cue:why", 5],
    ("link", "target"): ["nobody", "cue:why", "rain", 5],
    ("event", "id"): ["", 5],
    ("event", "at"): ["x", FAR, None],
}
FORGED = [(*place, value) for place, values in VALUES.items() for value in values]


def _with(lines: Lines, *more: dict[str, Any]) -> Lines:
    """Return an export with these records too, and with an end that counts right."""
    return list(ended([line for line in [*lines, *more] if "end" not in line]))


def _forged(lines: Lines, kind: str, name: str, value: Any) -> Lines:
    """Return an export in which one field of the first such record that has a neighbour is another."""
    if kind == "header":
        return [lines[0] | {name: value}, *lines[1:]]
    at = next(n for n, line in enumerate(lines) if kind in line and line[kind].get("id") != "rain")
    return [*lines[:at], {kind: lines[at][kind] | {name: value}}, *lines[at + 1 :]]


class Transfer(StoreCase):
    """`dump` and `load`."""

    def test_everything_arrives(self, store: Store) -> None:
        """Weights, clocks, cues, events and order are the same in the new space, and so are answers."""
        old, new = _rich(store), Room(store, "new")
        lines = json.loads(json.dumps(list(store.dump("room"))))
        assert store.load("new", iter(lines)) == 5
        assert _same(new, old)
        assert (new.links(), store.check()) == (old.links(), [])
        assert weights(store.dump("new")) == about(old.links())
        for text, vector in (("tea", None), ("rain tea", near(axis(0), 0.9, 3)), ("", axis(9))):
            assert _answer(new, text, vector) == _answer(old, text, vector)
        assert not new.reinforce("tea", event="e").applied
        for room in (old, new):
            room.reinforce("tea", "rain", cue=cue("why", axis(9)))
            room.remember(node("more", session="s"))
        assert _same(new, old)

    def test_engines_exchange_spaces(self, store: Store) -> None:
        """What this engine exports the reference reads, and the other way round, to the last bit."""
        here = _rich(store)
        there = Room(ReferenceStore())
        there.store.load("room", store.dump("room"))
        assert there.dump() == here.dump()
        store.load("back", there.store.dump("room"))
        assert _same(here.beside("back"), here)
        assert _answer(there, "tea rain", axis(0)) == _answer(here, "tea rain", axis(0))

    def test_only_into_an_empty_space(self, store: Store) -> None:
        """What is there is not overwritten."""
        _rich(store)
        other = Room(store, "other")
        other.remember("stays")
        lines = list(store.dump("room"))
        unchanged(other, lambda: store.load("other", iter(lines)), SpaceNotEmpty)

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_damaged_export_stores_nothing(self, store: Store, damage: str) -> None:
        """Fault: a failed import leaves half of it, or empties what was there."""
        room = _rich(store)
        lines = DAMAGES[damage](list(store.dump("room")))
        before = room.dump()
        with pytest.raises(InvalidExport):
            store.load("new", iter(lines))
        assert (store.spaces(), Room(store, "new").listed()) == (["room"], [])
        assert room.dump() == before

    @pytest.mark.parametrize(("kind", "name", "value"), FORGED)
    def test_values_that_no_memory_writes_are_refused(self, store: Store, kind: str, name: str, value: Any) -> None:
        """Fault: what an import let in breaks a later verb."""
        _rich(store)
        lines = _forged(list(store.dump("room")), kind, name, value)
        with pytest.raises(InvalidExport):
            store.load("new", iter(lines))
        assert Room(store, "new").listed() == []

    @pytest.mark.parametrize("ends", [("tea", "tea"), ("tram", "tea"), ("tea", "cue:why"), ("cue:why", "tea")])
    def test_links_that_no_memory_makes_are_refused(self, store: Store, ends: tuple[str, str]) -> None:
        """Of undirected kinds: with itself, out of order, with a cue."""
        _rich(store)
        lines = list(store.dump("room"))
        link = next(line["link"] for line in lines if line.get("link", {}).get("kind") == "ASSOCIATED")
        made = link | {"source": ends[0], "target": ends[1], "reading": [0, 0, 0]}
        for kind in ("ASSOCIATED", "SIMILAR"):
            with pytest.raises(InvalidExport):
                store.load("new", iter(_with(lines, {"link": made | {"kind": kind}})))

    def test_turns_in_a_circle_are_refused(self, store: Store) -> None:
        """Fault: who follows the turns before each turn never comes to an end."""
        room = Room(store)
        room.remember(*(node(name, session="s") for name in "abc"))
        lines = list(store.dump("room"))
        lines[1] = {"episode": lines[1]["episode"] | {"previous": "c"}}
        with pytest.raises(InvalidExport, match="lead back"):
            store.load("new", iter(lines))

    def test_turn_before_may_come_later(self, store: Store) -> None:
        """The order of memories in an export is that of their coming, whatever it is."""
        room = Room(store)
        room.remember(node("a", session="s"), node("b", session="s"))
        header, *turns, end = store.dump("room")
        assert store.load("new", [header, *reversed(turns), end]) == 2
        assert Room(store, "new").get("b").previous == "a"

    def test_reader_that_fails_stores_nothing(self, store: Store) -> None:
        """Fault: an error in the middle leaves an unknown state. Its own error comes through."""
        _rich(store)
        lines = list(store.dump("room"))

        def broken() -> Iterator[dict[str, Any]]:
            yield from lines[:4]
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="the disk is gone"):
            store.load("new", broken())
        assert Room(store, "new").listed() == []
        assert store.load("new", iter(lines)) == 5

    def test_dump_is_one_moment(self, store: Store) -> None:
        """What happens while it is read does not reach it."""
        room = _rich(store)
        before = list(store.dump("room"))
        records = store.dump("room")
        first = next(records)
        if not isinstance(store, ReferenceStore):
            first = dict(first)
        seen = [first, next(records)]
        room.remember("late")
        room.reinforce("tea", "rain")
        assert len([*seen, *records]) == len(before)


class Durability(StoreCase):
    """What outlives a store, and what several stores on the same data see."""

    def test_reopened_is_the_same(self, durable: Engine, store: Store) -> None:
        """Nothing is lost by closing, and closing twice is fine."""
        before = _rich(store).dump()
        store.close()
        store.close()
        again = durable.open()
        assert Room(again).dump() == before
        assert _answer(Room(again), "tea rain", axis(0))
        again.close()

    def test_others_see_each_write_at_once(self, durable: Engine, store: Store) -> None:
        """No cache shows what another store has added, changed or erased."""
        other = durable.open()
        mine, theirs = Room(store), Room(other)
        mine.remember(node("tea", vector=axis(0)), node("rain", vector=axis(1)))
        assert theirs.found("", axis(0))[0] == "tea"
        theirs.reinforce("tea", "rain", times=5)
        assert {n.id for n in store.neighbours("room", "tea", NOW, DEFAULT)} == {"rain"}
        theirs.remember(node("tram", vector=axis(2)))
        assert mine.found("", axis(2))[0] == "tram"
        mine.store.forget("room", ["tea"])
        assert sorted(theirs.found("tea", axis(0))) == ["rain", "tram"]
        mine.store.drop_space("room")
        assert theirs.found("", axis(1)) == []
        other.close()

    def test_readers_and_writers_side_by_side(self, durable: Engine, store: Store) -> None:
        """Fault: two users of one file meet "locked". Each reader sees all that was acknowledged before it asked."""
        Room(store).remember(node("m0", vector=axis(0)))
        written, failures = [1], []

        def write(number: int) -> None:
            own = durable.open()
            for n in range(40):
                Room(own).remember(node("m", id=f"m{number}-{n}", vector=axis(0)))
                Room(own).reinforce("m0", f"m{number}-{n}")
                written.append(1)
            own.close()

        def read() -> None:
            own = durable.open()
            for _ in range(40):
                least = len(written)
                seen = len(Room(own).found("m", axis(0), k=1000))
                if seen < least:
                    failures.append((seen, least))
            own.close()

        _together([lambda: write(1), lambda: write(2), read, read], failures)
        assert failures == []
        assert len(Room(store).listed()) == 81

    def test_backup_never_onto_its_own_files(self, engine: Engine, store: Store) -> None:
        """Whether they are there just now or not."""
        if engine.restore is None:
            pytest.skip("this engine makes no backups")
        _rich(store)
        assert store.files()
        for path in store.files():
            with pytest.raises(InvalidInput):
                store.backup(path)

    def test_backup_opens_by_itself(self, engine: Engine, store: Store, tmp_path: Path) -> None:
        """It is whole and apart; an existing file is not overwritten."""
        if engine.restore is None:
            pytest.skip("this engine makes no backups")
        room = _rich(store)
        target = tmp_path / "copy of memory"
        store.backup(target)
        before = room.dump()
        room.store.forget("room", ["tea"])
        copy = engine.restore(target)
        assert Room(copy).dump() == before
        copy.close()
        with pytest.raises(InvalidInput):
            store.backup(target)


def _rich(store: Store) -> Room:
    """A space with something of everything."""
    room = Room(store)
    room.remember(
        node("tea", session="s", speaker="Ann", metadata={"n": [1, {"x": None}]}, vector=axis(0)),
        node("rain", session="s", expires_at=NOW + 1e6, vector=near(axis(0), 0.8, 1)),
        node("用户服务器部署在腾讯云", vector=axis(2)),
        node("tram"),
        node("gone", vector=axis(0)),
    )
    room.reinforce("tea", "rain", "tram", cue=cue("why", axis(9)), event="e")
    room.reinforce("tea", "tram", cue="rain")
    room.reinforce("tea", cue=cue("later"))
    room.store.archive("room", ["gone"], NOW)
    room.store.link_similar("room", NOW, DEFAULT)
    assert store.identity("room") == MODEL
    return room


def _same(one: Room, other: Room) -> bool:
    first, second = one.dump(), other.dump()
    return [first[0] | {"space": ""}, *first[1:]] == [second[0] | {"space": ""}, *second[1:]]


def _answer(room: Room, text: str, vector: Any) -> list[tuple[str, float, str]]:
    return [(item.node.id, round(item.score, 6), item.path) for item in room.recall(text, vector).items]


def _together(tasks: list[Callable[[], None]], failures: list[Any]) -> None:
    def guarded(task: Callable[[], None]) -> None:
        try:
            task()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
