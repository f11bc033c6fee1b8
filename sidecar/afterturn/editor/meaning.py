"""Which session a place in a document means (clients.md, 'Editors')."""

from collections.abc import Callable, Iterable
from pathlib import Path

from pygls.uris import to_fs_path

from afterturn.condense.needs import in_thread
from afterturn.editor.lines import Lines
from afterturn.editor.ports import Catalogue


class Meaning:
    """Finds sessions. folders: the URIs of the workspace's folders, as they are now."""

    def __init__(self, catalogue: Callable[[], Catalogue], folders: Callable[[], Iterable[str]]) -> None:
        self._catalogue = catalogue
        self._folders = folders

    async def session_at(self, uri: str, lines: Lines, number: int) -> str | None:
        """The session that a line means: the one a `session:` line names, else the newest of the workspace's project.

        Raises StoreError.
        """
        return lines.session(number) or await self.newest(uri)

    async def newest(self, uri: str | None = None) -> str | None:
        """The session that was active last in the project of a document, or of the workspace. Raises StoreError."""
        projects = await in_thread(projects_of, list(self._folders()), uri)
        return await self._catalogue().newest(projects) if projects else None


def projects_of(folders: list[str], uri: str | None) -> list[str]:
    """What hosts may have called the project of a document: its workspace folder, else any, as path and as URI.

    Looks at the disk: a host gives the path as the system knows it, an editor as the user typed it.
    """
    path = _path(uri) if uri else None
    around = [folder for folder in folders if path and Path(path).is_relative_to(_path(folder) or folder)]
    chosen = [max(around, key=len)] if around else folders
    found: dict[str, None] = {}
    for folder in chosen:
        found[folder] = None
        if folder_path := _path(folder):
            for each in (folder_path, str(Path(folder_path).resolve())):
                found[each.rstrip("/") or "/"] = found[each.rstrip("/") + "/"] = None
    return list(found)


def _path(uri: str) -> str | None:
    """The path that a `file:` URI names."""
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
    except ValueError:  # no URI at all, such as file://[
        return None
    return None if path is None or "\0" in path else path
