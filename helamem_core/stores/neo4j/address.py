"""Where a Neo4j is and as whom to go there: every form of url and credential that people use."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from helamem_core.errors import InvalidInput
from helamem_core.urls import redacted, shown

DATABASE = "neo4j"
_SYSTEM = "system"  # holds users and databases, and nothing else
_USE = "use neo4j://host:7687/database; in a user or password write / as %2F, ? as %3F, # as %23 and @ as %40"


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
        InvalidInput: the url names no host, or has a part that means nothing; a name or password cannot be sent.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        raise InvalidInput(f"url {shown(url)!r} cannot be read; {_USE}") from None  # the error may quote a password
    if not host:
        raise InvalidInput(f"url {shown(url)!r} names no host; {_USE}")
    named = dict(parse_qsl(parts.query, keep_blank_values=True))
    path = unquote(parts.path.strip("/"))
    in_url = named.pop("database", None) or path or None
    if "/" in path or "@" in path + parts.query or parts.fragment:
        raise InvalidInput(f"url {shown(url)!r} has more than one path, a fragment, or an @ after the host; {_USE}")
    scheme = parts.scheme.lower()
    if named and not scheme.startswith("neo4j"):
        raise InvalidInput(f"url {shown(url)!r} has a routing context, which a direct driver has no use for; {_USE}")
    shown_host = f"[{host}]" if ":" in host else host
    netloc = shown_host if port is None else f"{shown_host}:{port}"
    query = "&".join(f"{key}={value}" for key, value in named.items())  # routing context of a cluster
    return Address(
        urlunsplit((scheme, netloc, "", query, "")),
        _auth(auth, user, password, parts.username, parts.password),
        _database(database or in_url or os.environ.get("HELAMEM_NEO4J_DATABASE") or DATABASE),
    )


def _database(name: str) -> str:
    if name.lower() == _SYSTEM:
        raise InvalidInput(f"database {name!r} holds the server's own things; name another, such as {DATABASE!r}")
    return _sendable("database", name)


def _sendable(what: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"the {what} holds half a character (a lone surrogate), which no server takes") from None
    return text


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
    return _sendable("user", name or "neo4j"), _sendable("password", secret)
