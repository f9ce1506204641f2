"""Forks: what holds locks or files waits for its threads first, since neither survives in the child by itself."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class Forked(Protocol):
    """Something that a fork must find at rest."""

    def before_fork(self) -> None:
        """Come to rest, in bounded time, and stay so until one of the other two."""
        ...

    def after_fork_in_parent(self) -> None:
        """Go on."""
        ...

    def after_fork_in_child(self) -> None:
        """Go on in the new process, where no other thread is."""
        ...


_watched: weakref.WeakSet[Forked] = weakref.WeakSet()
_resting: list[Forked] = []
_guard = threading.Lock()
_one_at_a_time = threading.Lock()


def watch(item: Forked) -> None:
    """Have something come to rest at every fork of this process for as long as it lives."""
    with _guard:
        _watched.add(item)


def _before() -> None:
    _one_at_a_time.acquire()
    with _guard:
        _resting[:] = list(_watched)
    for item in _resting:
        item.before_fork()
    _guard.acquire()


def _in_parent() -> None:
    _guard.release()
    while _resting:
        _resting.pop().after_fork_in_parent()
    _one_at_a_time.release()


def _in_child() -> None:
    _guard.release()
    while _resting:
        _resting.pop().after_fork_in_child()
    _one_at_a_time.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
