"""Any dialogue as a test of retrieval: your own turns and questions, in any language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from helamem_core.evals.conversations import locate, read_dialogue
from helamem_core.evals.report import Report
from helamem_core.evals.runner import ConversationOptions, run_conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueOptions(ConversationOptions):
    """What can be chosen.

    Attributes:
        file: JSON as `read_dialogue` describes it.
    """

    file: Path
    cuts: tuple[int, ...] = (5,)


def run_dialogue(options: DialogueOptions) -> Report:
    """Measure recall of a dialogue's evidence.

    Raises:
        InvalidInput: the file is not there or is no dialogue.
    """
    path = locate(options.file, options.file.name)
    return run_conversations("dialogue", [read_dialogue(path)], options, file=path)
