"""Where a memory is opened and with what: arguments first, then the environment, then the defaults.

| variable | for | default |
|---|---|---|
| `HELAMEM_URL` | `url` | `sqlite:///helamem.db` |
| `HELAMEM_SPACE` | `space` | none: a space must be named |
| `HELAMEM_EMBEDDER` | `embedder` | `minilm` |
| `HELAMEM_CUE_COMPLETER` | `cue_completer` | none |
| `HELAMEM_PRESET` | `config`: `default` or `paper` | `default` |

An empty variable counts as unset. Urls may carry a password: it is never shown.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from helamem_core.config import DEFAULT, PAPER, Config
from helamem_core.episodes import space_name
from helamem_core.errors import InvalidConfig, InvalidInput
from helamem_core.protocols import CueCompleter, Embedder
from helamem_core.showing import shown

URL = "sqlite:///helamem.db"
PRESETS = {"default": DEFAULT, "paper": PAPER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `Memory.open` works with; the url is not part of its repr, for it may hold a password."""

    url: str = field(repr=False)
    space: str
    embedder: Embedder | str
    cue_completer: CueCompleter | str | None
    config: Config


def settings(
    *,
    url: str | None,
    space: str | None,
    embedder: Embedder | str | None,
    cue_completer: CueCompleter | str | None,
    config: Config | None,
) -> Settings:
    """Return the settings, from the arguments where given, else from the environment.

    Raises:
        InvalidInput: no space is named, or a value cannot be used.
    """
    chosen = space if space is not None else _variable("SPACE")
    if chosen is None:
        raise InvalidInput("no space is named: give `space=...` or set HELAMEM_SPACE; there is no shared default")
    return Settings(
        url=_url(url if url is not None else _variable("URL") or URL),
        space=space_name(chosen),
        embedder=embedder if embedder is not None else _variable("EMBEDDER") or "minilm",
        cue_completer=cue_completer if cue_completer is not None else _variable("CUE_COMPLETER"),
        config=_config(config),
    )


def _variable(name: str) -> str | None:
    return os.environ.get(f"HELAMEM_{name}") or None


def _url(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"url is {shown(value)}; give one such as {URL!r} or 'memory:'")
    return value


def _config(given: Config | None) -> Config:
    if isinstance(given, Config):
        return given
    if given is not None:
        raise InvalidConfig(f"config is {shown(given)}; give a `Config`, such as `DEFAULT` or `PAPER`")
    preset = (_variable("PRESET") or "default").lower()
    if preset not in PRESETS:
        raise InvalidConfig(f"HELAMEM_PRESET is {preset!r}; it must be one of {', '.join(PRESETS)}")
    return PRESETS[preset]
