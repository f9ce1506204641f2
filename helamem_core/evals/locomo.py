"""LoCoMo as a test of retrieval: ten very long conversations, 1,535 questions, no language model.

Maharana et al. 2024 (arXiv 2402.17753). The data are CC BY-NC 4.0 and are not part of this project.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from helamem_core.errors import InvalidInput
from helamem_core.evals.conversations import LOCOMO_FILE, locate, read_locomo
from helamem_core.evals.report import Report
from helamem_core.evals.runner import ConversationOptions, run_conversations

TUNED = 5
"""Settings are tuned on the first so many conversations; the others are reported apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoOptions(ConversationOptions):
    """What can be chosen.

    Attributes:
        data: `locomo10.json` or its folder; None: the folder that HELAMEM_DATA names.
        conversations: which ones, counted from 1; empty: all.
    """

    data: Path | None = None
    conversations: tuple[int, ...] = ()


def run_locomo(options: LocomoOptions) -> Report:
    """Measure recall and session hit by kind of question, and apart for conversations 1 to 5 and 6 to 10.

    Raises:
        InvalidInput: the data are not there or not LoCoMo, or a conversation does not exist.
    """
    path = locate(options.data, LOCOMO_FILE)
    all_talks = read_locomo(path)
    numbers = sorted(set(options.conversations)) or list(range(1, len(all_talks) + 1))
    if not 1 <= numbers[0] <= numbers[-1] <= len(all_talks):
        raise InvalidInput(f"conversations {numbers!r}: {path.name!r} has 1 to {len(all_talks)}")
    tuned = sum(number <= TUNED for number in numbers)
    parts = {"conv. 1-5": range(tuned), "conv. 6-10": range(tuned, len(numbers))}
    talks = [all_talks[number - 1] for number in numbers]
    return run_conversations("locomo", talks, options, file=path, parts=parts)
