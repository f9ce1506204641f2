"""Engines that are wrong in one way each: the suite and the lockstep machine must catch every one of them.

This file is no test: `test_suite_catches` runs the suite on it and expects it to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from helamem_core.config import Config
from helamem_core.dynamics.scoring import ranked
from helamem_core.filters import matches
from helamem_core.records import CueRecord, Node, Patch, Recalled, RecallQuery, Reinforcement
from helamem_core.stores import rows
from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.reference.space import Space
from helamem_core.stores.rows import Link
from helamem_core.testing.conformance import Engine, StoreConformance
from helamem_core.types import EmbedderIdentity, FadeReport, ForgetReport, ReinforceReport


class LeakySiblings(ReferenceStore):
    """Reads take `acme-corp` for `acme`."""

    def _read(self, space: str) -> Space:
        stem = space.split("-", maxsplit=1)[0]
        return super()._read(stem if stem in self._spaces else space)


class LeakyFade(ReferenceStore):
    """Maintenance of one space reaches all."""

    def fade(self, space: str, now: float, config: Config) -> FadeReport:
        for other in self.spaces():
            if other != space:
                super().fade(other, now, config)
        return super().fade(space, now, config)


class SlowDecaySpace(Space):
    """Counts one fading too few."""

    def weight(self, link: Link, config: Config) -> float:
        kept = 1 - config.plasticity.decay
        now = super().weight(link, config)
        return now if link.kind == "SIMILAR" or now == link.weight else min(now / kept, link.weight)


class SlowDecay(ReferenceStore):
    """Links fade one time less than they should."""

    def _write(self, space: str) -> Space:
        return self._spaces.setdefault(space, SlowDecaySpace())


class TiesTheOtherWay(ReferenceStore):
    """Equal scores are ordered by id, but backwards."""

    def recall(self, space: str, query: RecallQuery) -> Recalled:
        answer = super().recall(space, query)
        backwards = sorted(answer.items, key=lambda item: item.node.id, reverse=True)
        ordered = sorted(backwards, key=lambda item: ranked(item.score, ""))
        return replace(answer, items=tuple(ordered))


class Tuned(ReferenceStore):
    """Reinforces under other settings than it was given."""

    changes: dict[str, Any] = {}  # noqa: RUF012

    def reinforce(self, space: str, event: Reinforcement) -> ReinforceReport:
        changed = replace(event.config, plasticity=replace(event.config.plasticity, **self.changes))
        return super().reinforce(space, replace(event, config=changed))


class NoDegreeCap(Tuned):
    """Hubs grow without bound."""

    changes = {"max_degree": 100_000}  # noqa: RUF012


class UncappedTurns(ReferenceStore):
    """The paper's links between consecutive turns grow without bound."""

    def remember(
        self, space: str, nodes: Sequence[Node], *, embedder: EmbedderIdentity | None, config: Config
    ) -> list[bool]:
        free = replace(config, plasticity=replace(config.plasticity, max_degree=100_000))
        return super().remember(space, nodes, embedder=embedder, config=free)


class DeafToCues(ReferenceStore):
    """A cue cannot be erased by its name."""

    def forget(self, space: str, ids: Sequence[str]) -> ForgetReport:
        return super().forget(space, [id for id in ids if id not in self._read(space).cues])


class NoWeightCap(Tuned):
    """Weights grow to 1 whatever the cap."""

    changes = {"cap": 1.0}  # noqa: RUF012


class DeadEndsSpace(Space):
    """Leaves the links of erased memories."""

    def erase(self, ids: Iterable[str]) -> ForgetReport:
        held = dict(self.links)
        report = super().erase(ids)
        self.links = held | self.links
        return report

    def fires(self, id: str) -> int:
        return super().fires(id) if id in self.nodes or id in self.cues else 0


class DeadEnds(ReferenceStore):
    """A forgotten memory's links stay."""

    def _write(self, space: str) -> Space:
        return self._spaces.setdefault(space, DeadEndsSpace())


class TalkingCuesSpace(Space):
    """Keeps the words of a cue that led to an erased memory."""

    def erase(self, ids: Iterable[str]) -> ForgetReport:
        words = {id: held.text for id, held in self.cues.items()}
        report = super().erase(ids)
        for id, held in self.cues.items():
            held.text = words[id]
        return report


class TalkingCues(ReferenceStore):
    """What was asked outlives what it was about."""

    def _write(self, space: str) -> Space:
        return self._spaces.setdefault(space, TalkingCuesSpace())


class EventsTwice(ReferenceStore):
    """Applies an event as often as it comes."""

    def reinforce(self, space: str, event: Reinforcement) -> ReinforceReport:
        return super().reinforce(space, replace(event, event=None))


class CuesNeverMerge(ReferenceStore):
    """Every wording is a cue of its own."""

    def reinforce(self, space: str, event: Reinforcement) -> ReinforceReport:
        strict = replace(event.config, limits=replace(event.config.limits, cue_merge=1.0))
        return super().reinforce(space, replace(event, config=strict) if isinstance(event.cue, CueRecord) else event)


class RecallWrites(ReferenceStore):
    """Counts each access."""

    def recall(self, space: str, query: RecallQuery) -> Recalled:
        answer = super().recall(space, query)
        for item in answer.items:
            self._read(space).nodes[item.node.id].uses += 1
        return answer


class FilterAfterTheCut(ReferenceStore):
    """Takes the best k and then filters."""

    def recall(self, space: str, query: RecallQuery) -> Recalled:
        asked = query.view.filter
        answer = super().recall(space, replace(query, view=replace(query.view, filter=None)))
        kept = [item for item in answer.items if asked is None or matches(asked, rows.filterable(item.node))]
        return replace(answer, items=tuple(kept))


class StaleVector(ReferenceStore):
    """An update without a vector keeps the old one."""

    def update(self, space: str, id: str, patch: Patch, now: float) -> Node:
        held = self._read(space).nodes.get(id)
        kept = held.vector if held is not None and patch.vector is None else patch.vector
        return super().update(space, id, replace(patch, vector=kept), now)


class MixedModels(ReferenceStore):
    """Takes vectors whosever they are."""

    def recall(self, space: str, query: RecallQuery) -> Recalled:
        return super().recall(space, replace(query, embedder=None))

    def reinforce(self, space: str, event: Reinforcement) -> ReinforceReport:
        return super().reinforce(space, replace(event, embedder=None))


class IdleCues(ReferenceStore):
    """Cues whose links have died stay."""

    def _write(self, space: str) -> Space:
        return self._spaces.setdefault(space, IdleCuesSpace())


class IdleCuesSpace(Space):
    """Keeps every cue."""

    def drop_idle_cues(self) -> None:
        return


class SharedMetadata(ReferenceStore):
    """Hands out what it holds."""

    def present(self, space: str, ids: Sequence[str], now: float) -> dict[str, Node]:
        held = self._read(space).nodes
        found = super().present(space, ids, now)
        return {id: replace(node, metadata=held[id].metadata) for id, node in found.items()}


class OnePage(ReferenceStore):
    """Forgets a thousand at most."""

    def forget(self, space: str, ids: Sequence[str]) -> ForgetReport:
        return super().forget(space, ids[:1000])


class DropLeavesEvents(ReferenceStore):
    """A dropped space keeps its event ids."""

    def drop_space(self, space: str) -> ForgetReport:
        events = self._read(space).events
        report = super().drop_space(space)
        if events:
            self._spaces[space] = Space(events=events)
        return report


@dataclass(frozen=True)
class Mutant:
    """A wrong engine, the tests of the suite that catch it, and whether short histories can show it."""

    make: Callable[[], ReferenceStore]
    tests: tuple[str, ...]
    lockstep: bool = True


MUTANTS = {
    mutant.make.__name__: mutant
    for mutant in (
        Mutant(LeakySiblings, ("test_names_compare_exactly",)),
        Mutant(LeakyFade, ("test_work_in_one_leaves_the_other",)),
        Mutant(SlowDecay, ("test_link_fades_when_an_end_fires_alone", "test_paper_fades_every_link_at_every_step")),
        Mutant(TiesTheOtherWay, ("test_ties_go_by_id", "test_near_ties_go_by_id")),
        Mutant(NoDegreeCap, ("test_degree_is_capped", "test_cue_degree_is_capped_at_both_ends")),
        Mutant(UncappedTurns, ("test_temporal_links_count_towards_the_degree",), lockstep=False),
        Mutant(DeafToCues, ("test_cue_can_be_named", "test_cue_named_beside_what_it_led_to_counts_once")),
        Mutant(NoWeightCap, ("test_weights_add_up_to_the_cap",)),
        Mutant(
            DeadEnds, ("test_links_go_with_their_ends", "test_every_path_agrees", "test_id_used_again_is_a_new_memory")
        ),
        Mutant(TalkingCues, ("test_canary_is_nowhere", "test_cue_that_led_only_there_goes")),
        Mutant(EventsTwice, ("test_event_is_applied_once",)),
        Mutant(CuesNeverMerge, ("test_near_identical_cues_are_one",)),
        Mutant(RecallWrites, ("test_recall_changes_nothing",)),
        Mutant(FilterAfterTheCut, ("test_filter_comes_before_the_cut", "test_unseen_neither_spreads_nor_is_lifted")),
        Mutant(StaleVector, ("test_old_vector_goes_with_the_old_text",)),
        Mutant(MixedModels, ("test_question_goes_by_words", "test_cue_waits_for_its_vector")),
        Mutant(IdleCues, ("test_cues_that_lead_nowhere_go",)),
        Mutant(SharedMetadata, ("test_metadata_is_nobody_elses",), lockstep=False),
        Mutant(OnePage, ("test_all_means_all",), lockstep=False),
        Mutant(DropLeavesEvents, ("test_dropped_space_is_gone_altogether",)),
    )
}


def _suite(mutant: Mutant) -> type[StoreConformance]:
    class Suite(StoreConformance):
        @pytest.fixture
        def engine(self) -> Engine:
            return Engine(open=mutant.make)

    return Suite


globals().update({f"Test{name}": _suite(mutant) for name, mutant in MUTANTS.items()})
