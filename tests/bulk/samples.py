"""Turns for the tests of bulk loading, and what two memories must have in common."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.memory import Memory

WORDS = ("river", "stone", "lantern", "cello", "bread", "winter", "market", "garden", "letter", "harbour", "violin")
DIMENSION = HashingEmbedder().identity.dimension
_START = datetime(2025, 3, 1, tzinfo=UTC)


def turns(count: int, *, vectors: bool = True, seed: int = 4) -> Iterator[dict[str, Any]]:
    """Yield turns of many interleaved sessions, some of none, some known by `at` alone, some said twice."""
    chance = random.Random(seed)
    last: dict[str, Any] = {}
    sessions = max(3, count // 40)
    for number in range(count):
        if number % 97 == 96:
            yield dict(last)  # the same turn again
            continue
        record: dict[str, Any] = {
            "text": f"{' '.join(chance.choices(WORDS, k=8))} {number}",
            "at": (_START + timedelta(seconds=number)).isoformat(),
            "speaker": chance.choice(["Ann", "小雨", "Bob"]),
        }
        if number % 3:
            record["id"] = f"turn-{seed}-{number}"
        if number % 10:
            record["session"] = f"session-{chance.randrange(sessions)}"
        if number % 7 == 0:
            record["metadata"] = {"topic": chance.choice(WORDS), "place": None}
        if vectors:
            record["vector"] = vector(chance)
        last = record
        yield record


def vector(chance: random.Random) -> list[float]:
    """Return a vector as JSON holds it, of numbers that float32 holds exactly."""
    return [chance.randrange(-128, 128) / 128 for _ in range(DIMENSION)]


def write_lines(path: Path, records: Iterator[dict[str, Any]]) -> str:
    """Write JSON lines; return the path."""
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    return str(path)


def graph(memory: Memory) -> dict[str, dict[str, Any]]:
    """Return all that a memory exports, by what it is about, without the times at which it was recorded."""
    file = io.StringIO()
    memory.export(file)
    found: dict[str, dict[str, Any]] = {}
    header, *records = map(json.loads, file.getvalue().splitlines())
    found["embedder"] = header["embedder"]
    for record in records:
        ((kind, values),) = record.items()
        values.pop("recorded_at", None)
        key = values.get("id") or f"{values.get('source')}>{values.get('target')}"
        assert f"{kind} {key}" not in found, f"twice: {kind} {key}"
        found[f"{kind} {key}"] = values
    return found
