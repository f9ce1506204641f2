"""What stands between the memory and an embedder: the cache, and the check that what comes back is an embedding.

An embedder is somebody else's code or server. Whatever it does, a text without a usable vector is a value here, not an
exception: the memory stores it and finds it by its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from helamem_core.embedders.cache import VectorCache, key
from helamem_core.errors import EmbedderError
from helamem_core.protocols import Embedder, Literate
from helamem_core.types import EmbedderIdentity, Vector

Kind = Literal["memory", "query"]
_PLAIN = "a plain text"


@dataclass(frozen=True, slots=True)
class Encoded:
    """Vectors of texts, None where there is none, and why."""

    vectors: list[Vector | None]
    error: str | None = None


class Encoder:
    """An embedder with a cache, whose answers are unit float32 vectors or None.

    Args:
        embedder: who embeds.
        cache: where vectors are kept.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self.embedder = embedder
        self._cache = cache
        self._width = 0

    @property
    def identity(self) -> EmbedderIdentity:
        """The model; its dimension is 0 as long as the embedder has not told it and nothing was embedded."""
        identity = self.embedder.identity
        return identity if identity.dimension else replace(identity, dimension=self._width)

    def assume(self, width: int) -> None:
        """Take this for the model's dimension as long as the embedder does not tell it."""
        self._width = width

    def reads(self, text: str) -> bool:
        """Return whether the model can read a text."""
        try:
            return reads(self.embedder, text)
        except Exception:  # then `encode` reports what is wrong with the model
            return True

    def encode(self, texts: Sequence[str], kind: Kind) -> Encoded:
        """Return a vector for each text, as far as the embedder gives usable ones."""
        keys = [key(self.embedder.identity.name, kind, text) for text in texts]
        found = {key: self._cached(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        error = None
        if missing:
            fresh = self._ask(list(missing.values()), kind)
            error = fresh.error
            for at, vector in zip(missing, fresh.vectors, strict=True):
                found[at] = vector
                if vector is not None:
                    self._cache.put(at, vector)
        return Encoded([found[key] for key in keys], error)

    def works(self) -> bool:
        """Return whether the embedder, asked afresh, has a vector for a plain text."""
        return self._ask([_PLAIN], "memory").vectors[0] is not None

    def _cached(self, key: bytes) -> Vector | None:
        """Return a cached vector; one of another length is of a model that was cut differently."""
        vector, width = self._cache.get(key), self.identity.dimension
        return vector if vector is not None and len(vector) == (width or len(vector)) else None

    def _ask(self, texts: list[str], kind: Kind) -> Encoded:
        try:
            answer = self.embedder.embed(texts, kind=kind)
            vectors = usable(answer, len(texts), self.embedder.identity.dimension)
        except Exception as error:
            return Encoded([None] * len(texts), f"{type(error).__name__}: {error}")
        self._width = next((len(vector) for vector in vectors if vector is not None), self._width)
        bad = sum(vector is None for vector in vectors)
        return Encoded(
            vectors, f"the embedder gave {bad} vectors of zeros, with NaN or of another length" if bad else None
        )


def reads(embedder: Embedder, text: str) -> bool:
    """Return whether a model can read a text; True if it cannot tell."""
    return not isinstance(embedder, Literate) or embedder.reads(text)


def usable(answer: Any, count: int, width: int) -> list[Vector | None]:
    """Return the rows as unit float32 vectors that own their memory, None for a row of zeros or with NaN.

    Args:
        answer: anything, hopefully an array of shape (count, width).
        count: how many rows there must be.
        width: their length; 0: any.

    Raises:
        EmbedderError: it has another shape.
    """
    try:
        rows = np.asarray(answer, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        mended = _row_by_row(answer, count, width)
        if mended is None:
            raise EmbedderError(f"not an array of numbers: {type(answer).__name__}") from error
        rows = mended
    expected = (count, width or rows.shape[-1]) if rows.ndim else (count, width)
    if rows.shape != expected or 0 in expected:
        raise EmbedderError(f"vectors have the shape {rows.shape}, not {expected}")
    peaks = np.abs(rows).max(axis=1)
    good = np.isfinite(peaks) & (peaks > 0)
    # Brought to [-1, 1] first, where no square is too large or too small.
    rows = np.where(good[:, None], rows, 1.0) / np.where(good, peaks, 1.0)[:, None]
    units = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)
    return [_frozen(units[at]) if good[at] else None for at in range(count)]


def _row_by_row(answer: Any, count: int, width: int) -> NDArray[np.float64] | None:
    """Return what is no array as a whole as one whose bad rows are NaN; None if that makes no sense."""
    if not isinstance(answer, (Sequence, np.ndarray)) or isinstance(answer, (str, bytes)) or len(answer) != count:
        return None
    rows = [_row(row) for row in answer]
    width = width or next((len(row) for row in rows if row is not None), 0)
    if not any(row is not None and len(row) == width for row in rows):
        return None
    bad = np.full(width, np.nan)
    return np.array([bad if row is None or len(row) != width else row for row in rows])


def _row(values: Any) -> NDArray[np.float64] | None:
    """Return a row of numbers, None if it is none or of zeros or not finite."""
    try:
        row = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return row if row.ndim == 1 and np.isfinite(row).all() and row.any() else None


def unit(vector: Any, width: int) -> Vector:
    """Return one given vector as a unit float32 vector.

    Args:
        vector: numbers of shape (width,).
        width: its length; 0: any.

    Raises:
        EmbedderError: another shape, zeros, or not finite.
    """
    found = usable([vector], 1, width)[0]
    if found is None:
        raise EmbedderError("the vector is all zeros or has NaN or infinite values")
    return found


def _frozen(row: Vector) -> Vector:
    own = row.copy()
    own.flags.writeable = False
    return own
