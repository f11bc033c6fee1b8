"""Removing the store altogether (store.md: '`afterturn wipe` removes everything')."""

from pathlib import Path

from afterturn.store.errors import StoreUnavailable
from afterturn.store.files import APPLICATION_ID, companions
from afterturn.store.opened import forget_opened, opened_folder
from afterturn.store.paths import STORE_NAME, StorePlace

_MAGIC = b"SQLite format 3\x00"
_ID_OFFSET = 68


def wipe(place: StorePlace) -> list[Path]:
    """Remove the store's files, and its folder if nothing else is in it; what was removed, empty if there was nothing.

    Sidecars that run meanwhile start a new store with their next write. Only for a process that has not opened the
    store itself. Raises StoreUnavailable for a file that is no store, and when something cannot be removed.
    """
    if place.file.exists() and not is_store(place.file):
        raise StoreUnavailable(f"{place.file} is no store of afterturn; nothing was removed", retryable=False)
    removed: list[Path] = []
    try:
        # The database last: without it, what lies beside it would be taken for that of the next database there.
        for file in (*companions(place.file), place.file):
            if file.exists():
                file.unlink()
                removed.append(file)
        if opened_folder(place.file).is_dir():
            forget_opened(place.file)
            removed.append(opened_folder(place.file))
        folder = place.file.parent
        if place.own_folder and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            removed.append(folder)
    except OSError as error:
        raise StoreUnavailable(f"{error.filename} cannot be removed: {error.strerror}", retryable=True) from error
    return removed


def is_store(file: Path) -> bool:
    """Whether a file is a store: by its header, or, when that is damaged or not written yet, by the usual name."""
    try:
        with file.open("rb") as stream:
            header = stream.read(_ID_OFFSET + 4)
    except OSError:
        return False
    if header.startswith(_MAGIC):
        return header[_ID_OFFSET:] == APPLICATION_ID.to_bytes(4, "big")
    return file.name == STORE_NAME
