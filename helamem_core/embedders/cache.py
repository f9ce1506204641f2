"""A bounded cache of vectors in memory; it holds hashes of texts, never texts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from hashlib import blake2b

from helamem_core import forks
from helamem_core.types import Vector

SIZE = 4096


def key(model: str, kind: str, text: str) -> bytes:
    """Return the key of a text under a model: 16 bytes."""
    parts = (model.encode(), kind.encode(), text.encode("utf-8", "surrogatepass"))
    head = b"%d:%d:" % (len(parts[0]), len(parts[1]))
    return blake2b(head + b"".join(parts), digest_size=16).digest()


class VectorCache:
    """The vectors used last, at most `size` of them. Safe for threads.

    Args:
        size: most vectors kept; 0 keeps none.
    """

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = threading.Lock()
        forks.watch(self)

    def get(self, key: bytes) -> Vector | None:
        """Return a vector that was put, None if it was not or is gone."""
        with self._lock:
            vector = self._vectors.get(key)
            if vector is not None:
                self._vectors.move_to_end(key)
            return vector

    def put(self, key: bytes, vector: Vector) -> None:
        """Keep a vector; the one unused for longest goes if there is no room."""
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._vectors.clear()

    def before_fork(self) -> None:
        """Keep other threads out."""
        self._lock.acquire()

    def after_fork_in_parent(self) -> None:
        """Let them in again."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Go on with a copy."""
        self._lock.release()

    def __len__(self) -> int:
        """Return how many vectors are kept."""
        return len(self._vectors)
