"""Embeddings from an endpoint that speaks OpenAI's protocol: OpenAI itself, vLLM, Ollama, TEI, ... (extra `openai`)."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from helamem_core.errors import EmbedderError, InvalidInput, MissingExtra
from helamem_core.showing import shown
from helamem_core.types import EmbedderIdentity, Vector

if TYPE_CHECKING:
    from openai import OpenAI

DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAIEmbedder:
    """A model behind `/embeddings`. The client repeats requests that failed for a passing reason. Safe for threads.

    Args:
        model: its name at the endpoint.
        base_url: the endpoint; None: `OPENAI_BASE_URL`, else OpenAI.
        api_key: None: `OPENAI_API_KEY`; an endpoint other than OpenAI's may go without. Never shown.
        dimension: length of the vectors, if known; None: a known model's, else told by the first answer.
        shorten: whether to ask the endpoint for `dimension` values, for models that can be cut.
        batch_size: texts a request, in [1, 2048].
        max_retries: repetitions of a failed request; None: the client's 2.
        timeout: seconds for one request; None: the client's 600.

    Raises:
        MissingExtra: openai is not installed.
        InvalidInput: a setting cannot be used, or there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimension: int | None = None,
        shorten: bool = False,
        batch_size: int = 256,
        max_retries: int | None = None,
        timeout: float | None = None,
    ) -> None:
        if importlib.util.find_spec("openai") is None:
            raise MissingExtra(f"the embedder 'openai:{model}'", "openai")
        if not 1 <= batch_size <= 2048:
            raise InvalidInput(f"batch_size is {shown(batch_size)}; it must be in [1, 2048]")
        if shorten and not dimension:
            raise InvalidInput("shorten needs a dimension to shorten to")
        base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        key = api_key or os.environ.get("OPENAI_API_KEY") or ("not-needed" if base_url else None)
        if key is None:
            raise InvalidInput(f"the embedder 'openai:{model}' needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL")
        self._secret = key
        self._options: dict[str, Any] = {"base_url": base_url, "api_key": key}
        self._options |= {} if max_retries is None else {"max_retries": max_retries}
        self._options |= {} if timeout is None else {"timeout": timeout}
        # Servers that are not OpenAI's may not know base64, the client's default.
        self._request: dict[str, Any] = {"model": model}
        self._request |= {"encoding_format": "float"} if base_url else {}
        self._request |= {"dimensions": dimension} if shorten else {}
        self._batch_size = batch_size
        self._identity = EmbedderIdentity(model, dimension or DIMENSIONS.get(model, 0))
        self._client: OpenAI | None = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> EmbedderIdentity:
        """The model; dimension 0 as long as nobody told it."""
        return self._identity

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._identity.name!r})"

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        """Return vectors of shape (len(texts), dimension).

        Raises:
            EmbedderError: the endpoint failed, or its answer does not fit the texts.
        """
        batches = [texts[at : at + self._batch_size] for at in range(0, len(texts), self._batch_size)]
        rows = [row for batch in batches for row in self._answer(list(batch))]
        if not rows:
            return np.empty((0, self._identity.dimension), np.float32)
        widths = {len(row) for row in rows}
        if widths != {self._identity.dimension or len(rows[0])}:
            raise EmbedderError(f"{self!r} gave vectors of {sorted(widths)} values, not {self._identity.dimension}")
        self._identity = replace(self._identity, dimension=len(rows[0]))
        return np.array(rows, np.float32)

    def close(self) -> None:
        """Close the client's connections; again is a no-op."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _answer(self, texts: list[str]) -> list[list[float]]:
        try:
            data = self._open().embeddings.create(input=texts, **self._request).data
            answer = {item.index: item.embedding for item in data}
        except Exception as error:
            # The cause is cut off: its request carries the key.
            raise EmbedderError(f"{type(error).__name__}: {str(error).replace(self._secret, '***')}") from None
        if sorted(answer) != list(range(len(texts))) or len(data) != len(texts):
            raise EmbedderError(f"{self!r} gave {len(data)} vectors for {len(texts)} texts")
        # Some servers answer out of order.
        return [answer[at] for at in range(len(texts))]

    def _open(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                from openai import OpenAI

                self._client = OpenAI(**self._options)
            return self._client
