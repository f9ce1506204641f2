"""The embedders that come with the library, and the names by which `Memory.open` knows them.

| name | what | extra |
|---|---|---|
| `minilm` | the packaged all-MiniLM-L6-v2, offline (the default) | `local` |
| `words` | no vectors: recall by words alone | |
| `sentence-transformers:NAME` | any such model: a folder, or a name of the Hugging Face hub | `local` |
| `openai:MODEL` | an endpoint that speaks OpenAI's protocol (`OPENAI_BASE_URL`, `OPENAI_API_KEY`) | `openai` |
| `hashing` | deterministic vectors of shared words; for tests | |
"""

from __future__ import annotations

from helamem_core.errors import InvalidInput
from helamem_core.protocols import Embedder
from helamem_core.showing import shown

NAMES = "minilm, words, sentence-transformers:NAME, openai:MODEL, hashing"


def resolve(embedder: Embedder | str) -> Embedder | None:
    """Return the embedder that is meant, None for `words`; no model is loaded yet.

    Raises:
        MissingExtra: what it needs is not installed.
        InvalidInput: an unknown name, or an object that is no embedder.
    """
    if not isinstance(embedder, str):
        if isinstance(embedder, type) or not isinstance(embedder, Embedder):
            raise InvalidInput(f"embedder is {shown(embedder)}; it needs `identity` and `embed`, or be one of {NAMES}")
        return embedder
    kind, _, model = embedder.partition(":")
    if kind == "openai" and model:
        from helamem_core.embedders.openai import OpenAIEmbedder

        return OpenAIEmbedder(model)
    if kind == "sentence-transformers" and model:
        from helamem_core.embedders.sentence_transformers import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(model)
    return _by_name(embedder)


def _by_name(name: str) -> Embedder | None:
    if name == "words":
        return None
    if name == "minilm":
        from helamem_core.embedders.sentence_transformers import minilm

        return minilm()
    if name == "hashing":
        from helamem_core.embedders.hashing import HashingEmbedder

        return HashingEmbedder()
    raise InvalidInput(
        f"embedder is {shown(name)}; it must be one of {NAMES}, or an object with `identity` and `embed`"
    )
