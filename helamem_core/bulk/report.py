"""What became of a bulk load: counts for all rows, the reason for each one that failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from helamem_core.bulk.rows import Row
from helamem_core.context import Progress

Engine = Literal["local", "ray"]
KEPT: Final = 10
"""So many failures are told in the report itself."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A row that is not stored.

    Attributes:
        source: the file.
        line: its line or row there.
        error: why.
        turn: what it says, without its vector.
        store: whether the store is to blame, so that the same command can succeed later.
    """

    source: str
    line: int
    error: str
    turn: Any
    store: bool = False

    @classmethod
    def of(cls, row: Row, error: str, *, store: bool = False) -> Failure:
        """Return the failure of a row."""
        return cls(row.source, row.line, error, row.record, store)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return {"source": self.source, "line": self.line, "error": self.error, "turn": self.turn}


@dataclass(slots=True)
class Written:
    """What became of some rows.

    Attributes:
        broken: why the store took no more; the rows from there on failed with it.
        embedding_error: why some are stored without a vector.
    """

    stored: int = 0
    unchanged: int = 0
    failures: list[Failure] = field(default_factory=list)
    broken: str | None = None
    embedding_error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Written:
        """Return what `to_dict` gave."""
        return cls(**{**values, "failures": [Failure(**item) for item in values["failures"]]})


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkReport:
    """What a bulk load did.

    Attributes:
        workers: how many processes wrote.
        stored: turns that are new.
        unchanged: turns that were stored already.
        failed: rows that are not stored.
        seconds: wall time of all of it, reading and the start of Ray included.
        broken: why the store took no more before the end.
        embedding_error: why some are stored without a vector.
        failures: the first ones.
    """

    engine: Engine
    workers: int
    stored: int
    unchanged: int
    failed: int
    seconds: float
    broken: str | None
    embedding_error: str | None
    failures: tuple[Failure, ...]

    @property
    def turns(self) -> int:
        """All rows that were looked at."""
        return self.stored + self.unchanged + self.failed

    @property
    def rate(self) -> float:
        """Turns a second."""
        return self.turns / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        values = {name: getattr(self, name) for name in ("engine", "workers", "turns", "stored", "unchanged", "failed")}
        values |= {"seconds": round(self.seconds, 3), "turns_per_second": round(self.rate, 1)}
        values |= {"embedding_error": self.embedding_error}
        return values | {"failures": [failure.to_dict() for failure in self.failures]}


class Tally:
    """Adds up what the parts of a load did.

    Args:
        reject: told of each failure.
        progress: told after each part how many rows are done, and how many there are if known.
    """

    def __init__(self, reject: Callable[[Failure], None] | None = None, progress: Progress | None = None) -> None:
        self._reject, self._progress = reject, progress
        self.stored = self.unchanged = self.failed = 0
        self.broken: str | None = None
        self.embedding_error: str | None = None
        self._failures: list[Failure] = []

    @property
    def done(self) -> int:
        """How many rows were looked at."""
        return self.stored + self.unchanged + self.failed

    def add(self, written: Written, total: int | None) -> None:
        """Count a part."""
        self.stored += written.stored
        self.unchanged += written.unchanged
        self.failed += len(written.failures)
        self.broken = self.broken or written.broken
        self.embedding_error = self.embedding_error or written.embedding_error
        self._failures += written.failures[: KEPT - len(self._failures)]
        if self._reject is not None:
            for failure in written.failures:
                self._reject(failure)
        if self._progress is not None:
            self._progress(self.done, total)

    def report(self, engine: Engine, workers: int, seconds: float) -> BulkReport:
        """Return the sum."""
        return BulkReport(
            engine=engine,
            workers=workers,
            stored=self.stored,
            unchanged=self.unchanged,
            failed=self.failed,
            seconds=seconds,
            broken=self.broken,
            embedding_error=self.embedding_error,
            failures=tuple(self._failures),
        )
