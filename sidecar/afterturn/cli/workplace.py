"""A folder for the time of one command. It holds originals as they were, so none may stay behind."""

import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "afterturn-"
_MARK = "in-use"


@contextmanager
def workplace(name: str) -> Generator[Path]:
    """A new folder, which is gone at the end. name: of the command.

    What one that was killed left behind goes when the next one begins: its mark is locked no more.
    """
    import fcntl  # not on Windows, where other commands work

    _sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{name}-") as folder, (Path(folder) / "new").open("w") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.replace(mark.name, Path(folder) / _MARK)  # noqa: PTH105 - locked before anyone can find it
        except OSError:  # a file system without locks: nobody can tell then whether it is in use
            os.unlink(mark.name)  # noqa: PTH108
        yield Path(folder)


def _sweep(temporary: Path) -> None:
    for mark in temporary.glob(f"{_PREFIX}*/{_MARK}"):
        try:
            about = mark.parent.lstat()
            if about.st_uid == os.getuid() and stat.S_ISDIR(about.st_mode) and _is_free(mark):
                shutil.rmtree(mark.parent, ignore_errors=True)
        except OSError:  # it went meanwhile, or is somebody else's
            continue


def _is_free(mark: Path) -> bool:
    import fcntl

    with mark.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
