"""Which Java is taken, how the jars are fetched, and what is said where something lacks."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from helamem_core.errors import InvalidInput, StoreBusy, StoreUnavailable
from helamem_core.local_neo4j import CALENDAR, LTS, java, line
from helamem_core.local_neo4j.artifacts import jars
from helamem_core.local_neo4j.java import Java
from helamem_core.local_neo4j.places import cache_folder, home_folder, locked
from tests.neo4j.fakes import FETCHES, bare_machine, calls, fake_java, fake_maven, script

SOME_JAVA = Java(Path("/nowhere/bin/java"), 17, compiles=True)


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare_machine(monkeypatch, tmp_path)


def test_a_machine_without_java_is_told_every_way_out() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        java.find(LTS)
    message = str(caught.value)
    assert "Neo4j 5.26 needs Java 17 or 21; found no Java" in message
    for way_out in ("install", "HELAMEM_JAVA=", "docker compose", "HELAMEM_URL=sqlite:///"):
        assert way_out in message


def test_an_old_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "1.8.0_392")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    with pytest.raises(StoreUnavailable, match=f"found: Java 8 at {old}"):
        java.find(LTS)
    with pytest.raises(StoreUnavailable, match=r"Neo4j 2026.09 needs Java 21 or newer \(a JDK\); found: Java 8"):
        java.find(CALENDAR)


@pytest.mark.parametrize(
    ("version", "fits_lts", "fits_calendar"),
    [("11.0.22", False, False), ("17.0.15", True, False), ("21", True, True), ("25.0.1", False, True)],
)
def test_each_line_takes_the_java_it_runs_on(version: str, fits_lts: bool, fits_calendar: bool, tmp_path: Path) -> None:
    found = java.ask(fake_java(tmp_path / "some", version))
    assert (found.runs(LTS), found.runs(CALENDAR)) == (fits_lts, fits_calendar)


def test_the_calendar_line_wants_a_jdk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path / "jre", "21.0.1", jdk=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jre"))
    assert java.find(LTS).version == 21
    with pytest.raises(StoreUnavailable, match="a JRE, no JDK"):
        java.find(CALENDAR)


def test_java_is_looked_for_in_java_home_then_in_path_then_where_systems_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed = fake_java(tmp_path / "jvm" / "java-21", "21.0.1")
    fake_java(tmp_path / "jvm" / "java-11", "11.0.1")
    monkeypatch.setattr(java, "_FOLDERS", ((str(tmp_path / "jvm"), "*"),))
    assert java.find(LTS).path == installed
    in_path = fake_java(tmp_path / "in-path", "17.0.1")
    monkeypatch.setenv("PATH", str(in_path.parent), prepend=":")
    assert java.find(LTS).path == in_path
    assert java.find(CALENDAR).path == installed
    at_home = fake_java(tmp_path / "home", "17.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java.find(LTS).path == at_home


def test_helamem_java_is_the_only_one_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "17.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    chosen = fake_java(tmp_path / "chosen", "21.0.1")
    for named in (chosen, tmp_path / "chosen"):
        monkeypatch.setenv("HELAMEM_JAVA", str(named))
        assert java.find(LTS).path == chosen
    fake_java(tmp_path / "chosen", "11.0.1")
    with pytest.raises(StoreUnavailable, match="HELAMEM_JAVA names Java 11 at"):
        java.find(LTS)
    monkeypatch.setenv("HELAMEM_JAVA", str(tmp_path / "nothing"))
    with pytest.raises(StoreUnavailable, match="does not answer `java -version`"):
        java.find(LTS)


def test_words_before_the_version_do_no_harm(tmp_path: Path) -> None:
    command = script(
        tmp_path / "java", "echo Picked up JAVA_TOOL_OPTIONS: -Xmx1g >&2", "echo 'java version \"17\"' >&2"
    )
    assert java.ask(command).version == 17


def test_a_stub_that_only_complains_is_no_java(tmp_path: Path) -> None:
    command = script(tmp_path / "java", "echo 'Unable to locate a Java Runtime.' >&2", "exit 1")
    assert java.ask(command).version is None


def test_a_machine_without_maven_is_told_the_ways_out() -> None:
    with pytest.raises(
        StoreUnavailable, match=r"needs Maven: no `mvn` in PATH.*install Maven;.*docker compose.*sqlite"
    ):
        jars(LTS, SOME_JAVA)


def test_the_jars_are_fetched_once_a_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_maven(tmp_path / "maven", *FETCHES)
    monkeypatch.setenv("MAVEN_HOME", str(tmp_path / "maven"))
    told: list[str] = []
    folder = jars(LTS, SOME_JAVA, told.append)
    assert folder == tmp_path / "cache" / "neo4j" / "5.26.28" / "lib"
    assert [path.name for path in folder.iterdir()] == ["neo4j-5.26.28.jar"]
    assert jars(LTS, SOME_JAVA, told.append) == folder
    assert len(told) == 1
    assert "fetching Neo4j 5.26.28 with Maven" in told[0]
    jars(CALENDAR, SOME_JAVA)
    first, second = calls(tmp_path / "maven")
    assert "-q -B dependency:copy-dependencies -DincludeScope=runtime" in first
    assert "-Dneo4j.version=2026.09.0" in second


def test_two_at_once_fetch_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_maven(tmp_path / "maven", "sleep 0.3", *FETCHES)
    monkeypatch.setenv("MAVEN_HOME", str(tmp_path / "maven"))
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(jars(LTS, SOME_JAVA))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 3
    assert len(calls(tmp_path / "maven")) == 1


def test_a_failing_maven_says_why_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_maven(
        tmp_path / "maven",
        *FETCHES,
        "echo '[ERROR] Could not find artifact org.neo4j:neo4j in https://ann:secret@mirror.example -> [Help 1]'",
        "echo '[ERROR] Re-run Maven using the -X switch'",
        "exit 1",
    )
    monkeypatch.setenv("MAVEN_HOME", str(tmp_path / "maven"))
    with pytest.raises(StoreUnavailable) as caught:
        jars(LTS, SOME_JAVA)
    message = str(caught.value)
    assert "exit code 1" in message
    assert "Could not find artifact org.neo4j:neo4j" in message
    assert "secret" not in message
    assert "Re-run" not in message
    assert not [path for path in (tmp_path / "cache" / "neo4j").iterdir() if path.is_dir()]


def test_a_maven_that_fetches_nothing_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_maven(tmp_path / "maven")
    monkeypatch.setenv("MAVEN_HOME", str(tmp_path / "maven"))
    with pytest.raises(StoreUnavailable, match="it said nothing"):
        jars(LTS, SOME_JAVA)


def test_what_a_killed_fetch_left_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    left = tmp_path / "cache" / "neo4j" / ".5.26.28-abc" / "lib"
    left.mkdir(parents=True)
    fake_maven(tmp_path / "maven", *FETCHES)
    monkeypatch.setenv("MAVEN_HOME", str(tmp_path / "maven"))
    jars(LTS, SOME_JAVA)
    assert not left.parent.exists()


def test_maven_is_given_the_java_that_only_we_know(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_maven(tmp_path / "maven", f'echo "$JAVA_HOME" > {tmp_path}/told', *FETCHES)
    monkeypatch.setenv("MAVEN_HOME", str(tmp_path / "maven"))
    jars(LTS, Java(fake_java(tmp_path / "hidden", "17"), 17, compiles=True))
    assert (tmp_path / "told").read_text(encoding="utf-8").strip() == str(tmp_path / "hidden")


def test_lines_have_names_and_aliases() -> None:
    assert line("5.26") is line("lts") is line("5.26.28") is LTS
    assert line("2026.09") is line("calendar") is CALENDAR
    with pytest.raises(InvalidInput, match=r"called '4.4'; there are: 5.26 \(lts\), 2026.09 \(calendar\)"):
        line("4.4")


def test_folders_follow_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("HELAMEM_CACHE", "XDG_CACHE_HOME", "XDG_DATA_HOME", "HELAMEM_NEO4J_HOME"):
        monkeypatch.setenv(name, "")
    assert cache_folder() == tmp_path / ".cache" / "helamem"
    assert home_folder(LTS) == tmp_path / ".local/share/helamem/neo4j/5.26"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "d"))
    assert cache_folder() == tmp_path / "c" / "helamem"
    assert home_folder(CALENDAR) == tmp_path / "d" / "helamem" / "neo4j" / "2026.09"
    monkeypatch.setenv("HELAMEM_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("HELAMEM_NEO4J_HOME", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "own"
    assert home_folder(LTS) == tmp_path / "mine" / "5.26"


def test_a_lock_that_is_held_too_long_is_told(tmp_path: Path) -> None:
    with (
        locked(tmp_path / "lock", 1, "working"),
        pytest.raises(StoreBusy, match="has been working for too long"),
        locked(tmp_path / "lock", 0.2, "working"),
    ):
        pytest.fail("two hold it")
