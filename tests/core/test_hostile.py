"""Values that no caller should give, and files that must not be written: an error of ours, nothing else lost."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helamem_core import (
    Config,
    EmbedderIdentity,
    InvalidExport,
    InvalidInput,
    Memory,
    RememberError,
    StoreUnavailable,
    Turn,
)
from helamem_core.embedders.encoder import usable
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.records import Node
from helamem_core.showing import shown
from helamem_core.stores.reference import ReferenceStore
from helamem_core.stores.sqlite import SQLiteStore
from helamem_core.testing.fakes import FakeClock
from tests.core.opened import LateDimension, Open, clock, memory, opened, url

__all__ = ["clock", "memory", "opened", "url"]

BIG = 10**5000


def nested() -> Any:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


DEEP = nested()
HOSTILE: dict[str, Any] = {"big": BIG, "deep": DEEP, "bytes": b"x"}
"""By name, since pytest itself cannot show them."""
VECTORS: dict[str, Any] = {
    "big": [BIG] * 256,
    "short": [1.0, 2.0],
    "too deep": [[1.0]],
    "text": "x",
    "none": None,
    "number": 5,
    "nan": [float("nan")] * 256,
    "zeros": [0.0] * 256,
}


def test_anything_can_be_shown() -> None:
    values: list[object] = [BIG, -BIG, [BIG], {BIG: BIG}, DEEP, "x" * 10**6, b"x" * 10**6, {1: DEEP}, object()]
    for value in values:
        assert 0 < len(shown(value)) <= 80


class TestRemember:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_a_bad_turn_fails_alone(self, memory: Memory, name: str) -> None:
        value = HOSTILE[name]
        bad = [
            value,
            Turn(value),
            Turn("x", id=value),
            Turn("x", at=value),
            Turn("x", role=value),
            Turn("x", expires_at=value),
            Turn("x", metadata={"n": value}),
            Turn("x", metadata=dict([(BIG, 1)])),  # type: ignore[list-item]
            Turn("x", metadata=value),
        ]
        report = memory.remember(["good", *bad, "good too"], on_error="report")
        assert [item.outcome for item in report.items] == ["stored", *["failed"] * len(bad), "stored"]
        assert memory.stats().memories == 2

    @pytest.mark.parametrize("name", HOSTILE)
    def test_so_does_an_update(self, memory: Memory, name: str) -> None:
        value = HOSTILE[name]
        memory.remember(Turn("x", id="a"))
        for change in ({"text": value}, {"metadata": {"n": value}}, {"metadata": value}, {"expires_at": value}):
            with pytest.raises(InvalidInput):
                memory.update("a", **change)
        assert memory.update("a", metadata={"n": 10**600}).metadata == {"n": 10**600}

    @pytest.mark.parametrize("name", VECTORS)
    @pytest.mark.parametrize("embedder", [HashingEmbedder, LateDimension])
    def test_a_bad_vector_fails_alone(self, opened: Open, name: str, embedder: type[HashingEmbedder]) -> None:
        model = embedder()
        memory, width = opened(embedder=model), HashingEmbedder().identity.dimension
        bad = VECTORS[name]
        if name == "short" and not model.identity.dimension:
            pytest.skip("the first usable row tells the width")
        rows = [bad, [1.0] * width, [2.0] * width]
        report = memory.remember(["a", "b", "c"], vectors=rows, on_error="report")
        assert [item.outcome for item in report.items] == ["failed", "stored", "stored"]

    def test_bad_answers_of_an_embedder_cost_no_others(self) -> None:
        good = [3.0, 4.0]
        for bad in ([BIG, 1], [1.0], "x", None, [good]):
            first, second = usable([good, bad], 2, 2)
            assert first is not None
            assert first.tolist() == pytest.approx([0.6, 0.8])
            assert second is None

    def test_a_bad_vector_of_a_query(self, memory: Memory) -> None:
        memory.remember("x")
        with pytest.raises(InvalidInput, match="vector cannot be used"):
            memory.recall("x", vector=[BIG] * 256)

    def test_what_the_engine_cannot_take_fails_alone(self, opened: Open) -> None:
        class Choking(ReferenceStore):
            def remember(
                self, space: str, nodes: Sequence[Node], *, embedder: EmbedderIdentity | None, config: Config
            ) -> list[bool]:
                if any(node.id == "bad" for node in nodes):
                    raise OverflowError("int too large")
                return super().remember(space, nodes, embedder=embedder, config=config)

        memory = opened(store=Choking())
        with pytest.raises(RememberError, match="int too large") as caught:
            memory.remember([Turn("x", id=id) for id in ("a", "bad", "c")])
        assert [item.outcome for item in caught.value.report.items] == ["stored", "failed", "stored"]
        assert memory.remember("later").items[0].outcome == "stored"

    def test_ids_that_are_none(self, opened: Open) -> None:
        made: list[Any] = ["cue:x", 5, "", BIG]
        memory = opened(ids=made.pop)
        while made:
            with pytest.raises(RememberError, match="what `ids` made is"):
                memory.remember("x")

    def test_the_last_moment(self, memory: Memory) -> None:
        memory.remember(Turn("x", id="a", at=datetime.max, expires_at=datetime.max.replace(tzinfo=UTC)))
        found = memory.get("a")
        assert found is not None
        assert (found.at.year, found.at.tzinfo) == (9999, UTC)
        assert memory.recall("x", until=date.max).ids == ["a"]
        late = datetime.max.replace(tzinfo=timezone(-timedelta(hours=1)))
        assert memory.remember(Turn("x", at=late), on_error="report").count("failed") == 1


def test_arguments_of_the_wrong_kind(memory: Memory) -> None:
    memory.remember(Turn("x", id="a"))
    verbs: list[Callable[[Any], object]] = [
        lambda value: memory.recall("x", kinds=value),
        lambda value: memory.recall("x", cue_completer=value),
        lambda value: memory.recall("x", learn=value),
        lambda value: memory.remember("x", vectors=value),
        lambda value: memory.remember("x", progress=value),
        lambda value: memory.embed_pending(progress=value),
        lambda value: memory.reembed(progress=value),
        lambda value: memory.list(archived=value),
        lambda value: memory.list({"n": [BIG, value]}),
        lambda value: memory.reinforce(["a"], cue=value),
        memory.export,
        memory.import_,
        memory.backup,
        lambda value: SQLiteStore(timeout=value),
        SQLiteStore,
        lambda value: Memory.open("memory:", space="s", embedder=value),
    ]
    for verb in verbs:
        for value in (-1, BIG, DEEP):
            with pytest.raises((InvalidInput, RememberError)):
                verb(value)


class TestFiles:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "m.db"

    @pytest.fixture
    def kept(self, opened: Open, path: Path) -> Memory:
        memory = opened(url=f"sqlite:///{path}", space="s")
        memory.remember(Turn("x", id="a"))
        return memory

    def test_never_onto_the_store(self, kept: Memory, path: Path, tmp_path: Path) -> None:
        (tmp_path / "hard").hardlink_to(path)
        (tmp_path / "soft").symlink_to(path)
        (tmp_path / "folder").symlink_to(tmp_path)
        names = ["m.db", "m.db-wal", "m.db-shm", "m.db-journal", "hard", "soft", "folder/m.db", "folder/m.db-wal"]
        for name in names:
            for verb in (kept.export, kept.backup):
                with pytest.raises(InvalidInput, match="belongs to the store"):
                    verb(tmp_path / name)
        with path.open("r+b") as file, pytest.raises(InvalidInput, match="belongs to the store"):
            kept.export(file)
        assert kept.check() == []
        assert kept.export(tmp_path / "free.jsonl") == 1

    def test_names_mean_files(self, kept: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for name in (":memory:", "file:copy?mode=memory"):
            kept.backup(name)
            with Memory.open(store=SQLiteStore(tmp_path / name), space="s", embedder="words") as copy:
                assert copy.get("a") is not None
            with pytest.raises(InvalidInput, match="exists"):
                kept.backup(name)

    def test_a_killed_backup_leaves_no_name(self, kept: Memory, path: Path, tmp_path: Path) -> None:
        target = tmp_path / "copy.db"
        program = (
            "import sys, time; from pathlib import Path; from helamem_core.stores import files\n"
            "with files.beside(Path(sys.argv[1]), replace=False):\n    print(flush=True)\n    time.sleep(60)"
        )
        with subprocess.Popen([sys.executable, "-c", program, target], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            assert len(list(tmp_path.glob(".copy.db.*.part"))) == 1
            kept.export(target)  # what another process is writing is left to it
            assert len(list(tmp_path.glob(".copy.db.*.part"))) == 1
            target.unlink()
            process.send_signal(signal.SIGKILL)
        assert not target.exists()
        kept.backup(target)
        assert list(tmp_path.glob(".copy.db*")) == []

    def test_a_full_disk(self, kept: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(handle: int) -> None:
            raise OSError(28, os.strerror(28))

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            for verb in (kept.export, kept.backup):
                with pytest.raises(StoreUnavailable, match="No space left"):
                    verb(tmp_path / "target")

        class Full(io.StringIO):
            def write(self, text: str, /) -> int:
                raise OSError(28, os.strerror(28))

        with pytest.raises(StoreUnavailable, match="No space left"):
            kept.export(Full())
        assert list(tmp_path.glob("*target*")) == []

    def test_a_bad_line_is_named(self, kept: Memory, opened: Open, clock: FakeClock, tmp_path: Path) -> None:
        kept.remember(Turn("y", id="b"))
        export = tmp_path / "e.jsonl"
        kept.export(export)
        lines = export.read_text(encoding="utf-8").splitlines()
        assert '"end"' in lines[-1]
        other = opened(url="memory:")
        export.write_text("\n".join([lines[0], "", lines[1], lines[2].replace('"uses":0', '"uses":-1'), lines[3]]))
        with pytest.raises(InvalidExport, match=r"^line 4: .*uses is -1"):
            other.import_(export)
        export.write_text("\n".join(lines[:-1]))
        with pytest.raises(InvalidExport, match="cut off"):
            other.import_(export)
        assert (other.stats().memories, np.isfinite(clock.seconds)) == (0, True)
