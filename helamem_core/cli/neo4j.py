"""`helamem neo4j`: a Neo4j on this machine without Docker, started, stopped and looked at."""

from __future__ import annotations

import shlex
import webbrowser
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer

from helamem_core.cli.call import Call
from helamem_core.cli.command import command
from helamem_core.cli.failures import STORE, USAGE, Refused
from helamem_core.local_neo4j import LINES, LTS, Line, Server, home_folder
from helamem_core.local_neo4j import line as line_called
from helamem_core.local_neo4j.server import BOLT_PORT, HTTP_PORT

_OWN = ("store", "space", "embedder", "preset")  # shared options that mean nothing to a server


class LineName(StrEnum):
    """The lines of Neo4j, with their aliases."""

    v5_26 = "5.26"
    lts = "lts"
    v2026_09 = "2026.09"
    calendar = "calendar"


LineOption = Annotated[
    LineName | None,
    typer.Option(
        "--line", help="Which Neo4j: 5.26 (lts, Java 17 or 21) or 2026.09 (calendar, a JDK of Java 21 or newer)."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Run Neo4j on this machine without Docker (needs Java and Maven).", no_args_is_help=True)
    for name, function in (("up", up), ("down", down), ("status", status), ("browser", browser)):
        command(group, name, without=_OWN)(function)
    app.add_typer(group, name="neo4j", rich_help_panel="Tend")


def up(
    call: Call,
    line: LineOption = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where drivers reach it; 0: a free one.")] = BOLT_PORT,
    http_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where Neo4j Browser is; 0: a free one.")
    ] = HTTP_PORT,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="Ask for no password.")] = False,
    heap: Annotated[str, typer.Option(metavar="SIZE", help="Memory of its Java, such as 512m or 1g.")] = "1g",
    show_password: Annotated[bool, typer.Option("--show-password", help="Print the password itself.")] = False,
) -> None:
    """Start Neo4j, say how to use it, and leave it running; one that is up is left as it is.

    The first time its jars are fetched with Maven. It listens on this machine only. Each line keeps its data in a
    folder of its own, below HELAMEM_NEO4J_HOME.
    """
    chosen = _known(line)
    server = Server(home_folder(chosen), chosen, bolt_port=port, http_port=http_port, auth=not no_auth, heap=heap)
    started = server.start(say=call.out.note)
    if call.out.as_json:
        call.out.document({"started": started, **_facts(server, up=True, show_password=show_password)})
        return
    call.out.line(f"Neo4j {server.state.version} is {'up' if started else 'up already'}; to use it:", "bold green")
    for text in _exports(server, show_password):
        call.out.line(f"  {text}")
    call.out.pairs(
        [
            ("user", server.user),
            ("password", f"in {server.password_file}" if server.user else "none"),
            ("Neo4j Browser", f"{server.browser_url} (`helamem neo4j browser` opens it)"),
            ("data", str(server.home)),
            ("stop it", f"helamem neo4j down --line {server.line.name} (the data stay)"),
        ]
    )


def down(call: Call, line: LineOption = None) -> None:
    """Stop Neo4j; its data stay."""
    server = _server(line)
    stopped = server.stop()
    if call.out.as_json:
        call.out.document({"stopped": stopped, "line": server.line.name, "home": str(server.home)})
    elif stopped:
        call.out.line(f"stopped Neo4j {server.state.version}; its data are in {server.home}")
    else:
        call.out.line(f"Neo4j {server.line.name} was not up")


def status(call: Call, line: LineOption = None) -> None:
    """Say whether Neo4j is up; it ends with 4 if it is not."""
    server = _server(line)
    running = server.is_running()
    is_up = running and server.is_up()
    if call.out.as_json:
        call.out.document({"running": running, **_facts(server, up=is_up)})
    else:
        how = "up" if is_up else "running, but it does not answer" if running else "not up"
        call.out.line(f"Neo4j {server.line.name} is {how}", "green" if is_up else "yellow")
        call.out.pairs((name, value) for name, value in _facts(server, up=is_up).items() if running and name != "up")
    if not is_up:
        raise typer.Exit(STORE)


def browser(
    call: Call,
    line: LineOption = None,
    open_it: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open it; default: if standard output is a terminal.")
    ] = None,
) -> None:
    """Say where Neo4j Browser is, and open it.

    The style and the saved queries that make a memory readable there are put into the server's folder, to be dragged
    into the page; the guide says how.
    """
    from helamem_core import neo4j_browser

    server = _server(line)
    if not server.is_up():
        raise Refused(f"Neo4j {server.line.name} is not up: `helamem neo4j up` starts it", STORE)
    files = dict(zip(("style", "queries", "guide"), map(str, neo4j_browser.save(server.home / "browser")), strict=True))
    if call.out.as_json:
        call.out.document({"browser": server.browser_url, "user": server.user, **files})
    else:
        call.out.line(server.browser_url)
        password = f"in {server.password_file}" if server.user else "none"
        call.out.pairs([("user", server.user), ("password", password), *files.items()])
    wanted = call.out.on_terminal if open_it is None else open_it
    if wanted and not webbrowser.open(server.browser_url):
        call.out.note("no web browser was found: open the address by hand")


def _known(name: LineName | None) -> Line:
    return LTS if name is None else line_called(name.value)


def _server(name: LineName | None) -> Server:
    """Return the server that is meant: the line named, else the one that runs, else 5.26.

    Raises:
        Refused: both run and none was named.
    """
    if name is not None:
        return _at(_known(name))
    running = [server for server in map(_at, LINES) if server.is_running()]
    if len(running) > 1:
        names = " or ".join(server.line.name for server in running)
        raise Refused(f"more than one is running: name one with --line {names}", USAGE)
    return running[0] if running else _at(LTS)


def _at(line: Line) -> Server:
    return Server(home_folder(line), line)


def _exports(server: Server, show_password: bool) -> Iterator[str]:
    """Yield the lines of a shell that choose this server; the password stays in its file unless it is to be shown."""
    yield f"export HELAMEM_URL={server.bolt_url}"
    if server.user and server.password:
        file = shlex.quote(str(server.password_file))
        secret = shlex.quote(server.password) if show_password else f'"$(cat {file})"'
        yield f"export HELAMEM_NEO4J_USER={server.user}"
        yield f"export HELAMEM_NEO4J_PASSWORD={secret}"


def _facts(server: Server, *, up: bool, show_password: bool = False) -> dict[str, Any]:
    state = server.state
    facts = {
        "up": up,
        "line": server.line.name,
        "version": state.version,
        "url": server.bolt_url,
        "user": server.user,
        "password_file": str(server.password_file) if server.user else None,
        "browser": server.browser_url,
        "home": str(server.home),
        "log": str(server.log),
        "pid": state.pid or None,
        "java": state.java or None,
    }
    return facts | ({"password": server.password} if show_password else {})
