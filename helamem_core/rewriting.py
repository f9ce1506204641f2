"""How `update` gives a memory a new text."""

from __future__ import annotations

from dataclasses import replace

from helamem_core import episodes
from helamem_core.context import Context, identity_of, warn
from helamem_core.errors import EmbeddingPendingWarning, MemoryNotFound
from helamem_core.records import Patch


def rewritten(context: Context, id: str, patch: Patch, new: str) -> Patch:
    """Return a patch that brings a new text, with its index entries and its vector.

    Raises:
        InvalidInput: the text is empty or no text.
        MemoryNotFound: there is no such memory.
    """
    cleaned = episodes.content(new)
    held = context.store.present(context.space, [id], context.now())
    if id not in held:
        raise MemoryNotFound([id], context.space)
    encoder, vector, model = context.encoder_to_ask(), None, None
    if encoder is not None:
        encoded = encoder.encode([cleaned], "memory")
        vector = encoded.vectors[0]
        model = identity_of(encoder, vector)
        if vector is None:
            warn(f"the new text waits for its vector: {encoded.error}", EmbeddingPendingWarning)
    return replace(patch, text=cleaned, vector=vector, embedder=model, **episodes.indexed(cleaned))
