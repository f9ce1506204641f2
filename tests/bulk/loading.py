"""Loads by Ray, also in a process of its own that can be killed: `python -m tests.bulk.loading URL SPACE FILE`.

The object store is kept small: the machines of tests are.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from helamem_core.bulk import ray as engine
from helamem_core.bulk.report import BulkReport
from helamem_core.config import Config, Limits
from helamem_core.memory import Memory

ROOT = Path(__file__).parents[2]
WORKERS = 2
PATIENCE = 600.0
SMALL = {"RAY_DEFAULT_OBJECT_STORE_MAX_MEMORY_BYTES": str(200 * 2**20)}
# Small batches, so that a kill finds a session half written.
CONFIG = Config(limits=Limits(batch=64))


def opened(url: str, space: str, config: Config = CONFIG) -> Memory:
    return Memory.open(url, space=space, embedder="hashing", config=config)


def load(url: str, space: str, path: str, config: Config = CONFIG) -> BulkReport:
    sink = engine.Sink(url=url, space=space, embedder="hashing", config=config)
    return engine.load(sink, [path], workers=WORKERS, address=engine.LOCAL)


def killed_in_the_middle(url: str, space: str, path: str) -> int:
    """Start a load, kill its process with SIGKILL once something is stored, and return how many memories are there.

    All that Ray started must end with it.
    """
    with opened(url, space) as memory, driver(url, space, path) as process:
        held, deadline = 0, time.monotonic() + PATIENCE
        while not held and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
            held = memory.stats().memories
        assert process.poll() is None, f"the load ended with {process.returncode} before it could be killed"
        of_ray = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
        process.wait()
        _, alive = psutil.wait_procs(of_ray, timeout=PATIENCE)
        assert not alive, f"processes of Ray outlive the load: {alive}"
        return memory.stats().memories


@contextlib.contextmanager
def driver(url: str, space: str, path: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.bulk.loading", url, space, path]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | SMALL) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def small_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setenv(name, value)


if __name__ == "__main__":
    load(sys.argv[1], sys.argv[2], sys.argv[3])
