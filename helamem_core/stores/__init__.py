"""Engines that keep the graph, opened by url."""

from __future__ import annotations

from collections.abc import Set
from inspect import signature
from typing import Any

from helamem_core.errors import InvalidInput, MissingExtra
from helamem_core.protocols import Store
from helamem_core.urls import redacted, shown

SUPPORTED = (
    "'sqlite:///relative/path', 'sqlite:////absolute/path', 'sqlite:///:memory:', 'memory:', or 'neo4j://host:7687' "
    "and its other schemes (neo4j+s, neo4j+ssc, bolt, bolt+s, bolt+ssc)"
)
_NEO4J = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
_SQLITE = "sqlite:///"


def open_store(url: str, **options: Any) -> Store:
    """Open the store of a url.

    Args:
        url: `sqlite:///path` (three slashes before a relative path, four in all before an absolute one; the path is
            taken as it is written), `sqlite:///:memory:`, `memory:` for the executable specification, or a url of Neo4j
            (`helamem_core.stores.neo4j.address`).
        options: of the engine, see `helamem_core.stores.sqlite.SQLiteStore` and `helamem_core.stores.neo4j.Neo4jStore`.

    Raises:
        InvalidInput: no such engine, or no such option; the message shows no password.
        MissingExtra: the driver of Neo4j is not installed.
        StoreError: it cannot be opened.
    """
    if url == "memory:":
        from helamem_core.stores.reference import ReferenceStore

        _check_options(url, options, set())
        return ReferenceStore()
    if url.startswith(_SQLITE):
        from helamem_core.stores.sqlite import SQLiteStore

        _check_options(url, options, signature(SQLiteStore).parameters.keys() - {"path"})
        return SQLiteStore(_path(url), **options)
    if is_neo4j(url):
        return _neo4j(url, options)
    raise InvalidInput(f"no engine opens {shown(url)!r}; use {SUPPORTED}")


def is_neo4j(url: str) -> bool:
    """Say whether a url is one of Neo4j's."""
    scheme, mark, _ = url.partition("://")
    return bool(mark) and scheme.lower() in _NEO4J


def _neo4j(url: str, options: dict[str, Any]) -> Store:
    try:
        from helamem_core.stores.neo4j import Neo4jStore
    except ModuleNotFoundError as error:
        if error.name != "neo4j":
            raise
        raise MissingExtra("a memory in Neo4j", "neo4j") from error
    _check_options(url, options, signature(Neo4jStore).parameters.keys() - {"url"})
    return Neo4jStore(url, **options)


def _path(url: str) -> str:
    path = url.removeprefix(_SQLITE)
    if not path:
        raise InvalidInput(f"{url!r} names no file; use {SUPPORTED}")
    if "?" in path or "#" in path:
        raise InvalidInput(f"{redacted(url)!r} has a query or fragment; give options as arguments, such as timeout=60")
    if "\0" in path:
        raise InvalidInput(f"{url!r} holds a NUL character; name another file")
    return path


def _check_options(url: str, options: dict[str, Any], known: Set[str]) -> None:
    unknown = ", ".join(map(repr, sorted(options.keys() - known)))
    if unknown:
        raise InvalidInput(
            f"store {redacted(url)!r} has no option {unknown}; it has {', '.join(sorted(known)) or 'none'}"
        )
