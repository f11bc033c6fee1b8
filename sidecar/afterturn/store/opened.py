"""Originals that an editor has opened, as private files beside the store (editor/ports.py, `OpenedOriginals`).

They are copies: a session that is erased takes them along, they go with the process that wrote them, and what one that
was killed left behind goes a day later.
"""

import errno
import re
import time
from hashlib import sha256
from pathlib import Path

from afterturn.store.errors import StoreUnavailable

STALE_SECONDS = 86_400.0
_NAME = re.compile("[0-9a-f]{32}")
OPENED = "-opened"
"""What the name of their folder ends in."""


def opened_folder(store_file: Path) -> Path:
    """Where the copies lie. Named after the store, whose folder may be anybody's."""
    return store_file.with_name(store_file.name + OPENED)


def forget_opened(store_file: Path, session_id: str) -> None:
    """Remove the copies of a session's originals, whichever process wrote them."""
    folder = opened_folder(store_file) / _name(session_id)
    if folder.is_dir():
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


class OpenedFiles:
    """The copies that this process writes."""

    def __init__(self, store_file: Path) -> None:
        self._folder = opened_folder(store_file)
        self._mine: set[Path] = set()

    async def keep(self, session_id: str, ref: str, text: str) -> Path:
        """The file with this text, 0600 in folders that are 0700. Raises StoreUnavailable."""
        from anyio import to_thread

        try:
            return await to_thread.run_sync(self._write, session_id, ref, text)
        except OSError as error:
            raise StoreUnavailable(f"{error.filename} cannot be written: {error.strerror}", retryable=True) from error

    def forget_mine(self) -> None:
        """Remove what this process wrote, and folders that are empty then."""
        for file in self._mine:
            file.unlink(missing_ok=True)
        for folder in (*{file.parent for file in self._mine}, self._folder):
            try:
                folder.rmdir()
            except OSError:
                continue  # others' files are in it, or it is gone
        self._mine.clear()

    def _write(self, session_id: str, ref: str, text: str) -> Path:
        if self._folder.is_symlink():
            raise OSError(errno.ENOTDIR, "it is a link, which afterturn did not make", str(self._folder))
        if not self._mine:
            self._forget_stale()
        folder = self._folder / _name(session_id)
        for each in (self._folder, folder):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
            each.chmod(0o700)
        file = folder / f"{ref}.txt"
        file.touch(mode=0o600)
        file.chmod(0o600)
        file.write_text(text, encoding="utf-8", errors="replace", newline="")
        self._mine.add(file)
        return file

    def _forget_stale(self) -> None:
        """What a process that was killed left behind."""
        if not self._folder.is_dir():
            return
        before = time.time() - STALE_SECONDS
        for file in self._folder.glob("*/*.txt"):
            try:
                stale = _NAME.fullmatch(file.parent.name) is not None and file.lstat().st_mtime < before
            except FileNotFoundError:
                continue  # another process has just removed it
            if stale and file.is_file():
                file.unlink(missing_ok=True)


def _name(session_id: str) -> str:
    """A folder name for a session id, which may hold anything."""
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
