"""The conversations that retrieval is tested on: the one record, and the two formats it is read from.

Data sets stay where they are: they are named by a path, or found in the folder that HELAMEM_DATA names.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from helamem_core.errors import InvalidInput
from helamem_core.types import Turn

DATA_VARIABLE = "HELAMEM_DATA"
LOCOMO_FILE = "locomo10.json"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""LoCoMo's question kinds that have an answer; 5 is adversarial."""

_EVIDENCE = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it.

    Attributes:
        evidence: ids of turns of the conversation, distinct, at least one.
        kind: what kind of question; empty where the data do not say.
    """

    text: str
    evidence: tuple[str, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in the order in which they were said (each with an id), and questions about them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def locate(given: Path | None, name: str) -> Path:
    """Return where a data file is.

    Args:
        given: the file, or the folder that holds it; None: the folder that HELAMEM_DATA names.
        name: the file's name in such a folder.

    Raises:
        InvalidInput: there is no such file; the message says what to give.
    """
    folder = os.environ.get(DATA_VARIABLE)
    if given is None and not folder:
        raise InvalidInput(f"this needs {name!r}: give its path with --data, or its folder in {DATA_VARIABLE}")
    path = Path(folder or "") if given is None else given
    path = path / name if path.is_dir() else path
    if not path.is_file():
        raise InvalidInput(f"no data file {str(path)!r}; give its path with --data, or its folder in {DATA_VARIABLE}")
    return path


def read_locomo(path: Path) -> list[Conversation]:
    """Read LoCoMo: categories 1 to 4, questions that have at least one evidence turn that exists.

    A turn's text is its words and `[shares <caption>]` where it shares a picture. Its session's time is read as
    UTC, and a turn is one second after the one before, so that times keep the order.

    Raises:
        InvalidInput: the file is not LoCoMo.
    """
    records = _read(path)
    try:
        return [_locomo_conversation(record) for record in records]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{str(path)!r} is not LoCoMo: {error!r}") from error


def read_dialogue(path: Path) -> Conversation:
    """Read a plain dialogue: `{"turns": [{"id", "text", ...}], "questions": [{"question", "evidence": [id]}]}`.

    A turn may have every field of `Turn`; a question may have a `kind`.

    Raises:
        InvalidInput: the file is no such dialogue, or a question names a turn that is not there.
    """
    record = _read(path)
    try:
        turns = tuple(Turn(**turn) for turn in record["turns"])
        questions = tuple(
            Question(item["question"], tuple(dict.fromkeys(item["evidence"])), item.get("kind", ""))
            for item in record["questions"]
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidInput(f"{str(path)!r} is no dialogue with turns and questions: {error!r}") from error
    known = {turn.id for turn in turns}
    lost = [question.text for question in questions if not question.evidence or not known.issuperset(question.evidence)]
    if None in known or lost:
        raise InvalidInput(f"{str(path)!r}: every turn needs an id, every question evidence among them; not so {lost}")
    return Conversation(path.stem, turns, questions)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {str(path)!r} as JSON: {error}") from error


def _locomo_conversation(record: Mapping[str, Any]) -> Conversation:
    turns = tuple(_locomo_turns(record["conversation"]))
    known = {turn.id for turn in turns}
    questions = []
    for item in record["qa"]:
        named = _EVIDENCE.findall(" ".join(item.get("evidence", [])))
        evidence = tuple(id for id in dict.fromkeys(named) if id in known)
        if item["category"] in CATEGORIES and evidence:
            questions.append(Question(item["question"], evidence, CATEGORIES[item["category"]]))
    return Conversation(record["sample_id"], turns, tuple(questions))


def _locomo_turns(talk: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(found[1]) for key in talk if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        began = _moment(talk[f"session_{number}_date_time"])
        for place, said in enumerate(talk[f"session_{number}"]):
            caption = said.get("blip_caption")
            words = [said.get("text") or "", f"[shares {caption}]" if caption else ""]
            yield Turn(
                " ".join(filter(None, words)),
                speaker=said["speaker"],
                at=began + timedelta(seconds=place),
                session=f"session_{number}",
                id=said["dia_id"],
            )


def _moment(text: str) -> datetime:
    """Read a time such as `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
