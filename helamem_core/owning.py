"""What one space recalled is not another one's: its ids may name other memories there, its question is not theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from helamem_core import episodes
from helamem_core.episodes import References
from helamem_core.errors import InvalidInput
from helamem_core.types import Recollection, Recollections


def identifiers(space: str, references: References) -> list[str]:
    """Return the distinct ids of memories of a space, in the order given.

    Raises:
        InvalidInput: something that names no memory, or that another space recalled.
    """
    if isinstance(references, Iterable) and not isinstance(references, (str, bytes, Mapping, Recollections)):
        references = list(references)
    owned(space, references, "ids")
    for item in references if isinstance(references, list) else ():
        owned(space, item, "ids")
    return episodes.identifiers(references)


def owned(space: str, given: object, name: str) -> None:
    """Refuse what another space recalled.

    Raises:
        InvalidInput: so it is.
    """
    if isinstance(given, (Recollection, Recollections)) and given.space not in (None, space):
        raise InvalidInput(f"{name} came from space {given.space!r}, this is space {space!r}; recall here first")
