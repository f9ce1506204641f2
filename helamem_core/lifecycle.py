"""Opening and closing: who owns the store, what spaces share, when vectors are dropped from the cache."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from helamem_core import completers, embedders
from helamem_core.context import Context
from helamem_core.embedders.cache import VectorCache
from helamem_core.embedders.encoder import Encoder
from helamem_core.errors import MemoryClosed
from helamem_core.protocols import Clock, CueCompleter, Distiller, Embedder, Ids, Store
from helamem_core.settings import Settings
from helamem_core.urls import redacted


@dataclass(slots=True)
class Shared:
    """What all spaces of one opened memory share.

    Attributes:
        place: where the store is, for eyes.
        closers: what was opened here and must be closed, last first.
    """

    place: str
    cache: VectorCache
    distiller: Distiller | None
    closers: list[Callable[[], None]] = field(default_factory=list)
    completers: dict[str, CueCompleter] = field(default_factory=dict)
    closed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def completer(self, completer: CueCompleter | str | None) -> CueCompleter | None:
        """Return the completer that is meant; a named one is made once."""
        if not isinstance(completer, str):
            return None if completer is None else completers.resolve(completer)
        with self.lock:
            if completer not in self.completers:
                self.completers[completer] = completers.resolve(completer)
            return self.completers[completer]

    def close(self) -> None:
        """Close all that was opened here, once; a failure of one keeps none of the others open."""
        with self.lock:
            closers, self.closers, self.closed = self.closers[::-1], [], True
        self.cache.clear()
        failure: Exception | None = None
        for close in closers:
            try:
                close()
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure


class Session:
    """An open space: its context, and the part it shares with other spaces.

    Args:
        context: what the verbs work with.
        shared: what the memory that was opened first owns.
        owner: whether closing this closes what is shared.
    """

    def __init__(self, context: Context, shared: Shared, *, owner: bool) -> None:
        self.context, self._shared, self._owner = context, shared, owner
        self._closed = False

    @property
    def place(self) -> str:
        """Where the store is, without secrets."""
        return self._shared.place

    def use(self) -> Context:
        """Return the context.

        Raises:
            MemoryClosed: it was closed.
        """
        if self._closed or self._shared.closed:
            raise MemoryClosed(f"the memory of space {self.context.space!r} is closed; open it again")
        return self.context

    def close(self) -> None:
        """Close; again is a no-op."""
        self._closed = True
        if self._owner:
            self._shared.close()

    def child(self, space: str) -> Session:
        """Return a session of another space."""
        return Session(
            replace(self.use(), space=space, foreign=set(), refused=set(), held=None), self._shared, owner=False
        )

    def completer(self, completer: CueCompleter | str | None) -> CueCompleter | None:
        """Return the completer of one recall, this space's own for None."""
        return self.use().completer if completer is None else self._shared.completer(completer)

    def encoder(self, embedder: Embedder | str | None) -> Encoder | None:
        """Return an encoder of another embedder, of this one's own for None."""
        if embedder is None:
            return self.use().encoder
        return _encoder(embedder, self._shared)

    def adopt(self, encoder: Encoder | None) -> None:
        """Use another encoder from now on."""
        self.context = replace(self.use(), encoder=encoder, foreign=set(), held=None)

    def forget_vectors(self) -> None:
        """Drop all cached vectors: some may be of a text that is to be erased."""
        self.use()
        self._shared.cache.clear()


def open_session(
    chosen: Settings,
    *,
    distiller: Distiller | None,
    clock: Clock,
    ids: Ids | None,
    store: Store | None,
    options: Mapping[str, Any],
) -> Session:
    """Open the store (or borrow the one given) and look whether the space's model is ours."""
    place = redacted(chosen.url) if store is None else type(store).__name__
    shared = Shared(place, VectorCache(), distiller)
    try:
        encoder = _encoder(chosen.embedder, shared)
        completer = shared.completer(chosen.cue_completer)
        opened = _store(chosen.url, store, options, shared)
        context = Context(
            store=opened,
            space=chosen.space,
            config=chosen.config,
            encoder=encoder,
            clock=clock,
            ids=ids or _random_id,
            completer=completer,
        )
        context.encoder_to_read()
    except BaseException:
        with suppress(Exception):
            shared.close()
        raise
    return Session(context, shared, owner=True)


def _store(url: str, borrowed: Store | None, options: Mapping[str, Any], shared: Shared) -> Store:
    if borrowed is not None:
        return borrowed
    from helamem_core.stores import open_store

    opened = open_store(url, **options)
    shared.closers.append(opened.close)
    return opened


def _encoder(embedder: Embedder | str, shared: Shared) -> Encoder | None:
    found = embedders.resolve(embedder)
    if found is None:
        return None
    close = getattr(found, "close", None)
    if isinstance(embedder, str) and callable(close):
        shared.closers.append(close)
    return Encoder(found, shared.cache)


def _random_id() -> str:
    return uuid.uuid4().hex
