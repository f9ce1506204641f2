"""Memories on the engines that need no server, and an embedder that fails when told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from helamem_core import EmbedderIdentity, Memory
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.testing.fakes import CountingIds, FakeClock
from helamem_core.types import Vector

Open = Callable[..., Memory]


class Flaky(HashingEmbedder):
    """The hashing embedder; it fails while `failing`, and gives zeros for texts with the word `poison`."""

    def __init__(self, name: str = "hashing") -> None:
        super().__init__(name)
        self.failing = False
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        self.asked += texts
        if self.failing:
            raise RuntimeError("429 too many requests")
        vectors = super().embed(texts, kind=kind)
        return vectors * np.array([["poison" not in text] for text in texts], np.float32)


class LateDimension(HashingEmbedder):
    """An embedder that knows its dimension only after its first answer."""

    def __init__(self) -> None:
        super().__init__("late")
        self.identity = EmbedderIdentity("late", 0)

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        vectors = super().embed(texts, kind=kind)
        self.identity = EmbedderIdentity("late", vectors.shape[1])
        return vectors


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/m.db"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def opened(url: str, clock: FakeClock) -> Iterator[Open]:
    """Opens memories that are closed after the test."""
    with ExitStack() as stack:

        def opener(**options: Any) -> Memory:
            defaults: dict[str, Any] = {"url": url, "space": "s", "embedder": "hashing", "clock": clock}
            return stack.enter_context(Memory.open(**defaults | {"ids": CountingIds()} | options))

        yield opener


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()
