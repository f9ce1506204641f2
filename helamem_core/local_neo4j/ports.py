"""Ports of this machine: whether one is free, and some that are."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack
from typing import Final

from helamem_core.errors import InvalidInput, StoreUnavailable
from helamem_core.showing import shown

HOST: Final = "127.0.0.1"
_HIGHEST: Final = 65535


def settled(*wanted: tuple[str, int]) -> list[int]:
    """Return the ports to use: those wanted, and free ones where 0 is wanted.

    Args:
        wanted: the option of `helamem neo4j up` that names a port, for the message, and the port.

    Raises:
        InvalidInput: it is no port, or the same one twice.
        StoreUnavailable: it is in use.
    """
    named = [port for _, port in wanted if port]
    if len(set(named)) < len(named):
        raise InvalidInput(f"port {named[0]} is wanted twice; name another one, or 0 for a free one")
    with ExitStack() as held:  # all at once, so that no two are the same
        return [_bound(held, option, port) for option, port in wanted]


def listens(port: int) -> bool:
    """Return whether a program takes connections at a port."""
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def _bound(held: ExitStack, option: str, port: int) -> int:
    if not 0 <= port <= _HIGHEST:
        raise InvalidInput(f"{option} is {shown(port)}; a port is 1 to {_HIGHEST}, or 0 for a free one")
    one = held.enter_context(socket.socket())
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that has just stopped blocks nothing
    try:
        one.bind((HOST, port))
    except OSError as error:
        why = "in use by another program" if error.errno == errno.EADDRINUSE else error.strerror
        raise StoreUnavailable(
            f"port {port} of {HOST} is {why}: stop what has it, or choose another one "
            f"(`helamem neo4j up {option} PORT`; 0: a free one)"
        ) from error
    return int(one.getsockname()[1])
