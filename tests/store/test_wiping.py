"""`afterturn wipe` removes everything, and nothing else (store.md)."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from afterturn.store import StorePlace, StoreUnavailable, wipe_store
from afterturn.store.sqlite.store import SqliteStore
from tests.store.conftest import Opener
from tests.store.sample import call, take, texts

pytestmark = pytest.mark.anyio


async def test_everything_that_the_store_made_is_removed(open_again: Opener, place: StorePlace) -> None:
    store = open_again()
    await take(store, "s", call("one"))
    await store.close(timeout_ms=10_000)
    assert wipe_store(place) == [place.file, place.file.parent]
    assert not place.file.parent.exists()
    assert wipe_store(place) == []


async def test_other_files_of_the_folder_stay(open_again: Opener, place: StorePlace) -> None:
    store = open_again()
    await take(store, "s", call("one"))
    await store.close(timeout_ms=10_000)
    (place.file.parent / "settings.toml").touch()
    assert wipe_store(place) == [place.file]
    assert [path.name for path in place.file.parent.iterdir()] == ["settings.toml"]


def wipe_elsewhere(place: StorePlace) -> list[str]:
    """Wipe in another process, as a person would; the names of what was removed."""
    code = (
        "import sys; from pathlib import Path; from afterturn.store import StorePlace, wipe_store;"
        "print(*(path.name for path in wipe_store(StorePlace(file=Path(sys.argv[1]), own_folder=False))))"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(place.file)], capture_output=True, text=True)
    assert ran.stderr == ""
    return sorted(ran.stdout.split())


async def test_a_sidecar_that_runs_meanwhile_starts_a_new_store(open_again: Opener, place: StorePlace) -> None:
    running = open_again()
    await take(running, "s", call("one"), call("two"))
    assert wipe_elsewhere(place) == ["afterturn.db", "afterturn.db-shm", "afterturn.db-wal"]
    assert await texts(running, "s", 1) == [None]
    assert await take(running, "s", call("three")) == [1]
    assert await texts(open_again(), "s", 1) == ["three"]
    assert await running.integrity_check() == []


def database(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()


@pytest.mark.parametrize("make", [database, lambda file: file.write_bytes(b"text"), lambda file: file.mkdir()])
def test_what_is_no_store_is_left(tmp_path: Path, make) -> None:
    file = tmp_path / "precious"
    make(file)
    with pytest.raises(StoreUnavailable, match="no store of afterturn; nothing was removed"):
        wipe_store(StorePlace(file=file, own_folder=True))
    assert file.exists()


def test_a_damaged_store_of_the_usual_name_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "afterturn.db"
    file.write_bytes(b"\xff" * 5000)
    assert wipe_store(StorePlace(file=file, own_folder=False)) == [file]


async def test_a_store_of_another_name_is_known_by_its_header(tmp_path: Path) -> None:
    place = StorePlace(file=tmp_path / "custom", own_folder=False)
    store = SqliteStore(place)
    await take(store, "s", call("one"))
    # Not checkpointed yet, as after a crash; the header says it nevertheless.
    assert wipe_elsewhere(place) == ["custom", "custom-shm", "custom-wal"]
    assert await store.close(timeout_ms=10_000)
