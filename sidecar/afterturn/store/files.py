"""Private files: folder 0700, files 0600, whatever the umask and whatever was there before (store.md; case S08).

Nothing here opens a file that exists. Closing any descriptor of a database drops every lock that this process
holds on it (POSIX), also those of the database library's own connections.
"""

import errno
import os
import stat
from pathlib import Path

APPLICATION_ID = 0x41667472
"""What the header of a database file says when it is a store of ours."""

COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite puts beside a database file, as suffixes."""


def make_private(path: Path, *, own_folder: bool) -> None:
    """Have the database file exist, and it and what will lie beside it readable by nobody but the user.

    SQLite gives the files that it makes beside a database the database's own mode, so an empty file that is private
    from its first moment makes all of them private. A folder that exists is narrowed only where it is ours: by
    `own_folder`, or because it holds nothing but the store. Where `path` is a link, the file that it leads to is the
    store; its folder is never made, because a disk may be missing there. Raises OSError.
    """
    _make_folders(path.parent)
    if own_folder or all(file.name.startswith(path.name) for file in path.parent.iterdir()):
        _narrow(path.parent, 0o700)
    file = real_file(path)
    if path.is_symlink() and not file.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "it is a link into a folder that is not there", str(path))
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if not file.is_file():
            raise FileExistsError(errno.EEXIST, "what stands there is no file", str(file)) from None
    for each in (file, *companions(path)):
        _narrow(each, 0o600)


def companions(path: Path) -> list[Path]:
    """The files that SQLite may have put beside a database file; of a link, also beside the file that it leads to."""
    names = dict.fromkeys((real_file(path), path))
    return [name.with_name(name.name + suffix) for name in names for suffix in COMPANIONS]


def real_file(path: Path) -> Path:
    """The file that `path` leads to where it is a link, else `path` itself."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _make_folders(folder: Path) -> None:
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folders(folder.parent)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(20, "Not a directory", str(folder)) from None
    else:
        folder.chmod(0o700)  # the umask may have taken more than it should


def _narrow(path: Path, mode: int) -> None:
    """Set the mode of what exists; a shared folder (sticky, such as /tmp) is left as it is."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_IMODE(found) != mode and not found & stat.S_ISVTX:
        path.chmod(mode)
