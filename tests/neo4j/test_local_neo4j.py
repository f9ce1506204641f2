"""A local Neo4j starts, is found by other processes, survives being killed, and says what keeps it from starting."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import neo4j
import psutil
import pytest
from neo4j.exceptions import AuthError

from helamem_core.errors import ForeignStore, InvalidInput, StoreUnavailable
from helamem_core.local_neo4j import CALENDAR, LTS, Server
from helamem_core.local_neo4j.ports import listens
from tests.neo4j.fakes import fake_java, jars_are_there
from tests.neo4j_servers import SHORT_LIVED, SKIP, StartServer, failing_clearly, require, skip_if_asked


def value(server: Server, statement: str) -> object:
    with neo4j.GraphDatabase.driver(server.bolt_url, auth=server.auth) as driver:
        return driver.execute_query(statement, database_="neo4j").records[0].value()


def test_both_lines_answer_in_their_version(neo4j_server: Server) -> None:
    assert neo4j_server.is_up()
    version = value(neo4j_server, "CALL dbms.components() YIELD versions RETURN versions[0]")
    assert version == neo4j_server.line.version


def test_neo4j_browser_is_served(neo4j_server: Server) -> None:
    assert neo4j_server.browser_url.endswith(f"/browser/?dbms={neo4j_server.bolt_url}")
    with urllib.request.urlopen(neo4j_server.browser_url, timeout=10) as answer:
        assert b"neo4j" in answer.read().lower()


def test_only_this_machine_reaches_it(neo4j_server: Server) -> None:
    connections = psutil.Process(neo4j_server.state.pid).net_connections("inet")
    open_ports = {
        (item.laddr[0].removeprefix("::ffff:"), item.laddr[1]) for item in connections if item.status != "ESTABLISHED"
    }
    state = neo4j_server.state
    assert open_ports == {("127.0.0.1", state.bolt_port), ("127.0.0.1", state.http_port)}


def test_the_lts_line_asks_for_the_password(server_5_26: Server) -> None:
    assert server_5_26.user == "neo4j"
    for auth in (None, ("neo4j", "neo4j"), ("neo4j", "wrong-password")):
        with neo4j.GraphDatabase.driver(server_5_26.bolt_url, auth=auth) as driver, pytest.raises(AuthError):
            driver.verify_connectivity()


def test_the_calendar_line_asks_for_none(server_2026_09: Server) -> None:
    assert (server_2026_09.user, server_2026_09.password, server_2026_09.auth) == (None, None, None)


def test_the_password_is_in_its_file_and_nowhere_else(server_5_26: Server) -> None:
    password = server_5_26.password or ""
    assert len(password) >= 20
    assert server_5_26.password_file.stat().st_mode & 0o777 == 0o600
    assert password not in repr(server_5_26) + repr(server_5_26.state)
    home = server_5_26.home
    files = [*home.glob("conf/*"), *home.glob("logs/*"), home / "server.json"]
    assert len(files) > 3
    assert not [path for path in files if password.encode() in path.read_bytes()]
    assert password not in " ".join(psutil.Process(server_5_26.state.pid).cmdline())


def test_a_password_changed_elsewhere_is_told(start_neo4j: StartServer) -> None:
    server = start_neo4j()
    right = server.password_file.read_text(encoding="utf-8")
    assert server.stop()
    assert not server.stop()
    server.password_file.write_text("another-password", encoding="utf-8")
    with pytest.raises(StoreUnavailable, match=r"refuses the password in .*/password: put the one that it has") as told:
        server.start()
    assert "another-password" not in str(told.value)
    assert not server.is_running()
    server.password_file.write_text(right, encoding="utf-8")
    server.restart()
    assert server.is_up()


STARTS = """
import sys
from pathlib import Path
from helamem_core.local_neo4j import Server
server = Server(Path(sys.argv[1]), bolt_port=0, http_port=0, heap="512m", page_cache="64m")
print(server.start(), server.state.pid, server.is_up())
"""


def test_two_processes_that_start_it_at_once_start_it_once_and_a_third_stops_it(tmp_path: Path) -> None:
    require(LTS)
    home = tmp_path / "home"
    starting = [
        subprocess.Popen(
            [sys.executable, "-c", STARTS, str(home)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | SHORT_LIVED,
        )
        for _ in range(2)
    ]
    try:
        told = sorted(process.communicate(timeout=240)[0].split() for process in starting)
        server = Server(home)
        pid = str(server.state.pid)
        assert told == [["False", pid, "True"], ["True", pid, "True"]]
        assert server.is_up()
        assert not server.start()
        assert server.stop()
        assert not server.is_running()
        assert not [port for port in (server.state.bolt_port, server.state.http_port) if listens(port)]
    finally:
        Server(home).kill()


@pytest.fixture
def another_program() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_program_that_got_the_id_of_a_dead_server_is_left_alone(
    another_program: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    state = Server(tmp_path).state
    (tmp_path / "server.json").write_text(
        json.dumps({name: getattr(state, name) for name in state.__dataclass_fields__} | {"pid": another_program.pid}),
        encoding="utf-8",
    )
    server = Server(tmp_path)
    assert not server.is_running()
    assert not server.is_up()
    assert not server.stop()
    server.kill()
    assert another_program.poll() is None


def test_a_port_in_use_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_fake(monkeypatch, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StoreUnavailable, match=rf"port {port} of 127.0.0.1 is in use .*--port PORT`; 0: a free"):
            Server(tmp_path / "home", bolt_port=port, http_port=0).start()
        with pytest.raises(StoreUnavailable, match=rf"port {port} of 127.0.0.1 is in use .*--http-port PORT"):
            Server(tmp_path / "home", bolt_port=0, http_port=port).start()


def use_fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *then: str) -> None:
    """Let a script stand in for Java, and with it for the server."""
    jars_are_there(monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("HELAMEM_JAVA", str(fake_java(tmp_path / "java", "21.0.1", *then)))


def own(tmp_path: Path) -> Server:
    return Server(tmp_path / "home", bolt_port=0, http_port=0)


def test_a_server_that_ends_at_once_leaves_its_last_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_fake(
        monkeypatch, tmp_path, "echo WARNING: noise", "echo ERROR the disk is full", "echo '  at some.Frame'", "exit 1"
    )
    server = own(tmp_path)
    with pytest.raises(StoreUnavailable, match=r"ended before it was ready.*console.log:\nERROR the disk is full$"):
        server.start()
    assert not server.is_running()


def test_a_server_that_does_not_get_ready_is_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_fake(monkeypatch, tmp_path, "exec sleep 60")
    server = own(tmp_path)
    with pytest.raises(StoreUnavailable, match=r"was not ready within 0\.3 s; .*console\.log says"):
        server.start(wait=0.3)
    assert not server.is_running()
    assert not (tmp_path / "home" / "server.json").exists()


def test_a_server_that_does_not_heed_the_wish_to_stop_is_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_fake(monkeypatch, tmp_path, "trap '' TERM", f"touch {tmp_path}/deaf", "while true; do sleep 0.05; done")
    server = own(tmp_path)
    monkeypatch.setattr(Server, "_await_ready", lambda self, _: wait_for(tmp_path / "deaf"))
    server.start()
    assert server.is_running()
    assert server.stop(grace=0.3)
    assert not server.is_running()


def wait_for(path: Path) -> None:
    while not path.exists():
        os.sched_yield()


def test_a_folder_belongs_to_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_fake(monkeypatch, tmp_path, "exit 1")
    with pytest.raises(StoreUnavailable):
        own(tmp_path).start()
    with pytest.raises(ForeignStore, match=r"holds data of Neo4j 5\.26, which 2026\.09 must not open"):
        Server(tmp_path / "home", CALENDAR).start()


@pytest.mark.parametrize("size", ["lots", "1", "0g", "1 g", "-1g", "1g;rm", "1g\n"])
def test_an_amount_of_memory_that_is_none(size: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must be an amount of memory such as"):
        Server(tmp_path, heap=size)
    with pytest.raises(InvalidInput, match="must be an amount of memory such as"):
        Server(tmp_path, page_cache=size)


@pytest.mark.parametrize(
    ("port", "told"), [(70_000, "a port is 1 to 65535"), (-1, "a port is"), (7000, "wanted twice")]
)
def test_a_port_that_is_none(port: int, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_fake(monkeypatch, tmp_path)
    with pytest.raises(InvalidInput, match=told):
        Server(tmp_path / "home", bolt_port=port, http_port=7000).start()


def test_the_driver_is_imported_only_when_it_is_needed(tmp_path: Path) -> None:
    code = "import sys; from helamem_core.local_neo4j import Server; print('neo4j' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_tests_are_skipped_only_on_request_and_never_in_the_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (SKIP, "CI", "HELAMEM_REQUIRE_DATA"):
        monkeypatch.delenv(name, raising=False)
    skip_if_asked()
    monkeypatch.setenv(SKIP, "1")
    with pytest.raises(pytest.skip.Exception, match=SKIP):
        skip_if_asked()
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("HELAMEM_REQUIRE_DATA", "1")
    skip_if_asked()


def test_without_java_the_tests_fail_and_name_the_way_to_skip_them() -> None:
    with pytest.raises(pytest.fail.Exception, match=f"found no Java\nTo skip .*: {SKIP}=1"), failing_clearly():
        raise StoreUnavailable("found no Java")
