"""Private files, whatever the umask and whatever was there before (case S08)."""

import subprocess
import sys
from pathlib import Path

import pytest

from afterturn.store import StorePlace
from afterturn.store.files import make_private
from afterturn.store.sqlite.store import SqliteStore
from tests.store.sample import call, take

pytestmark = pytest.mark.anyio


def modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(path.stat().st_mode & 0o7777) for path in (folder, *folder.iterdir())}


USE_STORE = """
import asyncio, os, sys
from pathlib import Path
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from tests.store.sample import call, take

async def main():
    os.umask(int(sys.argv[2], 8))
    store = SqliteStore(StorePlace(file=Path(sys.argv[1]), own_folder=True))
    await take(store, "s", call("text"))
    print(sorted(oct(path.stat().st_mode & 0o777) for path in Path(sys.argv[1]).parent.iterdir()))
    print(oct(Path(sys.argv[1]).parent.stat().st_mode & 0o777))
    os._exit(0)

asyncio.run(main())
"""


@pytest.mark.parametrize("umask", ["000", "022", "077", "377"])
def test_every_file_is_private_whatever_the_umask(tmp_path: Path, umask: str) -> None:
    file = tmp_path / "deep" / "data" / "afterturn.db"
    ran = subprocess.run([sys.executable, "-c", USE_STORE, str(file), umask], capture_output=True, text=True)
    assert (ran.stderr, ran.stdout) == ("", "['0o600', '0o600', '0o600']\n0o700\n")
    assert modes(file.parent.parent)["deep"] == "0o700"


async def test_what_was_open_to_others_is_narrowed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    place = StorePlace(file=folder / "afterturn.db", own_folder=True)
    for name in ("afterturn.db", "afterturn.db-wal", "afterturn.db-shm", "other"):
        (folder / name).touch()
        (folder / name).chmod(0o644)
    store = SqliteStore(place)
    await take(store, "s", call("text"))
    assert modes(folder) == {
        "data": "0o700",
        "afterturn.db": "0o600",
        "afterturn.db-wal": "0o600",
        "afterturn.db-shm": "0o600",
        "other": "0o644",
    }
    assert await store.close(timeout_ms=10_000)


@pytest.mark.parametrize(
    ("own_folder", "others", "before", "after"),
    [
        pytest.param(True, ["notes.txt"], 0o755, "0o700", id="our own folder"),
        pytest.param(False, [], 0o755, "0o700", id="nothing but the store in it"),
        pytest.param(False, ["s.db-wal"], 0o750, "0o700", id="nothing but the store's files in it"),
        pytest.param(False, ["notes.txt"], 0o755, "0o755", id="the user's folder is left"),
        pytest.param(True, [], 0o1777, "0o1777", id="a shared folder is left"),
    ],
)
def test_folder(tmp_path: Path, own_folder: bool, others: list[str], before: int, after: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(before)
    for name in others:
        (folder / name).touch()
    make_private(folder / "s.db", own_folder=own_folder)
    assert modes(folder)["folder"] == after
    assert modes(folder)["s.db"] == "0o600"


async def test_what_a_link_leads_to_is_private(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    for name in ("real.db", "real.db-wal", "notes.txt"):
        (disk / name).touch()
        (disk / name).chmod(0o644)
    disk.chmod(0o755)
    file = tmp_path / "home" / "afterturn.db"
    file.parent.mkdir()
    file.symlink_to(disk / "real.db")
    make_private(file, own_folder=True)
    assert modes(disk) == {"disk": "0o755", "real.db": "0o600", "real.db-wal": "0o600", "notes.txt": "0o644"}
    assert modes(file.parent)["home"] == "0o700"


async def test_nothing_is_left_in_the_shared_temp_folder(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv("TMPDIR", str(shared))
    await take(store, "s", *(call(f"{number} " * 3000) for number in range(50)))
    await store.sessions.delete("s", now_ms=1)
    assert list(shared.iterdir()) == []
