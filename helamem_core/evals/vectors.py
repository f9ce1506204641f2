"""Vectors of a run: each text is embedded once, in batches, for the product and the baselines alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from helamem_core.embedders import resolve
from helamem_core.embedders.disk_cache import DiskCached
from helamem_core.embedders.encoder import reads
from helamem_core.evals.report import Progress, quiet
from helamem_core.protocols import Embedder
from helamem_core.types import EmbedderIdentity, Vector

BY_WORDS = "words"
"""The name of no embedder."""
DEFAULT_EMBEDDER = "minilm"
BATCH = 512

Kind = Literal["memory", "query"]


class Vectors:
    """An embedder that remembers all it has embedded, as long as it lives."""

    def __init__(self, embedder: Embedder, progress: Progress = quiet) -> None:
        self._embedder, self._progress = embedder, progress
        self._held: dict[tuple[str, str], Vector] = {}

    @property
    def identity(self) -> EmbedderIdentity:
        """The embedder's own."""
        return self._embedder.identity

    def reads(self, text: str) -> bool:
        """Return whether the embedder can read a text."""
        return reads(self._embedder, text)

    def embed(self, texts: Sequence[str], *, kind: Kind = "memory") -> Vector:
        """Return vectors of shape (len(texts), dimension)."""
        self.prepare(texts, kind=kind)
        found = [self._held[kind, text] for text in texts]
        return np.array(found, dtype=np.float32).reshape(len(texts), self.identity.dimension)

    def prepare(self, texts: Sequence[str], *, kind: Kind) -> None:
        """Embed those of the texts that are new."""
        missing = [text for text in dict.fromkeys(texts) if (kind, text) not in self._held]
        for at in range(0, len(missing), BATCH):
            batch = missing[at : at + BATCH]
            vectors = self._embedder.embed(batch, kind=kind)
            self._held |= {(kind, text): vector for text, vector in zip(batch, vectors, strict=True)}
            if len(missing) > 1:
                self._progress("embedding", at + len(batch), len(missing))


def open_vectors(embedder: Embedder | str | None, cache: Path | None, progress: Progress = quiet) -> Vectors | None:
    """Return the vectors of a model, None for `words`.

    Args:
        embedder: a name or an embedder; None: the packaged MiniLM.
        cache: folder that keeps vectors between runs; None: they live as long as the run.
        progress: told how many are embedded.

    Raises:
        MissingExtra: what the model needs is not installed.
        InvalidInput: an unknown name.
    """
    found = resolve(DEFAULT_EMBEDDER if embedder is None else embedder)
    if found is None:
        return None
    if not found.identity.dimension:
        found.embed(["a first text, to learn the dimension"])
    return Vectors(found if cache is None else DiskCached(found, cache), progress)
