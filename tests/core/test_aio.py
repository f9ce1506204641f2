"""AsyncMemory: the same verbs, no loop blocked, what cancelling means."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from helamem_core import AsyncMemory, InvalidInput, Memory, MemoryClosed, Turn
from helamem_core.stores.reference import ReferenceStore

SYNC = {"in_space", "space", "config", "embedder"}


def public(kind: type) -> dict[str, Any]:
    names = [name for name in dir(kind) if not name.startswith("_")]
    return {name: inspect.getattr_static(kind, name) for name in names}


def test_the_same_verbs_with_the_same_signatures() -> None:
    assert public(AsyncMemory).keys() == public(Memory).keys()
    for name in public(Memory):
        ours, theirs = getattr(Memory, name), getattr(AsyncMemory, name)
        if isinstance(ours, property):
            continue
        here, there = inspect.signature(ours), inspect.signature(theirs)
        assert here.parameters == there.parameters, name
        if name == "open":  # awaited or entered
            assert (str(here.return_annotation), str(there.return_annotation)) == ("Self", "Opening[Self]")
            continue
        returned = str(here.return_annotation).replace("Memory", "AsyncMemory" if name == "in_space" else "Memory")
        assert str(there.return_annotation).removeprefix("builtins.") == returned.removeprefix("builtins."), name
        assert inspect.iscoroutinefunction(theirs) == (name not in SYNC), name


class SlowStore(ReferenceStore):
    """Every write waits until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.reached = threading.Event(), threading.Event()

    def remember(self, *args: Any, **kwargs: Any) -> list[bool]:
        self.reached.set()
        assert self.go.wait(10)
        return super().remember(*args, **kwargs)


async def ticks_during(work: Any) -> int:
    """How often a loop gets round while something is awaited."""
    count = 0

    async def tick() -> None:
        nonlocal count
        while True:
            count += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    await work
    ticking.cancel()
    return count


def test_every_verb_runs(tmp_path: Any) -> None:
    async def run() -> None:
        async with AsyncMemory.open("memory:", space="s", embedder="hashing") as memory:
            await memory.remember([Turn("the quick fox", id="a"), Turn("a lazy dog", id="b")])
            found = await memory.recall("fox")
            assert found.ids[0] == "a"
            assert (await memory.recall("fox", learn="retrieved")).ids == found.ids
            assert (await memory.reinforce(["a", "b"], cue=found)).associated == 1
            assert [e.id for e in await memory.list()] == ["a", "b"]
            assert (await memory.update("a", metadata={"x": 1})).metadata == {"x": 1}
            assert len(await memory.neighbours("a")) == 2
            assert (await memory.stats()).memories == 2
            assert await memory.archive("b") == await memory.restore("b") == ["b"]
            assert (await memory.fade()).archived == ()
            assert await memory.link_similar() == await memory.embed_pending() == 0
            assert await memory.export(tmp_path / "x") == 2
            other = memory.in_space("t")
            assert (other.space, repr(other)) == ("t", "<AsyncMemory of space 't' in memory:>")
            assert await other.import_(tmp_path / "x") == 2
            await other.close()
            assert await memory.spaces() == ["s", "t"]
            assert (await memory.drop_space("t")).ids == ("a", "b")
            assert await memory.reembed() == 3
            assert (await memory.forget("a")).ids == ("a",)
            assert await memory.get("a") is None
            assert await memory.check() == []
            with pytest.raises(InvalidInput):
                await memory.backup(tmp_path / "y")
        with pytest.raises(MemoryClosed):
            await memory.stats()
        with pytest.raises(MemoryClosed):
            await other.stats()
        await memory.close()

    asyncio.run(run())


def test_no_loop_is_blocked() -> None:
    def slow_clock() -> Any:
        time.sleep(0.2)
        return Memory.open.__globals__["_system_clock"]()

    async def run() -> None:
        opening = AsyncMemory.open("memory:", space="s", embedder="words", clock=slow_clock)
        async with await opening as memory:
            assert await ticks_during(memory.remember("x")) > 5
            assert await ticks_during(memory.recall("x")) > 5

    asyncio.run(run())


def test_opening_blocks_no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Memory.open
    closed = threading.Event()

    def slow(*args: Any, **options: Any) -> Memory:
        time.sleep(0.2)
        memory = original(*args, **options)
        monkeypatch.setattr(memory, "close", closed.set, raising=False)
        return memory

    monkeypatch.setattr(Memory, "open", slow)

    async def run() -> None:
        assert await ticks_during(AsyncMemory.open("memory:", space="s", embedder="words")) > 5
        opening = asyncio.create_task(AsyncMemory.open("memory:", space="s", embedder="words"))
        await asyncio.sleep(0.02)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(run())
    assert closed.wait(5), "what was opened for a cancelled task is closed again"


def test_one_object_serves_several_loops() -> None:
    memory = asyncio.run(AsyncMemory.open("memory:", space="s", embedder="hashing"))

    async def use(n: int) -> int:
        await memory.remember(f"turn {n}")
        return len(await memory.recall("turn", k=100))

    assert [asyncio.run(use(n)) for n in range(3)] == [1, 2, 3]
    threads = [threading.Thread(target=lambda n=n: asyncio.run(use(n))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asyncio.run(memory.stats()).memories == 11
    asyncio.run(memory.close())


def test_a_cancelled_write_finishes_in_its_thread() -> None:
    store = SlowStore()

    async def run() -> None:
        memory = AsyncMemory(Memory.open(store=store, space="s", embedder="words"), threads=1)
        writes = [asyncio.create_task(memory.remember(Turn("x", id=name))) for name in ("running", "queued")]
        read = asyncio.create_task(memory.stats())
        while not store.reached.is_set():
            await asyncio.sleep(0.001)
        for task in (*writes, read):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        store.go.set()
        await memory.close()

    asyncio.run(run())
    assert set(store.present("s", ["running", "queued"], 0.0)) == {"running", "queued"}


def test_a_write_outlives_its_loop(recwarn: pytest.WarningsRecorder) -> None:
    store = SlowStore()
    memory = AsyncMemory(Memory.open(store=store, space="s", embedder="words"))

    async def leave() -> None:
        writing = asyncio.create_task(memory.remember(Turn("x", id="a")))
        while not store.reached.is_set():
            await asyncio.sleep(0.001)
        writing.cancel()

    asyncio.run(leave())
    store.go.set()
    asyncio.run(memory.close())
    assert "a" in store.present("s", ["a"], 0.0)
    assert not recwarn.list


def test_close_waits_for_what_runs() -> None:
    store = SlowStore()

    async def run() -> None:
        memory = AsyncMemory(Memory.open(store=store, space="s", embedder="words"))
        writing = asyncio.create_task(memory.remember("x"))
        while not store.reached.is_set():
            await asyncio.sleep(0.001)
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.02)
        assert not closing.done()
        store.go.set()
        await closing
        assert (await writing).count("stored") == 1

    asyncio.run(run())


def test_context_variables_are_the_callers() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")

    async def run() -> list[str]:
        memory = await AsyncMemory.open("memory:", space="s", embedder="words")

        def turns() -> Iterator[Turn]:
            yield Turn("x", speaker=name.get())

        name.set("Ann")
        await memory.remember(turns())
        speakers = [str(episode.speaker) for episode in await memory.list()]
        await memory.close()
        return speakers

    assert asyncio.run(run()) == ["Ann"]


def test_the_number_of_threads_is_bounded() -> None:
    async def run() -> int:
        async with await AsyncMemory.open("memory:", space="s", embedder="hashing") as memory:
            await asyncio.gather(*(memory.remember(f"turn {n}") for n in range(100)))
            return sum(thread.name.startswith("helamem") for thread in threading.enumerate())

    assert asyncio.run(run()) <= 10


def test_what_another_space_recalled_is_refused() -> None:
    async def run() -> None:
        async with AsyncMemory.open("memory:", space="s", embedder="hashing") as memory:
            other = memory.in_space("other")
            await memory.remember(Turn("tea", id="a"))
            await other.remember(Turn("tea", id="a"))
            found = await other.recall("tea")
            with pytest.raises(InvalidInput, match="'other'"):
                await memory.reinforce("a", cue=found)
            assert (await other.reinforce("a", cue=found)).applied

    asyncio.run(run())
