"""Where a Neo4j is and as whom to go there: every form of url and credential that people use."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from helamem_core.errors import InvalidInput
from helamem_core.urls import redacted

DATABASE = "neo4j"


@dataclass(frozen=True, slots=True)
class Address:
    """A server and a database.

    Attributes:
        url: without credentials.
        auth: what the driver takes; never shown.
        database: its name.
    """

    url: str
    auth: Any = field(repr=False)
    database: str

    def __str__(self) -> str:
        return redacted(self.url)


def address(url: str, *, user: str | None, password: str | None, auth: Any, database: str | None) -> Address:
    """Return where a url and the settings beside it lead.

    Credentials come from `auth` (whatever the driver takes, such as a pair or a bearer token), else from `user` and
    `password`, else from the url (`bolt://user:password@host`, percent-encoded), else from `HELAMEM_NEO4J_USER` and
    `HELAMEM_NEO4J_PASSWORD`, else there are none. The database likewise: the argument, the url's path or `?database=`,
    `HELAMEM_NEO4J_DATABASE`, `neo4j`.

    Raises:
        InvalidInput: the url names no host, or has a part that means nothing.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidInput(f"url {redacted(url)!r} cannot be read ({error}); use neo4j://host:7687") from error
    if not host:
        raise InvalidInput(f"url {redacted(url)!r} names no host; use neo4j://host:7687")
    named = dict(parse_qsl(parts.query, keep_blank_values=True))
    path = unquote(parts.path.strip("/"))
    in_url = named.pop("database", None) or path or None
    if "/" in path or parts.fragment:
        raise InvalidInput(
            f"url {redacted(url)!r} has more than one path or a fragment; use neo4j://host:7687/database"
        )
    shown_host = f"[{host}]" if ":" in host else host
    netloc = shown_host if port is None else f"{shown_host}:{port}"
    query = "&".join(f"{key}={value}" for key, value in named.items())  # routing context of a cluster
    return Address(
        urlunsplit((parts.scheme.lower(), netloc, "", query, "")),
        _auth(auth, user, password, parts.username, parts.password),
        database or in_url or os.environ.get("HELAMEM_NEO4J_DATABASE") or DATABASE,
    )


def _auth(auth: Any, user: str | None, password: str | None, url_user: str | None, url_password: str | None) -> Any:
    if auth is not None:
        if user is not None or password is not None:
            raise InvalidInput("give `auth`, or `user` and `password`, not both")
        return auth
    name = user or (None if url_user is None else unquote(url_user)) or os.environ.get("HELAMEM_NEO4J_USER")
    secret = (
        password
        or (None if url_password is None else unquote(url_password))
        or os.environ.get("HELAMEM_NEO4J_PASSWORD")
    )
    if secret is None:
        return None if name is None else (name, "")
    return name or "neo4j", secret
