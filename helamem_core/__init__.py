"""Long-term memory for LLM agents: a graph that learns from use.

```python
from helamem_core import Memory, Turn

with Memory.open("sqlite:///helamem.db", space="alice") as memory:
    memory.remember([Turn("I moved to Lisbon in May", speaker="Alice", session="s1")])
    found = memory.recall("where does Alice live?")
    memory.reinforce(found.ids[:1], cue=found)
```
"""

from typing import TYPE_CHECKING, Any

from helamem_core.aio import AsyncMemory
from helamem_core.config import (
    DEFAULT,
    PAPER,
    Config,
    Forgetting,
    Limits,
    Linking,
    Plasticity,
    Scoring,
    Selection,
    Spreading,
)
from helamem_core.errors import (
    ContentConflict,
    EmbedderError,
    EmbedderMismatch,
    EmbedderMismatchWarning,
    EmbeddingPendingWarning,
    ForeignStore,
    HelaMemError,
    InvalidConfig,
    InvalidExport,
    InvalidFilter,
    InvalidInput,
    MemoryClosed,
    MemoryNotFound,
    MissingExtra,
    RememberError,
    SchemaTooNew,
    SpaceNotEmpty,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from helamem_core.memory import Memory
from helamem_core.protocols import Clock, CueCompleter, Distiller, Embedder, Ids, Literate, Store
from helamem_core.types import (
    EmbedderIdentity,
    Episode,
    FadeReport,
    ForgetReport,
    Lift,
    Neighbour,
    Recollection,
    Recollections,
    ReinforceReport,
    RememberItem,
    RememberReport,
    Stats,
    Turn,
    Why,
)

if TYPE_CHECKING:
    __version__: str

__all__ = [
    "DEFAULT",
    "PAPER",
    "AsyncMemory",
    "Clock",
    "Config",
    "ContentConflict",
    "CueCompleter",
    "Distiller",
    "Embedder",
    "EmbedderError",
    "EmbedderIdentity",
    "EmbedderMismatch",
    "EmbedderMismatchWarning",
    "EmbeddingPendingWarning",
    "Episode",
    "FadeReport",
    "ForeignStore",
    "ForgetReport",
    "Forgetting",
    "HelaMemError",
    "Ids",
    "InvalidConfig",
    "InvalidExport",
    "InvalidFilter",
    "InvalidInput",
    "Lift",
    "Limits",
    "Linking",
    "Literate",
    "Memory",
    "MemoryClosed",
    "MemoryNotFound",
    "MissingExtra",
    "Neighbour",
    "Plasticity",
    "Recollection",
    "Recollections",
    "ReinforceReport",
    "RememberError",
    "RememberItem",
    "RememberReport",
    "SchemaTooNew",
    "Scoring",
    "Selection",
    "SpaceNotEmpty",
    "Spreading",
    "Stats",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreUnavailable",
    "Turn",
    "Why",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Looked up only when asked for: it reads files.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("helamem")
    except PackageNotFoundError:
        return "0+unknown"
