"""Where everything is kept (store.md).

The domain says what it needs as Protocols (`afterturn.condense.ports`); a backend implements them and hands them
over as one store, made by `open_store`. No SQL and no type of a database library leaves this package, so that
another backend can stand in the place of the embedded one. Every method that cannot do its work because of the
store's surroundings raises `StoreUnavailable`.

Importing this package loads nothing of a backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterturn.store.errors import StoreUnavailable
from afterturn.store.paths import StorePlace

if TYPE_CHECKING:
    from pathlib import Path

    from afterturn.store.sqlite.store import SqliteStore

__all__ = ["StorePlace", "StoreUnavailable", "open_store", "wipe_store"]


def open_store(place: StorePlace, *, url: str | None = None) -> SqliteStore:
    """The store at a place (`afterturn.store.paths.store_place`). Touches no file until it is used.

    url: the setting `store.url`. Raises StoreUnavailable for one that names a database server.
    """
    if url is not None:
        raise StoreUnavailable(
            "store.url names a database server, and this version only has the embedded store", retryable=False
        )
    from afterturn.store.sqlite.store import SqliteStore

    return SqliteStore(place)


def wipe_store(place: StorePlace) -> list[Path]:
    """Remove a store altogether (`afterturn.store.wiping`). Raises StoreUnavailable for what is no store."""
    from afterturn.store.wiping import wipe

    return wipe(place)
