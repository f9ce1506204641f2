"""Every statement of the engines: constant text in files, one file a verb, named blocks in it.

A block starts with `-- name: <block>` (`// name:` in Cypher); the comments below it say what it does, its parameters
and its columns. User text reaches a statement as a parameter only; a list goes into SQL as one JSON parameter.

In Cypher, `// include: <stem>.<block>` stands for the lines of another block, so that a formula is written once. Where
Neo4j's calendar line can do better, `<stem>.25.cypher` holds the blocks that differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

COMMENT = {"sql": "--", "cypher": "//"}
CALENDAR = "25"
"""The Cypher version that only the calendar line of Neo4j speaks."""
_WIDTH = "{width}"


@cache
def statements(stem: str, dialect: str = "sql") -> Mapping[str, str]:
    """Return the statements of a file by block name, without their comments.

    Args:
        stem: the verb.
        dialect: the file's suffix, which is the engine's language.
    """
    comment = COMMENT[dialect]
    return {name: _without(comment, lines) for name, lines in _blocks(f"{stem}.{dialect}", comment).items()}


@cache
def cypher(stem: str, block: str, version: str = "5", width: int | None = None) -> str:
    """Return one statement for Neo4j, put together from the files.

    Args:
        stem: the verb.
        block: which of its statements.
        version: of Cypher, `5` or `25`.
        width: of the vectors that it is about; part of the names of labels and indexes.
    """
    lines = _composed(stem, block, version)
    text = _without(COMMENT["cypher"], lines)
    if _WIDTH in text:
        if width is None:
            raise ValueError(f"{stem}.{block} needs the width of its vectors")
        text = text.replace(_WIDTH, str(int(width)))
    return f"CYPHER {version}\n{text}"


def _composed(stem: str, block: str, version: str) -> list[str]:
    lines = []
    for line in _cypher_blocks(stem, version)[block]:
        mark, _, named = line.partition("// include:")
        if named:
            other, _, inner = named.strip().partition(".")
            lines += [mark + included for included in _composed(other, inner, version)]
        else:
            lines.append(line)
    return lines


@cache
def _cypher_blocks(stem: str, version: str) -> Mapping[str, list[str]]:
    blocks = _blocks(f"{stem}.cypher", COMMENT["cypher"])
    if version == CALENDAR and _folder(stem).joinpath(f"{stem}.{CALENDAR}.cypher").is_file():
        return {**blocks, **_blocks(f"{stem}.{CALENDAR}.cypher", COMMENT["cypher"])}
    return blocks


def _blocks(file: str, comment: str) -> dict[str, list[str]]:
    text = _folder(file).joinpath(file).read_text(encoding="utf-8")
    blocks: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(f"{comment} name:"):
            lines = blocks.setdefault(line.removeprefix(f"{comment} name:").strip(), [])
        else:
            lines.append(line)
    return blocks


def _folder(file: str) -> Traversable:
    """Return where a file is: migrations bear numbers."""
    return files("helamem_core.stores") / ("migrations" if file[0].isdigit() else "statements")


def _without(comment: str, lines: list[str]) -> str:
    return "\n".join(line for line in lines if not line.lstrip().startswith(comment)).strip()
