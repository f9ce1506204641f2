"""The settings of a local server: the file `neo4j.conf` and the command line of its Java."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Final

from helamem_core.errors import InvalidInput
from helamem_core.local_neo4j.java import Java
from helamem_core.local_neo4j.lines import Line
from helamem_core.local_neo4j.ports import HOST
from helamem_core.local_neo4j.state import State
from helamem_core.showing import shown

_SIZE: Final = re.compile(r"[1-9]\d*[kmg]", re.IGNORECASE)
_OPENED: Final = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch", "java.base/java.lang")
_LAUNCHER: Final = "RunNeo4j.java"

# Logs of transactions are kept no longer than a restart after a crash needs them: a laptop's disk is small, and what
# was erased must not stay in them. Each commit adds a part to a vector index; by default a thousand of them are left
# unmerged, and every recall searches them all.
_CONF: Final = """\
# Written by helamem at each start; a change made here is lost.
server.default_listen_address={host}
server.default_advertised_address={host}
server.bolt.listen_address={host}:{bolt_port}
server.bolt.advertised_address={host}:{bolt_port}
server.http.listen_address={host}:{http_port}
server.http.advertised_address={host}:{http_port}
server.https.enabled=false
dbms.security.auth_enabled={auth}
dbms.usage_report.enabled=false
client.allow_telemetry=false
server.memory.heap.initial_size={heap}
server.memory.heap.max_size={heap}
server.memory.pagecache.size={page_cache}
db.tx_log.rotation.size=16m
db.tx_log.rotation.retention_policy=keep_none
db.tx_log.preallocate=false
internal.dbms.index.vector.standard_merge_factor=10
"""


def size(value: object, what: str) -> str:
    """Return an amount of memory as Java writes it, such as `512m` or `1g`.

    Raises:
        InvalidInput: it is none.
    """
    if isinstance(value, str) and _SIZE.fullmatch(value):
        return value.lower()
    raise InvalidInput(f"{what} is {shown(value)}; it must be an amount of memory such as '512m' or '1g'")


def mark(home: Path) -> str:
    """Return the argument by which a server's process is known."""
    return f"--home-dir={home}"


def write(home: Path, line: Line, state: State) -> Path:
    """Write `neo4j.conf` into a home folder and return the folder it is in."""
    folder = home / "conf"
    folder.mkdir(exist_ok=True)
    text = _CONF.format(host=HOST, **(asdict(state) | {"auth": str(state.auth).lower()}))
    text += "".join(f"{setting}\n" for setting in line.settings)
    (folder / "neo4j.conf").write_text(text, encoding="utf-8")
    return folder


def command(line: Line, java: Java, lib: Path, home: Path, conf: Path, heap: str) -> list[str]:
    """Return the command line that runs a server.

    Args:
        line: which Neo4j.
        java: what runs it.
        lib: the folder of its jars.
        home: its data.
        conf: the folder of its `neo4j.conf`.
        heap: memory of its Java.
    """
    options = [f"-Xms{heap}", f"-Xmx{heap}", "-XX:+ExitOnOutOfMemoryError"]
    options += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
    main = "org.neo4j.server.CommunityEntryPoint"
    if line.compiles:  # these jars have no entry point for Community
        options += ["--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"]
        launcher = conf / _LAUNCHER
        launcher.write_bytes((files("helamem_core.local_neo4j") / _LAUNCHER).read_bytes())
        main = str(launcher)
    own = [mark(home), f"--config-dir={conf}", "--console-mode"]
    return [str(java.path), *options, "-cp", f"{lib}{os.sep}*", main, *own]
