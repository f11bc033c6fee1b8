"""Where the embedded store lies. Pure: the environment and the platform's folder are handed in (store.md)."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from afterturn.store.errors import StoreUnavailable

STORE_NAME = "afterturn.db"


class StorePlace(Struct, frozen=True, kw_only=True):
    """The database file, and whether its folder is afterturn's own, so that it may be closed to others."""

    file: Path
    own_folder: bool


def home_folder(env: Mapping[str, str], user_data_folder: Callable[[], Path]) -> Path:
    """The folder for settings, store and logs: AFTERTURN_HOME where it is set, else the user's data folder.

    user_data_folder: asked only when it is needed, since finding it out costs an import.
    """
    moved = env.get("AFTERTURN_HOME", "")
    return _expanded(moved, env) if moved else user_data_folder()


def store_place(home: Path, setting: str | None, env: Mapping[str, str]) -> StorePlace:
    """The database file: `store.path` where it is set, else in `home`.

    A relative setting counts from `home`, never from the process's own folder, which is whatever the host happened
    to run in. A setting that ends in a slash names a folder and means the usual file name in it.
    """
    path = home / _expanded(setting or STORE_NAME, env)
    if setting and setting.endswith("/"):
        path /= STORE_NAME
    own_folder = path.parent == home and home not in (Path(env.get("HOME") or "/"), Path("/"))
    return StorePlace(file=path, own_folder=own_folder)


def user_data_folder() -> Path:
    """The platform's data folder of this user for afterturn. Raises StoreUnavailable where the user has none."""
    import platformdirs  # 10 ms and more: only where no setting says otherwise

    try:
        return platformdirs.user_data_path("afterturn", appauthor=False)
    except RuntimeError:  # no HOME, and a user that the system does not know
        text = "this user has no home folder: set AFTERTURN_HOME or store.path"
        raise StoreUnavailable(text, retryable=False) from None


def _expanded(text: str, env: Mapping[str, str]) -> Path:
    user_home = env.get("HOME", "")
    if user_home and (text == "~" or text.startswith("~/")):
        return Path(user_home) / text[2:]
    return Path(text)
