"""What every verb of a memory works with: its store and space, its model, its clock."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from helamem_core.config import Config
from helamem_core.embedders.encoder import Encoder
from helamem_core.errors import EmbedderMismatchWarning, InvalidInput
from helamem_core.protocols import Clock, CueCompleter, Ids, Store
from helamem_core.showing import shown
from helamem_core.times import seconds
from helamem_core.types import EmbedderIdentity, Vector

Progress = Callable[[int, int | None], None]
"""Called with how many are done and how many there are in all, None if nobody knows."""


@dataclass(slots=True)
class Context:
    """A space of a store, and how it is read and written.

    Attributes:
        encoder: None if the memory works by words alone.
        completer: completes the cue of every recall; None: the raw cue is used.
        foreign: models of the space that the caller was warned about.
        refused: texts, by kind and id, that the embedder failed for while it worked for others.
        held: the model of the space when it was last seen; others may have changed it since.
    """

    store: Store
    space: str
    config: Config
    encoder: Encoder | None
    clock: Clock
    ids: Ids
    completer: CueCompleter | None = None
    foreign: set[EmbedderIdentity] = field(default_factory=set)
    refused: set[tuple[str, str]] = field(default_factory=set)
    held: EmbedderIdentity | None = None

    def now(self) -> float:
        """Return the clock's time in seconds since the epoch."""
        return seconds(self.clock(), "the clock's time")

    def encoder_to_write(self) -> Encoder | None:
        """Return the encoder if its vectors may go into this space as the store holds it now.

        Warns once of a space that holds another model's vectors.
        """
        return self.seen(self.store.identity(self.space))

    def encoder_to_read(self) -> Encoder | None:
        """Return the encoder if the space holds vectors of its model; warns like `encoder_to_write`."""
        held = self.store.identity(self.space)
        encoder = self.seen(held)
        return None if held is None else encoder

    def encoder_to_ask(self) -> Encoder | None:
        """Return the encoder if the space held vectors of its model when it was last seen.

        Its vectors must travel with their model (`identity_of`), so that the store can tell if that has changed.
        """
        if self.encoder is None or (self.held is not None and same_model(self.held, self.encoder.identity)):
            return self.encoder
        return self.encoder_to_read()

    def seen(self, held: EmbedderIdentity | None) -> Encoder | None:
        """Note the model of the space, and return the encoder if its vectors may go into it.

        Warns once of another model.
        """
        self.held = held
        if self.encoder is None or held is None:
            return self.encoder
        if same_model(held, self.encoder.identity):
            self.encoder.assume(held.dimension)
            return self.encoder
        if held not in self.foreign:
            self.foreign.add(held)
            mine = self.encoder.identity
            warn(
                f"space {self.space!r} holds vectors of {held.name!r} ({held.dimension}), but the embedder is "
                f"{mine.name!r} ({mine.dimension or '?'}): recall goes by words until `reembed()`, or open it with the "
                "other one",
                EmbedderMismatchWarning,
            )
        return None


def check_progress(progress: object) -> None:
    """Refuse what cannot be told how far a verb has come.

    Raises:
        InvalidInput: it is neither None nor callable.
    """
    if progress is not None and not callable(progress):
        raise InvalidInput(f"progress is {shown(progress)}; it must be callable")


def same_model(held: EmbedderIdentity, mine: EmbedderIdentity) -> bool:
    """Say whether two identities are one model; a dimension that is not known yet (0) fits any."""
    return held.name == mine.name and mine.dimension in (0, held.dimension) and held.normalised == mine.normalised


def identity_of(encoder: Encoder, vector: Vector | None) -> EmbedderIdentity | None:
    """Return the model of a vector that an encoder made, with its dimension; None without a vector."""
    return None if vector is None else replace(encoder.identity, dimension=len(vector))


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this library that called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("helamem_core."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
