"""Open and close, spaces, forgetting, moving, re-embedding, through the public API."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from helamem_core import (
    PAPER,
    Config,
    EmbedderError,
    EmbedderIdentity,
    EmbedderMismatch,
    EmbedderMismatchWarning,
    InvalidConfig,
    InvalidExport,
    InvalidInput,
    Limits,
    Memory,
    MemoryClosed,
    MemoryNotFound,
    MissingExtra,
    SpaceNotEmpty,
    StoreUnavailable,
    Turn,
)
from helamem_core.embedders.hashing import HashingEmbedder
from helamem_core.stores.reference import ReferenceStore
from helamem_core.testing.fakes import NOW, CountingIds, FakeClock
from helamem_core.urls import redacted
from tests.core.opened import Flaky, Open, clock, memory, opened, url

__all__ = ["clock", "memory", "opened", "url"]

OTHER = HashingEmbedder("other")


class TestOpen:
    def test_a_space_must_be_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(InvalidInput, match="HELAMEM_SPACE"):
            Memory.open("memory:")
        monkeypatch.setenv("HELAMEM_SPACE", "from outside")
        with Memory.open("memory:", embedder="words") as memory:
            assert memory.space == "from outside"
        with Memory.open("memory:", space="given", embedder="words") as memory:
            assert memory.space == "given"

    @pytest.mark.parametrize("space", ["", "a\x00", "\ud800", "x" * 257, 5])
    def test_bad_names_of_spaces(self, memory: Memory, space: Any) -> None:
        with pytest.raises(InvalidInput, match="space is"):
            Memory.open("memory:", space=space)
        with pytest.raises(InvalidInput, match="space is"):
            memory.in_space(space)

    def test_settings_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {"URL": "memory:", "SPACE": "s", "EMBEDDER": "words", "PRESET": "Paper"}.items():
            monkeypatch.setenv(f"HELAMEM_{name}", value)
        with Memory.open() as memory:
            assert (memory.config, memory.embedder, repr(memory)) == (PAPER, None, "<Memory of space 's' in memory:>")
        monkeypatch.setenv("HELAMEM_PRESET", "best")
        with pytest.raises(InvalidConfig, match="default, paper"):
            Memory.open()
        monkeypatch.setenv("HELAMEM_CUE_COMPLETER", "hippo")
        with pytest.raises(InvalidInput, match="'hippo'; installed: none"):
            Memory.open(config=Config())

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("neo4j+s://ann:pa%40ss@host:7687/db", "neo4j+s://***@host:7687/db"),
            ("neo4j://host?password=x&a=b", "neo4j://host?password=***&a=b"),
            ("sqlite:///a@b.db", "sqlite:///a@b.db"),
            ("no engine opens 'x://ann:p/a?s#s@host'; mail a@b", "no engine opens 'x://***@host'; mail a@b"),
        ],
    )
    def test_secrets_are_not_shown(self, url: str, shown: str) -> None:
        assert redacted(url) == shown

    @pytest.mark.parametrize("embedder", ["nobody", "openai:", 5, HashingEmbedder])
    def test_unknown_embedders(self, embedder: Any) -> None:
        with pytest.raises(InvalidInput, match="embedder is"):
            Memory.open("memory:", space="s", embedder=embedder)

    def test_a_missing_extra_is_told_at_open(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(MissingExtra, match=r"embedder='words'.*helamem\[local\]"):
            Memory.open("memory:", space="s")
        with pytest.raises(MissingExtra, match=r"helamem\[openai\]"):
            Memory.open("memory:", space="s", embedder="openai:x")

    def test_the_model_is_not_loaded_at_open(self) -> None:
        with Memory.open("memory:", space="s") as memory:
            assert list(memory.recall("anything")) == []
            assert getattr(memory.embedder, "_model", 0) is None

    def test_closed_is_closed(self, opened: Open) -> None:
        memory = opened()
        child = memory.in_space("t")
        child.close()
        with pytest.raises(MemoryClosed, match="'t'"):
            child.stats()
        memory.remember("still open")
        memory.close()
        memory.close()
        for verb in (
            memory.stats,
            lambda: memory.recall("x"),
            lambda: memory.remember([]),
            lambda: memory.in_space("t"),
        ):
            with pytest.raises(MemoryClosed):
                verb()

    def test_children_close_with_their_parent(self, opened: Open) -> None:
        memory = opened()
        child = memory.in_space("t")
        memory.close()
        with pytest.raises(MemoryClosed):
            child.remember("x")

    def test_a_borrowed_store_stays_open(self) -> None:
        class Watched(ReferenceStore):
            closed = False

            def close(self) -> None:
                self.closed = True

        store = Watched()
        with Memory.open(store=store, space="s", embedder="words") as memory:
            memory.remember("x")
        assert not store.closed
        assert store.spaces() == ["s"]


class TestSpaces:
    def test_spaces_are_walls_with_exact_names(self, memory: Memory) -> None:
        names = ["acme", "acme-corp", "ac_me", "%", "ACME", "acme "]
        spaces = {name: memory.in_space(name) for name in names}
        for name, space in spaces.items():
            space.remember(Turn(f"secret of {name}", id="same"))
        assert memory.spaces() == sorted(names)
        for name, space in spaces.items():
            assert [found.text for found in space.recall("secret")] == [f"secret of {name}"]
        memory.drop_space("acme")
        assert "acme" not in memory.spaces()
        assert spaces["acme-corp"].stats().memories == 1
        assert memory.drop_space("nobody's").ids == ()


class TestForget:
    def test_exactly_one_way(self, memory: Memory) -> None:
        memory.remember(Turn("a", id="a"))
        for options in ({}, {"ids": ["a"], "everything": True}, {"filters": {"role": "user"}, "everything": True}):
            with pytest.raises(InvalidInput, match="one of"):
                memory.forget(**options)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="everything=True"):
            memory.forget(filters={})
        assert memory.forget([]).ids == ()
        assert memory.forget(["nobody"]).ids == ()
        assert memory.stats().memories == 1

    def test_by_filter_takes_archived_and_expired_ones_too(self, memory: Memory, clock: FakeClock) -> None:
        soon = datetime.fromtimestamp(NOW + 1, UTC)
        memory.remember(
            [
                Turn("a", id="a", metadata={"t": 1}),
                Turn("b", id="b", metadata={"t": 1}),
                Turn("c", id="c", metadata={"t": 1}, expires_at=soon),
                Turn("d", id="d"),
            ]
        )
        memory.archive("b")
        clock.advance(2)
        assert sorted(memory.forget(filters={"t": 1}).ids) == ["a", "b", "c"]
        assert [episode.id for episode in memory.list()] == ["d"]

    def test_everything(self, memory: Memory) -> None:
        memory.remember([f"note {n}" for n in range(250)])
        memory.reinforce(memory.list(limit=2), cue="why")
        assert len(memory.forget(everything=True).ids) == 250
        stats = memory.stats()
        assert (stats.memories, stats.cues, stats.steps, memory.spaces()) == (0, 0, 0, [])
        memory.remember("new")
        assert memory.recall("new")[0].text == "new"

    def test_no_vector_of_a_forgotten_text_stays_cached(self, opened: Open) -> None:
        embedder = Flaky()
        memory = opened(embedder=embedder)
        ids = memory.remember("a canary sings").ids
        memory.recall("a canary sings")
        memory.recall("a canary sings")
        assert embedder.asked.count("a canary sings") == 2
        memory.forget(ids)
        assert len(memory._session._shared.cache) == 0

    def test_archive_restore_fade(self, memory: Memory, clock: FakeClock) -> None:
        memory.remember([Turn("a", id="a"), Turn("b", id="b")])
        assert memory.archive(["a"]) == ["a"]
        assert memory.archive(["a"]) == []
        assert [e.id for e in memory.list(archived=True)] == ["a"]
        held = memory.get("a")
        assert held is not None
        assert held.archived_at is not None
        assert memory.remember(Turn("a", id="a")).count("unchanged") == 1
        assert memory.restore("a") == ["a"]
        with pytest.raises(MemoryNotFound):
            memory.archive(["b", "nobody"])
        clock.advance(40 * 86_400)
        assert memory.fade().archived == ("a", "b")


class TestUpdate:
    def test_a_new_text_is_found_the_old_is_not(self, memory: Memory) -> None:
        memory.remember(Turn("the quick fox", id="a", speaker="Bo", metadata={"x": 1}))
        after = memory.update("a", text="a lazy dog\x00")
        assert (after.text, after.speaker, after.metadata) == ("a lazy dog\ufffd", "Bo", {"x": 1})
        assert memory.recall("dog")[0].why.lexical > 0
        assert memory.recall("quick fox")[0].why.lexical == 0

    def test_metadata_and_expiry(self, memory: Memory, clock: FakeClock) -> None:
        memory.remember(Turn("a", id="a", metadata={"x": 1}))
        assert memory.update("a", metadata={"y": (2, 3)}).metadata == {"y": [2, 3]}
        assert memory.update("a", metadata={}).metadata == {}
        assert memory.update("a", expires_at="2100-01-01").expires_at == datetime(2100, 1, 1, tzinfo=UTC)
        assert memory.update("a", text="b").expires_at is not None
        assert memory.update("a", expires_at=None).expires_at is None
        refused: list[dict[str, Any]] = [{"text": ""}, {"metadata": {"x": float("nan")}}, {"expires_at": "soon"}]
        for bad in refused:
            with pytest.raises(InvalidInput):
                memory.update("a", **bad)
        changes: list[dict[str, Any]] = [{"text": "x"}, {"metadata": {}}]
        for change in changes:
            with pytest.raises(MemoryNotFound):
                memory.update("nobody", **change)

    @pytest.mark.parametrize("options", [{"order": "text"}, {"limit": -1}, {"offset": -1}, {"limit": True}])
    def test_bad_pages(self, memory: Memory, options: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput, match=next(iter(options))):
            memory.list(**options)


class TestTransfer:
    def fill(self, memory: Memory) -> None:
        memory.remember([Turn("我喜欢猫", id="a", metadata={"标签": "模型"}), Turn("second\u2028line", id="b")])
        memory.reinforce(["a", "b"], cue="why", event_id="e")

    def test_there_and_back(self, memory: Memory, opened: Open, tmp_path: Path) -> None:
        self.fill(memory)
        path = tmp_path / "out.jsonl"
        assert memory.export(path) == 2
        assert [p.name for p in tmp_path.iterdir() if "part" in p.name] == []
        assert "模型" in path.read_text(encoding="utf-8")
        other = opened(url="memory:", space="copy")
        assert other.import_(str(path)) == 2
        assert other.neighbours("a") == memory.neighbours("a")
        assert other.recall("second line").items == memory.recall("second line").items
        assert other.reinforce(["a"], event_id="e").applied is False
        with pytest.raises(SpaceNotEmpty):
            other.import_(path)

    def test_files_and_standard_streams(
        self, memory: Memory, opened: Open, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.fill(memory)
        text, binary = io.StringIO(), io.BytesIO()
        assert memory.export(text) == memory.export(binary) == memory.export("-") == 2
        assert text.getvalue() == binary.getvalue().decode() == capsys.readouterr().out
        assert opened(url="memory:").import_(io.StringIO("\ufeff" + text.getvalue() + "\n\n")) == 2
        assert opened(url="memory:").import_(io.BytesIO(binary.getvalue())) == 2
        monkeypatch.setattr(sys, "stdin", io.StringIO(text.getvalue()))
        assert opened(url="memory:").import_("-") == 2

    @pytest.mark.parametrize("damage", ["{", "[1]", '{"x": 1}', '{"episode": {"id": NaN}}', "\x00", "[" * 100_000])
    def test_a_damaged_file_stores_nothing(self, memory: Memory, opened: Open, damage: str, tmp_path: Path) -> None:
        self.fill(memory)
        path = tmp_path / "out.jsonl"
        memory.export(path)
        path.write_text(path.read_text(encoding="utf-8") + damage, encoding="utf-8")
        other = opened(space="other")
        with pytest.raises(InvalidExport):
            other.import_(path)
        path.write_bytes(b"\xff\xfe")
        with pytest.raises(InvalidExport):
            other.import_(path)
        assert other.stats().memories == 0

    def test_an_export_is_all_or_nothing(self, tmp_path: Path) -> None:
        class Breaking(ReferenceStore):
            def dump(self, space: str) -> Iterator[dict[str, Any]]:
                yield from super().dump(space)
                raise KeyboardInterrupt

        path = tmp_path / "out.jsonl"
        path.write_text("old")
        with Memory.open(store=Breaking(), space="s", embedder="words") as memory:
            with pytest.raises(KeyboardInterrupt):
                memory.export(path)
            with pytest.raises(StoreUnavailable):
                memory.export(tmp_path / "no" / "folder")
            with pytest.raises(StoreUnavailable):
                memory.import_(tmp_path / "nothing")
        assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


class TestModels:
    def test_another_model_is_noticed_and_never_mixed(self, opened: Open) -> None:
        store = ReferenceStore()
        opened(store=store).remember("the quick fox")
        with pytest.warns(EmbedderMismatchWarning, match="'hashing'.*'other'"):
            memory = opened(store=store, embedder=OTHER, ids=CountingIds("n"))
        # Told once; then silent (a warning would be an error here).
        assert memory.recall("quick")[0].why.similarity == 0
        report = memory.remember("a lazy dog")
        assert report.unembedded == 1
        assert "reembed" in str(report.embedding_error)
        with pytest.raises(EmbedderMismatch):
            memory.embed_pending()
        assert memory.reembed() == 2
        assert memory.recall("a lazy dog")[0].why.similarity > 0
        assert memory.stats().embedder == OTHER.identity

    def test_another_process_changing_the_model_is_noticed(self, opened: Open) -> None:
        store = ReferenceStore()
        first, second = opened(store=store), opened(store=store)
        first.remember("the quick fox")
        assert second.recall("quick")[0].why.similarity > 0
        first.reembed(OTHER)
        with pytest.warns(EmbedderMismatchWarning):
            found = second.recall("quick")
        assert (found[0].why.similarity, found.vector) == (0, None)
        assert second.recall("zzz", vector=[1.0] * 256).items == ()

    def test_reembed_goes_on_where_it_stopped(self, opened: Open) -> None:
        memory = opened(config=Config(limits=Limits(batch=2)))
        memory.remember([f"turn {n}" for n in range(5)])
        memory.reinforce(memory.list(limit=1), cue="why")
        broken = Flaky("new")

        def stop(done: int, total: int | None) -> None:
            assert total == 6
            broken.failing = True

        with pytest.raises(EmbedderError, match="429"):
            memory.reembed(broken, progress=stop)
        assert memory.stats().embedder == EmbedderIdentity("hashing", 256)
        assert memory.recall("turn 1")[0].why.similarity > 0
        broken.failing, broken.asked = False, []
        assert memory.reembed(broken) == 6
        assert len(broken.asked) == 4
        assert memory.stats().unembedded == 0
        assert memory.embedder is broken
        assert memory.in_space("t").embedder is broken

    def test_reembedding_nothing(self, memory: Memory) -> None:
        assert memory.reembed(OTHER) == 0
        assert memory.spaces() == []

    def test_link_similar(self, memory: Memory) -> None:
        memory.remember(["a fox runs", "a fox runs fast", "rain"])
        assert memory.link_similar() == 1
        assert memory.link_similar() == 0
        assert memory.check() == []


def test_backup_refuses_where_there_is_no_file(tmp_path: Path) -> None:
    with Memory.open("memory:", space="s", embedder="words") as memory, pytest.raises(InvalidInput, match="export"):
        memory.backup(tmp_path / "x")


def test_reports_are_json(memory: Memory) -> None:
    ids = memory.remember(Turn("a", at="2025-01-01")).ids
    assert json.loads(json.dumps(memory.stats().to_dict()))["memories"] == 1
    held = memory.get(ids[0])
    assert held is not None
    assert json.loads(json.dumps(held.to_dict()))["at"] == "2025-01-01T00:00:00+00:00"
