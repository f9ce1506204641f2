"""`helamem neo4j`: up, down, status, browser."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helamem_core.local_neo4j import CALENDAR, LINES, LTS, Line, Server
from tests.core.shell import Shell
from tests.neo4j_servers import SHORT_LIVED, require

FREE = ("--port", "0", "--http-port", "0", "--heap", "512m")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.setenv("HELAMEM_NEO4J_HOME", str(tmp_path / "neo4j"))
    for name, value in SHORT_LIVED.items():
        monkeypatch.setenv(name, value)
    yield Shell(tmp_path)
    for line in LINES:
        Server(tmp_path / "neo4j" / line.name, line).kill()


@contextmanager
def seeming_to_run(home: Path, line: Line) -> Iterator[None]:
    """Let a program that answers nothing stand in for a server."""
    home.mkdir(parents=True)
    command = [sys.executable, "-c", "print(flush=True); input()", f"--home-dir={home}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        state = Server(home, line, bolt_port=1, http_port=2).state
        fields = {name: getattr(state, name) for name in state.__dataclass_fields__} | {"pid": process.pid}
        (home / "server.json").write_text(json.dumps(fields), encoding="utf-8")
        yield
        process.kill()


def test_up_status_browser_down(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    require(LTS)
    answer = shell.run("neo4j", "up", *FREE)
    assert "Neo4j 5.26.28 is up; to use it:" in answer.out
    assert "starting Neo4j 5.26.28 on Java" in answer.err
    server = Server(shell.folder / "neo4j" / "5.26")
    assert server.password
    assert str(server.home) in answer.out
    assert "helamem neo4j down --line 5.26 (the data stay)" in answer.out
    assert exported(answer.out) == [server.bolt_url, "neo4j", server.password]

    again = shell.run("neo4j", "up", *FREE)
    assert "Neo4j 5.26.28 is up already" in again.out
    assert server.bolt_url in again.out
    status = shell.run("neo4j", "status")
    assert "Neo4j 5.26 is up\n" in status.out
    facts = shell.json("neo4j", "status")
    assert facts["up"] is True
    assert facts["url"] == server.bolt_url
    assert facts["pid"] == server.state.pid
    shown = [answer, again, status]
    assert not [one for one in shown if server.password in one.out + one.err]
    assert "password" not in facts

    told = shell.run("neo4j", "up", *FREE, "--show-password")
    assert exported(told.out) == [server.bolt_url, "neo4j", server.password]
    assert server.password in told.out
    assert shell.json("neo4j", "up", "--show-password")["password"] == server.password

    opened: list[str] = []

    def open_page(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", open_page)
    page = shell.json("neo4j", "browser")
    assert page["browser"] == server.browser_url
    assert all(Path(page[name]).is_file() for name in ("style", "queries", "guide"))
    assert not opened
    assert server.browser_url in shell.run("neo4j", "browser", "--open").out
    assert opened == [server.browser_url]

    assert "stopped Neo4j 5.26.28; its data are in" in shell.run("neo4j", "down").out
    assert "not up" in shell.run("neo4j", "status", code=4).out
    assert shell.json("neo4j", "down")["stopped"] is False
    assert (server.home / "data").is_dir()


def exported(out: str) -> list[str]:
    """Let a shell read the lines that are to be pasted into one."""
    lines = [line for line in out.splitlines() if line.startswith("  export ")]
    echo = 'printf "%s\\n" "$HELAMEM_URL" "$HELAMEM_NEO4J_USER" "$HELAMEM_NEO4J_PASSWORD"'
    script = "\n".join([*lines, echo])
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()


def test_nothing_is_up_at_first(shell: Shell) -> None:
    assert "Neo4j 5.26 is not up" in shell.run("neo4j", "status", code=4).out
    assert shell.json("neo4j", "status", "--line", "calendar", code=4)["line"] == "2026.09"
    assert "Neo4j 5.26 was not up" in shell.run("neo4j", "down").out
    assert "Neo4j 5.26 is not up: `helamem neo4j up` starts it" in shell.fails(4, "neo4j", "browser")
    assert not (shell.folder / "neo4j").exists()


def test_without_a_fitting_java_it_says_what_there_is_and_the_ways_out(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELAMEM_JAVA", str(shell.folder / "no-java"))
    error = shell.fails(4, "neo4j", "up", *FREE)
    assert "needs Java 17 or 21; HELAMEM_JAVA names" in error
    assert "docker compose" in error
    assert "sqlite:///" in error


def test_a_port_in_use(shell: Shell) -> None:
    require(LTS)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        error = shell.fails(4, "neo4j", "up", "--port", port, "--http-port", "0")
    assert f"port {port} of 127.0.0.1 is in use" in error
    assert "`helamem neo4j up --port PORT`" in error


def test_wrong_usage_is_told(shell: Shell) -> None:
    assert "heap is 'lots'" in shell.fails(2, "neo4j", "up", "--heap", "lots")
    assert "4.4" in shell.fails(2, "neo4j", "up", "--line", "4.4")
    assert "'--port'" in shell.fails(2, "neo4j", "up", "--port", "70000")


def test_of_two_that_run_one_must_be_named(shell: Shell) -> None:
    home = shell.folder / "neo4j"
    with seeming_to_run(home / "2026.09", CALENDAR):
        assert "Neo4j 2026.09 is running, but it does not answer" in shell.run("neo4j", "status", code=4).out
        with seeming_to_run(home / "5.26", LTS):
            error = shell.fails(2, "neo4j", "down")
            assert "more than one is running: name one with --line 5.26 or 2026.09" in error
            assert shell.json("neo4j", "down", "--line", "lts") == {
                "stopped": True,
                "line": "5.26",
                "home": str(home / "5.26"),
            }
