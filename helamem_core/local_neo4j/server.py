"""A local Neo4j: started, stopped and found again, also by another process."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from helamem_core.errors import ForeignStore, StoreUnavailable
from helamem_core.local_neo4j import bolt, configuration, java, passwords, processes
from helamem_core.local_neo4j.artifacts import Say, jars, unheard
from helamem_core.local_neo4j.bolt import USER, Answer
from helamem_core.local_neo4j.java import Java
from helamem_core.local_neo4j.lines import LTS, Line
from helamem_core.local_neo4j.logs import last_words
from helamem_core.local_neo4j.places import locked, made
from helamem_core.local_neo4j.ports import HOST, listens, settled
from helamem_core.local_neo4j.state import State

BOLT_PORT: Final = 7687
HTTP_PORT: Final = 7474
WAIT: Final = 180.0
GRACE: Final = 60.0
_PAUSE: Final = 0.1  # seconds between two looks


class Server:
    """A Neo4j Community server on this machine, with its data in a folder of its own.

    It goes on when the process that started it ends. An object on the same folder, in any process, finds it: then it
    has the ports and the settings of the running server, whatever was asked for.

    Args:
        home: its folder; made at the first start. It belongs to one line of Neo4j for ever.
        line: which Neo4j.
        bolt_port: where drivers reach it; 0: a free one, chosen at the first start.
        http_port: where Neo4j Browser is; 0: likewise.
        auth: whether it asks for a password; a new server gets a random one, kept in `password_file`.
        heap: memory of its Java, such as `1g`.
        page_cache: memory for pages of the store, such as `512m`.

    Raises:
        InvalidInput: an amount of memory is none.
    """

    def __init__(
        self,
        home: Path,
        line: Line = LTS,
        *,
        bolt_port: int = BOLT_PORT,
        http_port: int = HTTP_PORT,
        auth: bool = True,
        heap: str = "1g",
        page_cache: str = "512m",
    ) -> None:
        self._home = home.resolve()
        self._line = line
        self._state = State(
            pid=0,
            line=line.name,
            version=line.version,
            java="",
            bolt_port=bolt_port,
            http_port=http_port,
            auth=auth,
            heap=configuration.size(heap, "heap"),
            page_cache=configuration.size(page_cache, "page_cache"),
        )
        self._find()

    def __repr__(self) -> str:
        """Return what it is, without its password."""
        return f"Server({str(self._home)!r}, {self._line.name}, {self.bolt_url})"

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()

    @property
    def home(self) -> Path:
        """The folder with its data, logs, settings and password."""
        return self._home

    @property
    def line(self) -> Line:
        """Which Neo4j it is."""
        return self._line

    @property
    def state(self) -> State:
        """Its settings; with a process if it was started."""
        return self._state

    @property
    def bolt_url(self) -> str:
        """Where drivers reach it, without user and password."""
        return f"bolt://{HOST}:{self._state.bolt_port}"

    @property
    def http_url(self) -> str:
        """Where its web server is."""
        return f"http://{HOST}:{self._state.http_port}"

    @property
    def browser_url(self) -> str:
        """Where Neo4j Browser is, ready to connect to this server."""
        return f"{self.http_url}/browser/?dbms={self.bolt_url}"

    @property
    def user(self) -> str | None:
        """The user's name, None without authentication."""
        return USER if self._state.auth else None

    @property
    def password(self) -> str | None:
        """The user's password, None without authentication or before the first start."""
        return passwords.kept(self.password_file) if self._state.auth else None

    @property
    def auth(self) -> tuple[str, str] | None:
        """User and password as the driver takes them, None without authentication."""
        return (self.user, self.password) if self.user and self.password else None

    @property
    def password_file(self) -> Path:
        """The file that holds the password; only its owner can read it."""
        return self._home / "password"

    @property
    def log(self) -> Path:
        """What the server has said since its last start."""
        return self._home / "logs" / "console.log"

    def is_running(self) -> bool:
        """Return whether its process runs, be it ready or not."""
        self._find()
        return self._lives()

    def is_up(self) -> bool:
        """Return whether it runs and answers a query."""
        return self.is_running() and bolt.ask(self.bolt_url, self.password) is Answer.ready

    def start(self, wait: float = WAIT, say: Say = unheard) -> bool:
        """Start it unless it runs, and wait until it answers a query.

        The jars are fetched first if this machine lacks them. A server that does not get ready is stopped again.

        Args:
            wait: seconds until it must be ready.
            say: is told what takes long.

        Returns:
            Whether it was started; False if it was up already.

        Raises:
            MissingExtra: the driver is not installed.
            StoreUnavailable: no Java or Maven, a port in use, or it does not start; the message says why.
            ForeignStore: the folder belongs to another line of Neo4j.
            StoreBusy: another process starts or stops it and does not finish.
        """
        bolt.require_driver()
        if self.is_running():
            self._await_ready(wait)
            return False
        self._claim()
        found = java.find(self._line)
        lib = jars(self._line, found, say)
        with self._locked(wait):
            if started := not self.is_running():
                self._launch(found, lib, say)
            try:
                self._await_ready(wait)
            except BaseException:
                if started:
                    self._end(GRACE)
                raise
        return started

    def stop(self, grace: float = GRACE) -> bool:
        """Stop it cleanly; its data stay.

        Args:
            grace: seconds after which it is killed; nothing that was committed is lost by that either.

        Returns:
            Whether it ran.
        """
        if not self._home.exists():
            return False
        with self._locked(grace):
            ran = self.is_running()
            self._end(grace)
        return ran

    def kill(self) -> None:
        """End it at once, as a loss of power would."""
        self._find()
        processes.kill(self._state.pid, self._mark)
        self._state_file.unlink(missing_ok=True)

    def restart(self, wait: float = WAIT) -> None:
        """Stop it and start it again, on the same ports."""
        self.stop()
        self.start(wait)

    @property
    def _mark(self) -> str:
        return configuration.mark(self._home)

    @property
    def _state_file(self) -> Path:
        return self._home / "server.json"

    def _locked(self, seconds: float) -> AbstractContextManager[None]:
        return locked(self._home / "lock", seconds + GRACE, f"starting or stopping Neo4j in {str(self._home)!r}")

    def _find(self) -> None:
        """Take over the settings of the server that runs in this folder, if one does."""
        state = State.read(self._state_file)
        if state is not None and processes.runs(state.pid, self._mark):
            self._state = state

    def _lives(self) -> bool:
        return processes.runs(self._state.pid, self._mark)

    def _claim(self) -> None:
        """Hold that the folder is this line's."""
        made(self._home, 0o700)
        owner = self._home / "line"
        if not owner.exists():
            owner.write_text(f"{self._line.name}\n", encoding="utf-8")
        elif (name := owner.read_text(encoding="utf-8").strip()) != self._line.name:
            raise ForeignStore(
                f"{str(self._home)!r} holds data of Neo4j {name}, which {self._line.name} must not open: "
                f"start line {name}, or name another folder"
            )

    def _launch(self, found: Java, lib: Path, say: Say) -> None:
        wanted = self._state
        bolt_port, http_port = settled(("--port", wanted.bolt_port), ("--http-port", wanted.http_port))
        state = replace(wanted, java=str(found.path), bolt_port=bolt_port, http_port=http_port)
        conf = configuration.write(self._home, self._line, state)
        self.log.parent.mkdir(exist_ok=True)
        if state.auth:
            passwords.choose(self.password_file)
        say(f"starting Neo4j {self._line.version} on Java {found.version}")
        command = configuration.command(self._line, found, lib, self._home, conf, state.heap)
        self._state = replace(state, pid=processes.spawn(command, self._home, self.log))
        self._state.write(self._state_file)

    def _await_ready(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        answer = bolt.wait(self.bolt_url, self.password, seconds, self._lives)
        while answer is Answer.ready and not listens(self._state.http_port):
            if not self._lives() or time.monotonic() > deadline:
                answer = Answer.nothing
            time.sleep(_PAUSE)
        if answer is not Answer.ready:
            raise StoreUnavailable(self._why(answer, seconds))

    def _why(self, answer: Answer, seconds: float) -> str:
        what = f"Neo4j {self._line.version} at {self.bolt_url}"
        if not self._lives():
            return f"{what} ended before it was ready; the last lines of {self.log}:\n{last_words(self.log)}"
        if answer is Answer.refused:
            return (
                f"{what} refuses the password in {self.password_file}: put the one that it has (user {USER}) into "
                "that file and start it again"
            )
        return f"{what} was not ready within {seconds:g} s; {self.log} says what it does; start it again to wait longer"

    def _end(self, grace: float) -> None:
        processes.terminate(self._state.pid, self._mark, grace)
        self._state_file.unlink(missing_ok=True)
