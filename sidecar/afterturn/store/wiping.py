"""Removing the store altogether (store.md: '`afterturn wipe` removes everything')."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from afterturn.store.errors import StoreUnavailable
from afterturn.store.files import APPLICATION_ID, companions, real_file
from afterturn.store.opened import OPENED, opened_folder
from afterturn.store.paths import STORE_NAME, StorePlace

_MAGIC = b"SQLite format 3\x00"
_ID_OFFSET = 68


def stored_at(place: StorePlace) -> list[Path]:
    """What of the store is there, in the order in which it is to go; where its file is a link, what that leads to too.

    The database after what lies beside it: without it, that would be taken for that of the next database there. In a
    folder that is not afterturn's own nothing beside a database that is not there, or empty, is taken for its own.
    """
    if not place.own_folder and not (place.file.exists() and place.file.stat().st_size):
        return [place.file] if os.path.lexists(place.file) else []
    names = dict.fromkeys((real_file(place.file), place.file))
    files = (*companions(place.file), *map(opened_folder, names), *names)
    return [file for file in files if os.path.lexists(file)]


def wipe(place: StorePlace) -> list[Path]:
    """Remove the store's files, and its folder if nothing else is in it; what was removed, empty if there was nothing.

    Sidecars that run meanwhile start a new store with their next write. Only for a process that has not opened the
    store itself. Raises StoreUnavailable for a file that is no store and for a link that leads nowhere, before
    anything is removed; and when something cannot be removed.
    """
    removed: list[Path] = []
    try:
        stored = stored_at(place)
        _refuse_foreign(place, stored)
        for path in stored:
            with suppress(FileNotFoundError):  # a sidecar that ends meanwhile takes some of it along
                _remove(path)
                removed.append(path)
        folder = place.file.parent
        # A folder that is reached by a link is the user's arrangement.
        if place.own_folder and folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()
            removed.append(folder)
    except OSError as error:
        raise StoreUnavailable(f"{error.filename} cannot be removed: {error.strerror}", retryable=True) from error
    return removed


def is_store(place: StorePlace) -> bool:
    """Whether a file is a store: by its header, or because nothing is written in it yet.

    One whose header is damaged is known by its usual name in the folder that is afterturn's own.
    """
    try:
        with place.file.open("rb") as stream:
            header = stream.read(_ID_OFFSET + 4)
    except OSError:
        return False
    if header.startswith(_MAGIC):
        return header[_ID_OFFSET:] == APPLICATION_ID.to_bytes(4, "big")
    usual = place.own_folder and place.file.name == STORE_NAME and not place.file.is_symlink()
    return not header or usual


def _refuse_foreign(place: StorePlace, stored: list[Path]) -> None:
    """Raises StoreUnavailable where removing `stored` is not what a person expects."""
    problem, file = None, place.file
    if file.is_symlink() and not file.exists():
        problem = f"{file} is a link to {real_file(file)}, which is not there"
    elif file.exists() and not is_store(place):
        found = f"{file}, a link to {real_file(file)}," if file.is_symlink() else f"{file}"
        problem = f"{found} is no store of afterturn"
    for path in stored:
        if path.is_symlink() and path != file:
            problem = f"{path} is a link, which afterturn did not make"
    if problem is not None:
        raise StoreUnavailable(f"{problem}; nothing was removed", retryable=False)


def _remove(path: Path) -> None:
    if path.name.endswith(OPENED) and path.is_dir():
        import shutil

        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(path))
        return
    if path.lstat().st_nlink > 1:
        os.truncate(path, 0)  # what it has as another name (a hard link) would keep the text
    path.unlink()
