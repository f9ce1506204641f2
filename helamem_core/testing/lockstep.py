"""Engines in lockstep: hypothesis writes a history of verbs, and after each one all stores must agree.

Two spaces (and the copy of one), English, Chinese and mixed texts, vectors or none, under settings drawn for
each run. An engine writer holds a store against the specification like this (needs hypothesis):

    def test_lockstep():
        run_lockstep({"reference": ReferenceStore, "mine": MyStore}, max_examples=200)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from helamem_core.config import DAY, DEFAULT, Config
from helamem_core.protocols import Store
from helamem_core.records import CueRecord, Embedded, Listing, Node, Patch, Reinforcement, View
from helamem_core.testing.agreement import Fleet, recalled
from helamem_core.testing.fakes import MODEL, NOW, OTHER_MODEL, axis, query, view
from helamem_core.testing.histories import (
    CONFIGS,
    OPEN,
    PROBES,
    QUESTIONS,
    SPACES,
    STRAY,
    carriers,
    cues,
    events,
    memories,
    named_cues,
    patches,
    picks,
    questions,
    skips,
    some_picks,
    spaces,
    strangers,
    vectors,
    views,
)
from helamem_core.types import EmbedderIdentity, Vector

Factories = Mapping[str, Callable[[], Store]]


class Lockstep(RuleBasedStateMachine):
    """One history, several stores; subclass it with `factories`, or use `run_lockstep`.

    Attributes:
        factories: how to make an empty store of each engine, by name; the first one is the specification.
        configs: the settings that runs are drawn from.
    """

    factories: ClassVar[Factories] = {}
    configs: ClassVar[Mapping[str, Config]] = CONFIGS

    def __init__(self) -> None:
        super().__init__()
        self.fleet = Fleet({name: make() for name, make in self.factories.items()})
        self.now, self.config, self.asked = NOW, DEFAULT, 0
        self.known: dict[str, list[str]] = {space: [] for space in SPACES}

    def teardown(self) -> None:
        """Close the stores."""
        self.fleet.close()

    @initialize(data=st.data(), first=st.lists(memories, min_size=4, max_size=8), second=st.lists(memories, max_size=4))
    def begin(self, data: st.DataObject, first: list[Node], second: list[Node]) -> None:
        """Every run has one of the settings, and mostly something to remember."""
        self.config = self.configs[data.draw(st.sampled_from(sorted(self.configs)))]
        self.remember("acme", first, False)
        self.remember("acme-corp", second, False)

    @invariant()
    def all_hold_the_same(self) -> None:
        """Contents, weights, clocks, counts."""
        for space, records in self.fleet.agree(SPACES).items():
            self.known[space] = [item["episode"]["id"] for item in records if "episode" in item]

    @invariant()
    def all_answer_the_same(self) -> None:
        """One question after each step, in turn."""
        text, asked, k = PROBES[self.asked % len(PROBES)]
        self.asked += 1
        self.recall("acme", text, asked, None, k, OPEN)

    @rule(space=spaces, batch=st.lists(memories, max_size=4), stranger=strangers)
    def remember(self, space: str, batch: list[Node], stranger: bool) -> None:
        """Ids come again, and with another model's vectors."""
        model = self._model(space, stranger)
        nodes = [replace(item, recorded_at=self.now) for item in batch]
        self.fleet.ask("remember", lambda s: s.remember(space, nodes, embedder=model, config=self.config))

    @rule(
        space=spaces,
        text=st.sampled_from(QUESTIONS),
        vector=vectors,
        cue=vectors,
        k=st.integers(1, 6),
        seen=views,
        carried=carriers,
    )
    def recall(
        self, space: str, text: str, vector: Any, cue: Any, k: int, seen: Any, carried: bool | None = None
    ) -> None:
        """Ids, order, paths, scores with all their parts, lifts with their sources."""
        model, bounds = self._carried(space, carried), self._view(seen)
        asked = query(text, vector=vector, cue=cue, k=k, config=self.config, seen=bounds, embedder=model)
        self.fleet.ask("recall", lambda s: s.recall(space, asked), recalled)

    @rule(
        space=spaces,
        used=some_picks,
        cue=cues,
        event=events,
        times=st.integers(1, 3),
        carried=carriers,
    )
    def reinforce(
        self,
        space: str,
        used: list[int],
        cue: int | CueRecord | None,
        event: str | None,
        times: int,
        carried: bool | None,
    ) -> None:
        """With and without cue; the same event may come again."""
        called = self._ids(space, [cue])[0] if isinstance(cue, int) else cue
        ids, model = tuple(self._ids(space, used)), self._carried(space, carried)
        happened = Reinforcement(ids=ids, cue=called, event=event, now=self.now, config=self.config, embedder=model)
        for _ in range(times):
            self.fleet.ask("reinforce", lambda s: s.reinforce(space, happened))

    @rule(asked=st.lists(questions, min_size=1, max_size=4), used=st.integers(1, 3), event=events)
    def answer(self, asked: list[CueRecord], used: int, event: str | None) -> None:
        """Ask several things, use the best answers, and say so."""
        for question in asked:
            found = query(question.text or "", vector=question.vector, k=used, config=self.config, seen=view(self.now))
            items = self.fleet.ask("recall", lambda s: s.recall("acme", found), recalled).items  # noqa: B023
            if items:
                ids = tuple(item.node.id for item in items)
                happened = Reinforcement(ids=ids, cue=question, event=event, now=self.now, config=self.config)
                self.fleet.ask("answer", lambda s: s.reinforce("acme", happened))  # noqa: B023

    @rule(rounds=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True), min_size=2, max_size=6))
    def practise(self, rounds: list[list[int]]) -> None:
        """Several events in a row, so that links grow, fade, compete and die."""
        for picked in rounds:
            ids = tuple(self._ids("acme", picked))
            happened = Reinforcement(ids=ids, cue=None, event=None, now=self.now, config=self.config)
            self.fleet.ask("practise", lambda s: s.reinforce("acme", happened))  # noqa: B023

    @rule(space=spaces, pick=picks, change=patches, carried=carriers)
    def update(self, space: str, pick: int, change: Patch, carried: bool | None) -> None:
        """A new text with or without vector, other metadata, another expiry."""
        (id,) = self._ids(space, [pick])
        change = replace(change, embedder=self._carried(space, carried))
        self.fleet.ask("update", lambda s: s.update(space, id, change, self.now))

    @rule(space=spaces, some=some_picks, asked=named_cues)
    def forget(self, space: str, some: list[int], asked: list[str]) -> None:
        """Known and unknown ids, and cues beside them."""
        self.fleet.ask("forget", lambda s: s.forget(space, [*asked, *self._ids(space, some)]))

    @rule(space=spaces, asked=named_cues)
    def forget_cues(self, space: str, asked: list[str]) -> None:
        """Cues alone."""
        self.fleet.ask("forget cues", lambda s: s.forget(space, asked))

    @rule(space=spaces, some=some_picks)
    def archive(self, space: str, some: list[int]) -> None:
        """Out of the active graph."""
        self.fleet.ask("archive", lambda s: s.archive(space, self._ids(space, some[:2]), self.now))

    @rule(space=spaces, some=some_picks)
    def restore(self, space: str, some: list[int]) -> None:
        """And back."""
        self.fleet.ask("restore", lambda s: s.restore(space, self._ids(space, some[:2])))

    @rule(space=spaces)
    def fade(self, space: str) -> None:
        """Expired, weak and dead things go."""
        self.fleet.ask("fade", lambda s: s.fade(space, self.now, self.config))

    @rule(space=spaces)
    def link_similar(self, space: str) -> None:
        """Near neighbours."""
        self.fleet.ask("link_similar", lambda s: s.link_similar(space, self.now, self.config))

    @rule(space=spaces, end=st.one_of(picks, st.sampled_from([f"cue:{text}" for text in QUESTIONS[-5:]])))
    def neighbours(self, space: str, end: int | str) -> None:
        """Of memories and of cues."""
        id = end if isinstance(end, str) else self._ids(space, [end])[0]
        self.fleet.ask("neighbours", lambda s: s.neighbours(space, id, self.now, self.config))

    @rule(space=spaces, some=some_picks)
    def look(self, space: str, some: list[int]) -> None:
        """Counts, model, memories by id."""
        self.fleet.ask("stats", lambda s: s.stats(space, self.now, self.config))
        self.fleet.ask("identity", lambda s: s.identity(space))
        self.fleet.ask("present", lambda s: s.present(space, self._ids(space, some), self.now))

    @rule(
        space=spaces,
        seen=views,
        archived=st.booleans(),
        order=st.sampled_from(("at", "-at", "recorded_at", "-recorded_at", "id", "-id")),
        limit=st.sampled_from((None, 0, 2, 5)),
        offset=st.integers(0, 3),
    )
    def select(self, space: str, seen: Any, archived: bool, order: Any, limit: int | None, offset: int) -> None:
        """Filters, orders, pages."""
        listing = Listing(view=self._view(seen), archived=archived, order=order, limit=limit, offset=offset)
        self.fleet.ask("select", lambda s: s.select(space, listing))

    @rule(space=spaces, limit=st.sampled_from((1, 2, 99)), skip=skips, found=vectors, stranger=strangers)
    def embed(self, space: str, limit: int, skip: int, found: Vector | None, stranger: bool) -> None:
        """Give waiting texts a vector."""
        model = self._model(space, stranger)
        waiting = self.fleet.ask("pending", lambda s: s.pending(space, limit, skip))
        rows = [Embedded(item.kind, item.id, item.text, axis(3) if found is None else found) for item in waiting]
        self.fleet.ask("embed", lambda s: s.embed(space, model, rows))

    @rule(
        space=spaces,
        limit=st.sampled_from((1, 3, 99)),
        skip=skips,
        found=vectors,
        stranger=strangers,
        adopt=st.booleans(),
    )
    def stage(self, space: str, limit: int, skip: int, found: Vector | None, stranger: bool, adopt: bool) -> None:
        """Prepare a change of model, and perhaps make it."""
        model = self._model(space, stranger)
        todo = self.fleet.ask("unstaged", lambda s: s.unstaged(space, model, limit, skip))
        rows = [Embedded(item.kind, item.id, item.text, axis(4) if found is None else found) for item in todo]
        self.fleet.ask("stage", lambda s: s.stage(space, model, rows))
        self.fleet.ask("unstaged", lambda s: s.unstaged(space, model, 99))
        if adopt:
            self.fleet.ask("adopt", lambda s: s.adopt(space, model))

    @rule(space=spaces)
    def load(self, space: str) -> None:
        """Move a space into the copy, in every store from the first one's export."""
        first = next(iter(self.fleet.stores.values()))
        lines = json.loads(json.dumps(list(first.dump(space))))
        self.fleet.ask("load", lambda s: s.load("copy", iter(lines)))

    @rule(space=st.sampled_from((*["copy"] * 5, "acme-corp", "acme")))
    def drop_space(self, space: str) -> None:
        """Mostly the copy."""
        self.fleet.ask("drop_space", lambda s: s.drop_space(space))

    @precondition(lambda self: self.now < NOW + 100 * DAY)
    @rule(seconds=st.sampled_from((1.0, 60.0, 0.9 * DAY, 2 * DAY, 31 * DAY)))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def _ids(self, space: str, picked: list[int]) -> list[str]:
        """Return distinct ids, mostly of memories that are there."""
        known = self.known[space]
        found = [known[pick % len(known)] if known and pick != STRAY else f"nobody {pick}" for pick in picked]
        return list(dict.fromkeys(found))

    def _model(self, space: str, stranger: bool) -> EmbedderIdentity:
        """Return the model of the space, or another one."""
        first = next(iter(self.fleet.stores.values()))
        own = first.identity(space) or MODEL
        return own if not stranger else OTHER_MODEL if own == MODEL else MODEL

    def _carried(self, space: str, stranger: bool | None) -> EmbedderIdentity | None:
        """Return the model that a question says its vectors are of."""
        return None if stranger is None else self._model(space, stranger)

    def _view(self, seen: dict[str, Any]) -> View:
        return view(self.now, **seen)


def run_lockstep(
    factories: Factories,
    *,
    configs: Mapping[str, Config] = CONFIGS,
    max_examples: int = 200,
    steps: int = 30,
    profile: settings | None = None,
) -> None:
    """Drive stores through many histories and hold them equal.

    Args:
        factories: how to make an empty store of each engine, by name; the first one is the specification.
        configs: the settings that runs are drawn from.
        max_examples: how many histories.
        steps: most verbs of a history.
        profile: other hypothesis settings to start from.

    Raises:
        Disagreement: with the shortest history that hypothesis found.
    """
    machine = type("LockstepRun", (Lockstep,), {"factories": dict(factories), "configs": dict(configs)})
    asked = settings(
        profile or settings(),
        max_examples=max_examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=asked)
