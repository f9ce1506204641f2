"""The memory for asyncio: the same verbs, each run in a thread of a bounded pool, so that no event loop waits.

- One object serves any number of event loops, one after the other or at once.
- **Cancelling** the task that awaits a verb stops the waiting, not the work. A verb that writes still runs to its
  end, also if it had not begun; what it would have reported is lost. So give turns an `id` or `at`, and events an
  `event_id`: then asking again is safe. A verb that only reads is dropped if it has not begun.
- `close` waits for what is running.
- Context variables are those of the caller.
"""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import os
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

from helamem_core.config import Config
from helamem_core.context import Progress
from helamem_core.episodes import References
from helamem_core.errors import MemoryClosed
from helamem_core.ingestion import Turns
from helamem_core.listing import Order
from helamem_core.memory import Memory
from helamem_core.protocols import Clock, CueCompleter, Distiller, Embedder, Ids, Store
from helamem_core.times import Moment
from helamem_core.transfer import Place
from helamem_core.types import (
    Episode,
    FadeReport,
    ForgetReport,
    Neighbour,
    Recollections,
    ReinforceReport,
    RememberReport,
    Stats,
)

THREADS = 8

P = ParamSpec("P")
R = TypeVar("R")


M = TypeVar("M", bound="AsyncMemory")


class Opening(Coroutine[Any, Any, M]):
    """A memory that is being opened: await it, or enter it and have it closed at the end."""

    def __init__(self, opened: Coroutine[Any, Any, M]) -> None:
        self._opened = opened
        self._memory: M | None = None

    def send(self, value: Any) -> Any:
        """Go on, as any coroutine."""
        return self._opened.send(value)

    def throw(self, *error: Any) -> Any:
        """Raise where it waits, as any coroutine."""
        return self._opened.throw(*error)

    def close(self) -> None:
        """Give up, as any coroutine."""
        self._opened.close()

    def __await__(self) -> Generator[Any, Any, M]:
        return self._opened.__await__()

    async def __aenter__(self) -> M:
        self._memory = await self._opened
        return self._memory

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._memory is not None:
            await self._memory.close()


class AsyncMemory:
    """See `Memory`: every verb means the same, and is awaited.

        async with AsyncMemory.open("sqlite:///helamem.db", space="alice") as memory:
            found = await memory.recall("Which city does Alice live in?")

    Args:
        memory: the memory to run in threads; `close` closes it.
        threads: most verbs that run at once, at least 1.
    """

    def __init__(self, memory: Memory, *, threads: int = THREADS) -> None:
        self._memory = memory
        self._pool = _pool(threads)
        self._owner = True

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        space: str | None = None,
        embedder: Embedder | str | None = None,
        config: Config | None = None,
        cue_completer: CueCompleter | str | None = None,
        distiller: Distiller | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        store: Store | None = None,
        **store_options: Any,
    ) -> Opening[Self]:
        """Open a space, see `Memory.open`: `async with AsyncMemory.open(...) as memory`, or `await` it and close it."""
        call = partial(
            Memory.open,
            url,
            space=space,
            embedder=embedder,
            config=config,
            cue_completer=cue_completer,
            distiller=distiller,
            clock=clock,
            ids=ids,
            store=store,
            **store_options,
        )
        return Opening(cls._opened(call))

    @classmethod
    async def _opened(cls, call: Callable[[], Memory]) -> Self:
        pool = _pool(1)
        opening = pool.submit(contextvars.copy_context().run, call)
        pool.shutdown(wait=False)
        try:
            return cls(await _arrival(opening))
        except asyncio.CancelledError:
            opening.add_done_callback(_close_unclaimed)
            raise

    async def close(self) -> None:
        """Wait for what is running, then close, see `Memory.close`; again is a no-op."""
        await self._thread(self._close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Async{repr(self._memory)[1:]}"

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._memory.space

    @property
    def config(self) -> Config:
        """All numbers."""
        return self._memory.config

    @property
    def embedder(self) -> Embedder | None:
        """Who embeds, see `Memory.embedder`."""
        return self._memory.embedder

    def in_space(self, name: str) -> AsyncMemory:
        """Return a memory of another space that shares store, embedder, caches and threads; does not wait."""
        child = object.__new__(AsyncMemory)
        child.__dict__.update(self.__dict__)
        child._memory, child._owner = self._memory.in_space(name), False
        return child

    async def spaces(self) -> list[str]:
        """See `Memory.spaces`."""
        return await self._read(self._memory.spaces)

    async def drop_space(self, name: str) -> ForgetReport:
        """See `Memory.drop_space`."""
        return await self._write(self._memory.drop_space, name)

    async def remember(
        self,
        turns: Turns,
        *,
        on_error: Literal["raise", "report"] = "raise",
        vectors: Any | None = None,
        progress: Progress | None = None,
    ) -> RememberReport:
        """See `Memory.remember`; a generator and `progress` are called in a thread."""
        return await self._write(self._memory.remember, turns, on_error=on_error, vectors=vectors, progress=progress)

    async def recall(  # noqa: PLR0913 - the public signature
        self,
        query: str,
        *,
        k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        kinds: str | Iterable[str] | None = None,
        vector: Any | None = None,
        cue_completer: CueCompleter | str | None = None,
        max_tokens: int | None = None,
        learn: Literal["retrieved"] | None = None,
    ) -> Recollections:
        """See `Memory.recall`."""
        run = self._read if learn is None else self._write
        return await run(
            self._memory.recall,
            query,
            k=k,
            filters=filters,
            since=since,
            until=until,
            as_of=as_of,
            kinds=kinds,
            vector=vector,
            cue_completer=cue_completer,
            max_tokens=max_tokens,
            learn=learn,
        )

    async def reinforce(
        self,
        ids: References,
        *,
        cue: Recollections | str | None = None,
        event_id: str | None = None,
    ) -> ReinforceReport:
        """See `Memory.reinforce`."""
        return await self._write(self._memory.reinforce, ids, cue=cue, event_id=event_id)

    async def get(self, id: str) -> Episode | None:
        """See `Memory.get`."""
        return await self._read(self._memory.get, id)

    async def list(
        self,
        filters: Mapping[str, Any] | None = None,
        order: Order = "at",
        limit: int | None = None,
        offset: int = 0,
        archived: bool = False,
    ) -> builtins.list[Episode]:
        """See `Memory.list`."""
        return await self._read(self._memory.list, filters, order, limit, offset, archived)

    async def update(
        self,
        id: str,
        *,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | str | Literal["keep"] | None = "keep",
    ) -> Episode:
        """See `Memory.update`."""
        return await self._write(self._memory.update, id, text=text, metadata=metadata, expires_at=expires_at)

    async def forget(
        self,
        ids: References | None = None,
        *,
        filters: Mapping[str, Any] | None = None,
        everything: bool = False,
    ) -> ForgetReport:
        """See `Memory.forget`."""
        return await self._write(self._memory.forget, ids, filters=filters, everything=everything)

    async def archive(self, ids: References) -> builtins.list[str]:
        """See `Memory.archive`."""
        return await self._write(self._memory.archive, ids)

    async def restore(self, ids: References) -> builtins.list[str]:
        """See `Memory.restore`."""
        return await self._write(self._memory.restore, ids)

    async def fade(self) -> FadeReport:
        """See `Memory.fade`."""
        return await self._write(self._memory.fade)

    async def neighbours(self, id: str) -> builtins.list[Neighbour]:
        """See `Memory.neighbours`."""
        return await self._read(self._memory.neighbours, id)

    async def stats(self) -> Stats:
        """See `Memory.stats`."""
        return await self._read(self._memory.stats)

    async def export(self, path: Place) -> int:
        """See `Memory.export`."""
        return await self._write(self._memory.export, path)

    async def import_(self, path: Place) -> int:
        """See `Memory.import_`."""
        return await self._write(self._memory.import_, path)

    async def backup(self, path: str | os.PathLike[str]) -> None:
        """See `Memory.backup`."""
        await self._write(self._memory.backup, path)

    async def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> int:
        """See `Memory.reembed`."""
        return await self._write(self._memory.reembed, embedder, progress=progress)

    async def embed_pending(self, *, progress: Progress | None = None) -> int:
        """See `Memory.embed_pending`."""
        return await self._write(self._memory.embed_pending, progress=progress)

    async def link_similar(self) -> int:
        """See `Memory.link_similar`."""
        return await self._write(self._memory.link_similar)

    async def check(self) -> builtins.list[str]:
        """See `Memory.check`."""
        return await self._read(self._memory.check)

    async def _read(self, verb: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        running = self._submit(verb, *args, **kwargs)
        try:
            return await _arrival(running)
        except asyncio.CancelledError:
            running.cancel()
            raise

    async def _write(self, verb: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await _arrival(self._submit(verb, *args, **kwargs))

    def _submit(self, verb: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        try:
            return self._pool.submit(contextvars.copy_context().run, partial(verb, *args, **kwargs))
        except RuntimeError as error:
            raise MemoryClosed(f"the memory of space {self.space!r} is closed; open it again") from error

    async def _thread(self, work: Callable[[], None]) -> None:
        pool = _pool(1)
        done = pool.submit(work)
        pool.shutdown(wait=False)
        await _arrival(done)

    def _close(self) -> None:
        if self._owner:
            self._pool.shutdown(wait=True)
        self._memory.close()


def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="helamem")


async def _arrival(running: Future[R]) -> R:
    """Wait for a thread's work, which neither a cancelled task nor a closed loop reaches."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[None] = loop.create_future()

    def tell(_: Future[R]) -> None:
        # The loop may have been closed meanwhile: then nobody waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if arrived.done() else arrived.set_result(None))

    running.add_done_callback(tell)
    await arrived
    return running.result()


def _close_unclaimed(opening: Future[Memory]) -> None:
    if opening.exception() is None:
        opening.result().close()
