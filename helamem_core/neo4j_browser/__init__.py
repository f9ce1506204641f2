"""What belongs into Neo4j Browser: a style that tells kinds apart, saved queries with readable answers, and a guide.

Browser takes style and queries as files that are dragged into its page; `save` puts them where they are at hand.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from helamem_core.errors import StoreUnavailable
from helamem_core.stores.statements import cypher

FOLDER = "helamem"
"""The folder of the saved queries in Browser's drawer."""
_HERE = Path(__file__).parent
_INCLUDE = "// include:"
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the time of every file in the archive, so that its bytes are always the same


def style() -> Path:
    """Return the file of the style: captions, colours and sizes of nodes and links."""
    return _HERE / "helamem.grass"


def guide() -> Path:
    """Return the guide to Browser, a text in Markdown."""
    return _HERE / "guide.md"


@cache
def queries() -> Mapping[str, str]:
    """Return the saved queries by title, in order; the first sets the parameters of the others.

    They are for both lines of Neo4j and read one space, `$space`. What a link weighs now is computed by the formula
    that recall goes by, with the settings `$c`.
    """
    files = sorted((_HERE / "queries").glob("*.cypher"), key=lambda file: int(file.stem.partition("_")[0]))
    texts = ["\n".join(_composed(file)) + "\n" for file in files]
    return {text.partition("\n")[0].removeprefix("// "): text for text in texts}


def archive() -> bytes:
    """Return the saved queries as the ZIP file that Browser takes, in one folder."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for number, text in enumerate(queries().values()):
            file.writestr(zipfile.ZipInfo(f"{FOLDER}/{number:02}.cypher", _EARLIEST), text)
    return packed.getvalue()


def save(folder: Path) -> list[Path]:
    """Write the style, the saved queries as a ZIP file and the guide into a folder, in place of earlier ones.

    Args:
        folder: made if it is not there.

    Returns:
        The files, in the order in which they are needed.

    Raises:
        StoreUnavailable: the folder cannot be written.
    """
    contents = {
        style().name: style().read_bytes(),
        "helamem-queries.zip": archive(),
        "helamem-browser.md": guide().read_bytes(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise StoreUnavailable(f"cannot write into {str(folder)!r}: {error.strerror}; name another folder") from error
    return [folder / name for name in contents]


def _composed(file: Path) -> Iterator[str]:
    """Yield the lines of a query, the formulas of the engine in their places."""
    for line in file.read_text(encoding="utf-8").splitlines():
        mark, _, named = line.partition(_INCLUDE)
        if not named:
            yield line
            continue
        stem, _, block = named.strip().partition(".")
        _, *formula = cypher(stem, block).splitlines()  # but for its first line, which names the version of Cypher
        yield from (mark + part for part in formula)
