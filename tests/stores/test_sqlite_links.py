"""The links that a store keeps in memory are those of the file, whoever changed them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from helamem_core.config import DEFAULT, PAPER, Config
from helamem_core.records import Embedded, Patch, Reinforcement
from helamem_core.stores.sqlite import SQLiteStore, links
from helamem_core.testing.agreement import difference, recalled
from helamem_core.testing.fakes import MODEL, NOW, OTHER_MODEL, axis, cue, near, node, query, view
from helamem_core.types import Vector

SPACE = "acme"
COUNT = 16
LIVELY = replace(
    DEFAULT,
    plasticity=replace(DEFAULT.plasticity, decay=0.6, floor=0.05, max_degree=4),
    spreading=replace(DEFAULT.spreading, threshold=0.0, similar=1.0),
)
CONFIGS = {
    "lively": LIVELY,
    "steps": replace(LIVELY, plasticity=replace(LIVELY.plasticity, clock="steps")),
    "paper": PAPER,
}


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[SQLiteStore, SQLiteStore]]:
    """Two stores on one file, as of two processes."""
    path = tmp_path / "links.db"
    with closing(SQLiteStore(path, synchronous="normal")) as one, closing(SQLiteStore(path)) as other:
        yield one, other


def like(towards: int) -> Vector:
    """Return a vector with a cosine of .8 with the axis that all share."""
    return near(axis(0), 0.8, towards)


def fill(store: SQLiteStore, config: Config, first: int = 0, count: int = COUNT) -> None:
    """Remember turns of two sessions that are all a little like the question."""
    nodes = [
        node(f"word{at} tea", id=f"n{at}", vector=like(at % 7 + 1), session=f"s{at % 2}", recorded_at=NOW)
        for at in range(first, first + count)
    ]
    store.remember(SPACE, nodes, embedder=store.identity(SPACE) or MODEL, config=config)


def answers(store: SQLiteStore, config: Config) -> list[Any]:
    """Return what a store answers to some questions."""
    asked = [query("tea", vector=like(at), k=8, config=config, seen=view(NOW)) for at in (1, 4)]
    return [recalled(store.recall(SPACE, question)) for question in asked]


def use(store: SQLiteStore, ids: list[str], config: Config, cue: str | None = None) -> None:
    """Reinforce memories."""
    store.reinforce(SPACE, Reinforcement(ids=tuple(ids), cue=cue, event=None, now=NOW, config=config))


def there(store: SQLiteStore) -> list[str]:
    """Return the ids of all memories."""
    return [item["episode"]["id"] for item in store.dump(SPACE) if "episode" in item]


def deed(store: SQLiteStore, random: Random, config: Config, step: int) -> None:
    """Change links in one of all the ways there are; mostly by use."""
    ids = there(store)
    some = random.sample(ids, min(3, len(ids)))
    way = random.randrange(16)
    if way == 0:
        store.forget(SPACE, some[:1])
    elif way == 1:
        store.update(SPACE, some[0], Patch(text=f"new tea {step}", terms={"tea": 1}, vector=like(3)), NOW)
    elif way == 2:
        store.fade(SPACE, NOW, config)
    elif way == 3:
        store.link_similar(SPACE, NOW, config)
    elif way == 4:
        fill(store, config, first=100 + 4 * step, count=4)
    elif way == 5:
        store.archive(SPACE, some[:1], NOW)
        store.restore(SPACE, some[:1])
    elif way == 6:
        model = OTHER_MODEL if store.identity(SPACE) == MODEL else MODEL
        rows = [Embedded(item.kind, item.id, item.text, like(2)) for item in store.unstaged(SPACE, model, 99)]
        store.stage(SPACE, model, rows)
        if step % 3 == 0:
            store.adopt(SPACE, model)
    else:
        use(store, some, config, cue=random.choice(ids) if way % 2 else None)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("seed", range(4))
def test_links_follow_what_others_do(
    stores: tuple[SQLiteStore, SQLiteStore], name: str, seed: int, tmp_path: Path
) -> None:
    one, other = stores
    config, random = CONFIGS[name], Random(seed)
    fill(one, config)
    for step in range(60):
        deed(random.choice(stores), random, config, step)
        with closing(SQLiteStore(tmp_path / "links.db")) as fresh:
            expected = answers(fresh, config)
        assert difference(expected, answers(one, config)) is None, step
        if step % 3 == 0:
            assert difference(expected, answers(other, config)) is None, step


def test_a_link_that_has_faded_no_longer_divides(stores: tuple[SQLiteStore, SQLiteStore]) -> None:
    one, other = stores
    fill(one, LIVELY)
    use(one, ["n1", "n2"], LIVELY)
    use(one, ["n2", "n3"], LIVELY)
    shared = _weight_of(answers(one, LIVELY))
    for _ in range(4):
        use(other, ["n3"], LIVELY)
    assert _weight_of(answers(one, LIVELY)) > shared


def _weight_of(found: list[Any]) -> float:
    """Return what n1 lends n2."""
    items = {item["node"]["id"]: item for item in found[0]["items"]}
    return float(sum(lift["amount"] for lift in items["n2"]["why"]["lifts"] if lift["source"] == "n1"))


def test_a_long_absence_starts_anew(
    stores: tuple[SQLiteStore, SQLiteStore], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(links, "_KEPT", 3)
    one, other = stores
    fill(one, LIVELY)
    for at in range(8):
        use(one, [f"n{at}", f"n{at + 1}"], LIVELY)
    answers(one, LIVELY)
    for at in range(6):
        use(other, [f"n{at}", f"n{at + 2}"], LIVELY)
    with closing(SQLiteStore(tmp_path / "links.db")) as fresh:
        assert difference(answers(fresh, LIVELY), answers(one, LIVELY)) is None


def test_what_was_read_in_vain_is_thrown_away(
    stores: tuple[SQLiteStore, SQLiteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_FIRST", 4)
    one, _ = stores
    fill(one, LIVELY)
    for step in range(60):
        use(one, [f"n{step % COUNT}", f"n{(step + 1) % COUNT}", f"n{(step + 5) % COUNT}"], LIVELY)
        answers(one, LIVELY)
    (table,) = [entry.links for entry in one._cache._entries.values()]
    assert 0 < table.size <= 16 * COUNT * LIVELY.plasticity.max_degree


def test_a_cue_that_leads_only_out_of_the_graph_lends_nothing(tmp_path: Path) -> None:
    """In a process that just opened the file there is not one column of memories then."""
    path = tmp_path / "links.db"
    with closing(SQLiteStore(path)) as store:
        store.remember(SPACE, [node("tea", id="tea", vector=axis(0))], embedder=MODEL, config=DEFAULT)
        asked = cue("q", axis(1))
        store.reinforce(SPACE, Reinforcement(ids=("tea",), cue=asked, event=None, now=NOW, config=DEFAULT))
        store.archive(SPACE, ["tea"], NOW)
    with closing(SQLiteStore(path)) as store:
        assert store.recall(SPACE, query("q", vector=axis(1), cue=axis(1))).items == ()
