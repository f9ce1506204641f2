"""Questions about a conversation, asked of the product and of the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from helamem_core.evals import baselines
from helamem_core.evals.answers import Found
from helamem_core.evals.baselines import Scores
from helamem_core.evals.conversations import Conversation
from helamem_core.memory import Memory
from helamem_core.protocols import Embedder

Lesson = Literal["retrieved", "evidence"]
"""What is reinforced after a question: all that was retrieved, or only what of it is evidence."""


def attributed(conversation: Conversation) -> list[str]:
    """Return each turn after its speaker's name, which is how dense retrieval alone does best on such data."""
    return [f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in conversation.turns]


def ask(memory: Memory, conversation: Conversation, cuts: Sequence[int]) -> list[Found]:
    """Ask each question once for each cut, as a user would who wants that many; nothing is learned."""
    return [{k: memory.recall(item.text, k=k).ids for k in cuts} for item in conversation.questions]


def teach(memory: Memory, conversation: Conversation, lesson: Lesson, k: int) -> int:
    """Ask each question once and reinforce, with the question as cue.

    Args:
        memory: holds the conversation.
        conversation: whose questions.
        lesson: what is reinforced.
        k: how many are retrieved.

    Returns:
        How many memories were reinforced in all.
    """
    fired = 0
    for question in conversation.questions:
        found = memory.recall(question.text, k=k)
        used = [id for id in found.ids if lesson == "retrieved" or id in question.evidence]
        if used:
            memory.reinforce(used, cue=found)
            fired += len(used)
    return fired


def rank(conversation: Conversation, cuts: Sequence[int], embedder: Embedder | None) -> dict[str, list[Found]]:
    """Return what each baseline finds, by its name; without an embedder only those that go by words."""
    said = [turn.text for turn in conversation.turns]
    ids = [str(turn.id) for turn in conversation.turns]
    words = baselines.Bm25(said)
    lexical = [words.scores(question.text) for question in conversation.questions]
    scores: dict[str, list[Scores]] = {"BM25": lexical}
    if embedder is not None:
        asked = embedder.embed([question.text for question in conversation.questions], kind="query")
        matrix = embedder.embed(attributed(conversation))
        dense = [baselines.cosine(matrix, vector) for vector in asked]
        fused = [baselines.fuse(*pair) for pair in zip(dense, lexical, strict=True)]
        scores = {
            "dense": dense,
            "dense + length": [baselines.length_prior(each, said) for each in dense],
            **scores,
            "RRF": fused,
        }
    return {name: [_cut(each, ids, cuts) for each in by_question] for name, by_question in scores.items()}


def _cut(scores: Scores, ids: Sequence[str], cuts: Sequence[int]) -> Found:
    order = baselines.best(scores)
    return {k: [ids[at] for at in order[:k]] for k in cuts}
