"""Deterministic vectors from shared words, for tests and for trying things without a model.

Signed feature hashing: every index term votes for or against every dimension, by the bits of its hash; the sign of the
sum is the value. So texts that share words are similar, others near 0 (standard deviation 1/16), and all values are
+1/16 or -1/16: sums of their products are exact in any order, so that no engine's arithmetic can change a rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from helamem_core.text import clean, terms
from helamem_core.types import EmbedderIdentity, Vector

DIMENSION = 256


class HashingEmbedder:
    """See the module; needs nothing, knows no meaning.

    Args:
        name: the model's name, so that tests can have two of them.
    """

    def __init__(self, name: str = "hashing") -> None:
        self.identity = EmbedderIdentity(name, DIMENSION)

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        """Return vectors of shape (len(texts), 256); both kinds alike."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = _vector(self.identity.name, text)
        return vectors


def _vector(model: str, text: str) -> Vector:
    found = terms(text) or [clean(text)]
    votes = np.sum([_votes(model, term) for term in found], axis=0, dtype=np.int64)
    # Ties fall by the whole text, so that short texts have no direction in common.
    votes = 2 * votes + _votes(model, " ".join(found))
    vector: Vector = (np.sign(votes) / np.sqrt(DIMENSION)).astype(np.float32)
    return vector


@lru_cache(maxsize=65_536)
def _votes(model: str, term: str) -> NDArray[np.int8]:
    # Bounded: blake2b takes at most 16 bytes as person.
    person = blake2b(model.encode(), digest_size=16).digest()
    digest = blake2b(term.encode(), digest_size=DIMENSION // 8, person=person).digest()
    bits = np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.int8)
    return 2 * bits - 1
