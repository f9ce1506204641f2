"""The driver's errors as ours, each with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from neo4j import exceptions

from helamem_core.errors import HelaMemError, InvalidInput, StoreBusy, StoreError, StoreUnavailable
from helamem_core.urls import redacted

if TYPE_CHECKING:
    from helamem_core.stores.neo4j.address import Address

_NO_MEMORY = (StoreError, "lacks memory for this ({told}); ask for less at once, or give it more")
_BY_CODE: dict[str | None, tuple[type[StoreError], str]] = {
    "Neo.ClientError.Database.DatabaseNotFound": (
        StoreUnavailable,
        "has no database {database!r}; name one that is there",
    ),
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        StoreUnavailable,
        "takes no password for a while, since too many were wrong; wait, and check it",
    ),
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": _NO_MEMORY,
    "Neo.TransientError.General.TransactionOutOfMemoryError": _NO_MEMORY,
}


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Raise our errors in place of the driver's."""
    try:
        yield
    except HelaMemError:
        raise
    except exceptions.AuthConfigurationError:
        raise InvalidInput("`auth` is nothing that the driver takes; give (user, password) or a `neo4j.Auth`") from None
    except exceptions.ConfigurationError as error:
        raise InvalidInput(f"cannot go to Neo4j at {address}: {redacted(str(error))}") from error
    except (exceptions.DriverError, exceptions.Neo4jError, ConnectionError) as error:
        raise _ours(error, address) from error
    except ValueError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        raise _ours(exceptions.ServiceUnavailable(str(error)), address) from error  # driver 5: a name without address


def _ours(error: Exception, address: Address) -> StoreError:
    told = redacted(str(getattr(error, "message", None) or error))
    known = _BY_CODE.get(getattr(error, "code", None))
    if known is not None:
        kind, text = known
        return kind(f"Neo4j at {address} {text.format(told=told, database=address.database)}")
    if isinstance(error, exceptions.AuthError):
        return StoreUnavailable(f"Neo4j at {address} refuses these credentials: {told}; check user and password")
    if isinstance(error, exceptions.ServiceUnavailable | exceptions.SessionExpired | ConnectionError):
        return StoreUnavailable(f"no Neo4j answers at {address}: {told}; is the server up? (`helamem neo4j status`)")
    if isinstance(error, exceptions.TransientError):
        return StoreBusy(f"Neo4j at {address} was too busy: {told}; try again")
    return StoreError(f"Neo4j at {address} failed: {told}")
