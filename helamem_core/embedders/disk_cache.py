"""Vectors kept in a folder between runs, for benchmarks that embed the same texts again and again.

Not for a memory that people use: what is forgotten there would stay here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from helamem_core.embedders.cache import key
from helamem_core.embedders.encoder import reads
from helamem_core.protocols import Embedder
from helamem_core.types import EmbedderIdentity, Vector


class DiskCached:
    """An embedder that asks another one only for texts that the folder lacks.

    One file a model: records of a 16-byte hash and float32 values, only ever appended.

    Args:
        embedder: who embeds; its identity must name a dimension.
        folder: where the file is kept; made if it is not there.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        model = embedder.identity
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{blake2b(model.name.encode(), digest_size=8).hexdigest()}-{model.dimension}.vectors"
        self._record = np.dtype([("key", "V16"), ("vector", "<f4", (model.dimension,))])
        self._rows = self._load()

    @property
    def identity(self) -> EmbedderIdentity:
        """The other embedder's."""
        return self._embedder.identity

    def reads(self, text: str) -> bool:
        """Return whether the embedder can read a text."""
        return reads(self._embedder, text)

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        """Return vectors, those of unknown texts from the other embedder."""
        with self._lock:
            keys = [key(self.identity.name, kind, text) for text in texts]
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
            if missing:
                self._append(list(missing), self._embedder.embed(list(missing.values()), kind=kind))
            found = [self._rows[key] for key in keys]
            return np.array(found, np.float32).reshape(len(texts), self.identity.dimension)

    def _load(self) -> dict[bytes, NDArray[np.float32]]:
        if not self._path.exists():
            return {}
        # A run that was killed may have left half a record at the end.
        whole = self._path.stat().st_size // self._record.itemsize
        os.truncate(self._path, whole * self._record.itemsize)
        records = np.fromfile(self._path, self._record)
        return {bytes(record["key"].tobytes()): record["vector"] for record in records}

    def _append(self, keys: list[bytes], vectors: Vector) -> None:
        records = np.empty(len(keys), self._record)
        for at, digest in enumerate(keys):
            records["key"][at] = np.void(digest)
        records["vector"] = vectors
        with self._path.open("ab") as file:
            file.write(records.tobytes())
        self._rows.update(zip(keys, records["vector"], strict=True))
