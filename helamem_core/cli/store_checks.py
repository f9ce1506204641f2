"""What `helamem doctor` finds out about the store and its spaces."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from helamem_core.cli.call import WORDS, Call
from helamem_core.cli.checks import Finding
from helamem_core.cli.failures import message_of
from helamem_core.cli.output import plural
from helamem_core.context import same_model
from helamem_core.errors import ForeignStore, SchemaTooNew, StoreBusy, StoreError
from helamem_core.protocols import Embedder
from helamem_core.text import cjk_share
from helamem_core.urls import redacted

if TYPE_CHECKING:
    from helamem_core.memory import Memory
    from helamem_core.types import EmbedderIdentity, Stats

_SAMPLE: Final = 300  # memories whose language is looked at
_MUCH: Final = 0.3  # share of Chinese, Japanese and Korean letters from which an English model does not fit
_ROOM: Final = 100 * 2**20  # bytes that should be free beside what a rewrite of the file needs
_MULTILINGUAL: Final = "sentence-transformers:paraphrase-multilingual-MiniLM-L12-v2"
_CHINESE: Final = "sentence-transformers:BAAI/bge-small-zh-v1.5"
_ENGLISH_ONLY: Final = re.compile(
    r"^(?!.*(multilingual|-zh)).*(all-minilm|all-mpnet|multi-qa|msmarco|-en\b|\be5-\w+-v2|paraphrase-minilm)",
    re.IGNORECASE,
)


def disk(path: Path) -> Iterator[Finding]:
    """Yield whether the disk has room for the file to be rewritten, as forgetting does."""
    folder = next((parent for parent in path.absolute().parents if parent.exists()), Path("/"))
    free = shutil.disk_usage(folder).free
    size = sum(part.stat().st_size for part in path.parent.glob(path.name + "*")) if path.exists() else 0
    message = f"{_megabytes(free)} free, the store has {_megabytes(size)}"
    if free < size + _ROOM:
        yield Finding("warn", "disk", message, "make room: forgetting needs as much again as the store has")
    else:
        yield Finding("ok", "disk", message)


def _megabytes(count: int) -> str:
    return f"{count / 2**20:,.0f} MB"


def refusal(error: Exception, call: Call) -> Finding:
    """Return what it means that the store could not be opened."""
    told = message_of(error)
    if isinstance(error, ForeignStore):
        return Finding("fail", "store", f"foreign: {told}", "name another file with --store; this one stays untouched")
    if isinstance(error, SchemaTooNew):
        return Finding("fail", "store", f"newer: {told}", "pip install --upgrade helamem")
    if isinstance(error, StoreBusy):
        return Finding("fail", "store", f"locked: {told}", "end the process that holds it, or wait for it")
    if isinstance(error, StoreError):
        way_out = "restore a backup, or check the path, its permissions and the server"
        return Finding("fail", "store", f"cannot be used: {told}", way_out)
    return Finding("fail", "store", told, f"check the url {redacted(call.store)}")


def spaces(call: Call, memory: Memory, embedder: Embedder | None) -> Iterator[Finding]:
    """Yield what is found in the chosen space, or in all if none was chosen."""
    names = memory.spaces()
    if call.space and call.space not in names:
        has = ", ".join(map(repr, names)) or "none"
        yield Finding("warn", f"space {call.space}", f"does not exist; there are: {has}", "`helamem remember` makes it")
    for name in names:
        if call.space in (None, "", name):
            yield from _space(name, memory.in_space(name), embedder, waits=call.embedder != WORDS)


def _space(name: str, memory: Memory, embedder: Embedder | None, *, waits: bool) -> Iterator[Finding]:
    about = f"space {name}"
    stats = memory.stats()
    yield Finding("ok", about, f"{plural(stats.memories, 'memory', 'memories')}, {stats.archived:,} archived")
    yield from _model(about, name, stats.embedder, embedder)
    if waits:
        yield from _pending(about, name, stats)
    texts = [episode.text for episode in memory.list(order="-recorded_at", limit=_SAMPLE)]
    yield from language(about, texts, stats.embedder or (embedder.identity if embedder else None))


def _model(about: str, name: str, held: EmbedderIdentity | None, embedder: Embedder | None) -> Iterator[Finding]:
    if held is None or embedder is None:
        return
    mine = embedder.identity
    if same_model(held, mine):
        yield Finding("ok", about, f"vectors of the chosen model {held.name}")
    else:
        yield Finding(
            "fail",
            about,
            f"holds vectors of {held.name} ({held.dimension}), the chosen embedder is {mine.name} ({mine.dimension}): "
            "recall goes by words",
            f"choose that model again with --embedder, or `helamem --space {name} reembed`",
        )


def _pending(about: str, name: str, stats: Stats) -> Iterator[Finding]:
    if stats.unembedded and stats.embedder is not None:
        what = plural(stats.unembedded, "text waits", "texts wait")
        yield Finding(
            "warn", about, f"{what} for a vector: found by words only", f"`helamem --space {name} reembed --pending`"
        )


def language(about: str, texts: Sequence[str], model: EmbedderIdentity | None) -> Iterator[Finding]:
    """Yield whether the model speaks the language of the memories."""
    if not texts or model is None:
        return
    share = fmean(map(cjk_share, texts))
    if share > _MUCH and _ENGLISH_ONLY.search(model.name):
        yield Finding(
            "warn",
            about,
            f"{share:.0%} of the letters are Chinese, Japanese or Korean, and {model.name} reads English: such "
            "memories are found by words, hardly by meaning",
            f"`helamem reembed` with --embedder {_MULTILINGUAL}, or {_CHINESE} if nearly all is Chinese",
        )
    else:
        yield Finding("ok", about, "the model fits the language of the memories")


def consistency(problems: Sequence[str]) -> Iterator[Finding]:
    """Yield what the store's own check found."""
    if not problems:
        yield Finding("ok", "store", "consistent")
    for problem in problems:
        yield Finding("fail", "store", problem, "restore a backup, or export each space and import it into a new store")
