"""Urls as they may be shown: without user, password and other secrets."""

from __future__ import annotations

import re

# As much as can be: a password may hold what has a meaning elsewhere in a url.
_CREDENTIALS = re.compile(r"(?<=://)(?!/)(?:[^\s'\"]*|[^/?#]*)@")
_SECRET = re.compile(r"([?&](?:password|passwd|pwd|token|secret|api_?key|auth)=)[^&#]*", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][\w+.-]*://", re.IGNORECASE)


def redacted(text: str) -> str:
    """Return a url, or a message with urls, with user, password and secret parameters as `***`."""
    return _SECRET.sub(r"\1***", _CREDENTIALS.sub("***@", text))


def shown(url: str) -> str:
    """Return what may be shown of something that should have been a url: all before an `@` but the scheme is hidden."""
    head, at, tail = url.rpartition("@")
    scheme = _SCHEME.match(head)
    return redacted(f"{scheme[0] if scheme else ''}***@{tail}" if at else url)
