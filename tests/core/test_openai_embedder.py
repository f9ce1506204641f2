"""The OpenAI-compatible embedder against a server on this machine, faults and all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from helamem_core import EmbedderError, EmbeddingPendingWarning, InvalidInput, Memory
from helamem_core.embedders import resolve
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.embedders.openai import OpenAIEmbedder

KEY = "sk-very-secret"

Script = Callable[[dict[str, Any], int], tuple[int, dict[str, Any]]]


def answer(request: dict[str, Any], call: int) -> tuple[int, dict[str, Any]]:
    vectors = HashingEmbedder().embed(request["input"]) * 2
    data = [{"object": "embedding", "index": at, "embedding": row.tolist()} for at, row in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    # Backwards, as some servers do.
    return 200, {"object": "list", "model": request["model"], "data": data[::-1], "usage": usage}


class Server:
    """A loopback endpoint that answers by a script."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.script: Script = answer
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(request)
                outer.keys.append(self.headers["authorization"])
                status, body = outer.script(request, len(outer.requests))
                payload = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(payload)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()
    server.thread.join()


@pytest.fixture
def embedder(server: Server) -> Iterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder("m", base_url=server.url, api_key=KEY, batch_size=2)
    yield embedder
    embedder.close()


def test_batches_in_order(server: Server, embedder: OpenAIEmbedder) -> None:
    assert embedder.identity.dimension == 0
    texts = ["a fox", "rain", "Lisbon"]
    assert np.array_equal(embedder.embed(texts), HashingEmbedder().embed(texts) * 2)
    assert [request["input"] for request in server.requests] == [texts[:2], texts[2:]]
    assert server.requests[0]["encoding_format"] == "float"
    assert "dimensions" not in server.requests[0]
    assert server.keys[0] == f"Bearer {KEY}"
    assert (embedder.identity.name, embedder.identity.dimension) == ("m", 256)
    assert embedder.embed([]).shape == (0, 256)


def test_settings_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY"):
        resolve("openai:m")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    with Memory.open("memory:", space="s", embedder="openai:m") as memory:
        memory.remember("a fox")
        assert memory.recall("a fox")[0].why.similarity > 0.5
        memory.remember(["a fox", "rain"])
    assert [request["input"] for request in server.requests] == [["a fox"], ["a fox"], ["rain"]]
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    named = resolve("openai:text-embedding-3-small")
    assert named is not None
    assert named.identity.dimension == 1536
    assert KEY not in repr(named)


def test_passing_failures_are_repeated(server: Server, embedder: OpenAIEmbedder) -> None:
    server.script = lambda request, call: (429, {"error": {"message": "slow"}}) if call < 3 else answer(request, call)
    assert embedder.embed(["a"]).shape == (1, 256)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": f"bad key {KEY}"}}),
        (500, {"error": {"message": "down"}}),
        (200, {"data": []}),
        (200, {"data": [{"index": 1, "embedding": [1.0]}]}),
        (200, {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]}),
        (200, {"no": "data"}),
    ],
)
def test_lasting_failures_are_told_without_the_key(
    server: Server, embedder: OpenAIEmbedder, status: int, body: dict[str, Any]
) -> None:
    server.script = lambda request, call: (status, body)
    with pytest.raises(EmbedderError) as caught:
        embedder.embed(["a"])
    assert KEY not in str(caught.value)
    with Memory.open("memory:", space="s", embedder=embedder) as memory:
        with pytest.warns(EmbeddingPendingWarning) as warned:
            report = memory.remember("a fox")
        assert report.unembedded == 1
        assert KEY not in str(report.embedding_error) + str(warned[0].message)
        server.script = answer
        assert memory.embed_pending() == 1


def test_another_width_than_before(server: Server, embedder: OpenAIEmbedder) -> None:
    embedder.embed(["a"])
    server.script = lambda request, call: (200, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]})
    with pytest.raises(EmbedderError, match="2"):
        embedder.embed(["b"])


def test_nobody_there() -> None:
    embedder = OpenAIEmbedder("m", base_url="http://127.0.0.1:9/v1", max_retries=0, timeout=1)
    with pytest.raises(EmbedderError, match="onnect"):
        embedder.embed(["a"])
    embedder.close()
    embedder.close()


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"batch_size": 4096}, {"shorten": True}])
def test_bad_settings(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        OpenAIEmbedder("m", base_url="http://x", **options)


def test_shortened_vectors_are_asked_for(server: Server) -> None:
    embedder = OpenAIEmbedder("m", base_url=server.url, dimension=256, shorten=True)
    embedder.embed(["a"])
    assert server.requests[0]["dimensions"] == 256
    embedder.close()
