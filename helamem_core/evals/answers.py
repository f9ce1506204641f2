"""From what each method found to the tables: every metric by group of questions, and the paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from helamem_core.evals.conversations import Conversation
from helamem_core.evals.metrics import Interval, bootstrap, hit_at, paired_bootstrap, recall_at
from helamem_core.evals.report import Table, Value

SESSION_CUT = 10
"""Session hit is quoted at this cut, if it was asked for."""

Found = Mapping[int, Sequence[str]]
"""What was found for one question at each cut: ids, best first."""


@dataclass(slots=True)
class Answers:
    """What one method found, question by question.

    Attributes:
        method: its name.
        scores: metric to one value a question.
    """

    method: str
    scores: dict[str, list[float]] = field(default_factory=dict)

    def add(self, conversation: Conversation, found: Sequence[Found]) -> None:
        """Score the answers to the questions of a conversation, in their order."""
        session = {str(turn.id): turn.session or "" for turn in conversation.turns}
        for question, by_cut in zip(conversation.questions, found, strict=True):
            for cut, ids in by_cut.items():
                self._note(f"recall@{cut}", recall_at(ids, question.evidence, cut))
            if SESSION_CUT in by_cut and any(session.values()):
                gold = {session[id] for id in question.evidence}
                seen = [session[id] for id in by_cut[SESSION_CUT]]
                self._note(f"session hit@{SESSION_CUT}", hit_at(seen, gold, SESSION_CUT))

    def _note(self, metric: str, value: float) -> None:
        self.scores.setdefault(metric, []).append(value)


def groups(conversations: Sequence[Conversation], parts: Mapping[str, range]) -> dict[str, list[int]]:
    """Return the questions of each group by their position: all, each kind, each part.

    Args:
        conversations: whose questions, in order.
        parts: name to the conversations that belong to it, by position from 0; empty ones are left out.
    """
    asked = [(at, question.kind) for at, talk in enumerate(conversations) for question in talk.questions]
    kinds = sorted({kind for _, kind in asked if kind})
    made = {"all": list(range(len(asked)))}
    made |= {kind: [at for at, (_, other) in enumerate(asked) if other == kind] for kind in kinds}
    made |= {name: [at for at, (talk, _) in enumerate(asked) if talk in part] for name, part in parts.items()}
    return {name: places for name, places in made.items() if places}


def scores_table(answers: Sequence[Answers], places: Mapping[str, list[int]], seed: int) -> Table:
    """Return the mean of every metric with its interval, a row for each method and group of questions."""
    rows: list[Mapping[str, Value]] = []
    for name, at in places.items():
        for one in answers:
            means = {key: bootstrap([values[i] for i in at], seed=seed) for key, values in one.scores.items()}
            rows.append({"questions": name, "method": one.method, "n": len(at), **means})
    return Table("retrieval", tuple(rows))


def differences_table(pairs: Sequence[tuple[Answers, Answers]], seed: int) -> Table:
    """Return what each method gains over another on the same questions, with paired intervals."""
    rows: list[dict[str, Value]] = []
    for ours, theirs in pairs:
        gains: dict[str, Interval] = {
            metric: paired_bootstrap(values, theirs.scores[metric], seed=seed) for metric, values in ours.scores.items()
        }
        rows.append({"difference": f"{ours.method} - {theirs.method}", **gains})
    return Table("paired differences", tuple(rows))
