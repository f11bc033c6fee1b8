"""`afterturn wipe` removes everything, and nothing else (store.md)."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from afterturn.store import StorePlace, StoreUnavailable, wipe_store
from afterturn.store.files import APPLICATION_ID
from afterturn.store.opened import OpenedFiles
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


def refused(file: Path, *, own_folder: bool = True) -> str:
    """What is said where nothing is removed."""
    before = sorted(file.parent.iterdir())
    with pytest.raises(StoreUnavailable, match=r"; nothing was removed$") as refusal:
        wipe_store(StorePlace(file=file, own_folder=own_folder))
    assert sorted(file.parent.iterdir()) == before
    return str(refusal.value).removesuffix("; nothing was removed")


@pytest.mark.parametrize("name", ["precious", "afterturn.db"])
@pytest.mark.parametrize(
    "make",
    [
        database,
        lambda file: file.write_bytes(b"text"),
        lambda file: file.write_bytes(b"\xff" * 5000),
        lambda file: file.mkdir(),
    ],
    ids=["a database", "a text", "anything", "a folder"],
)
def test_what_is_no_store_is_left(tmp_path: Path, make: Callable[[Path], object], name: str) -> None:
    file = tmp_path / name
    make(file)
    (tmp_path / f"{name}-wal").touch()
    assert refused(file, own_folder=name != "afterturn.db") == f"{file} is no store of afterturn"


def test_a_store_whose_header_is_damaged_is_removed_where_it_can_be_no_other_file(tmp_path: Path) -> None:
    file = tmp_path / "afterturn.db"
    file.write_bytes(b"\xff" * 5000)
    (tmp_path / "notes").touch()
    assert wipe_store(StorePlace(file=file, own_folder=True)) == [file]


@pytest.mark.parametrize("make", [database, lambda file: file.mkdir()], ids=["a database", "a folder"])
def test_another_program_s_database_is_left_even_there(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "afterturn.db")
    assert "is no store of afterturn" in refused(tmp_path / "afterturn.db")


@pytest.mark.parametrize("name", ["custom", "afterturn.db"])
def test_a_store_in_which_nothing_is_written_yet_is_removed(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.touch()
    assert wipe_store(StorePlace(file=file, own_folder=False)) == [file]


def test_a_store_that_is_damaged_behind_its_header_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "afterturn.db"
    header = b"SQLite format 3\x00" + bytes(52) + APPLICATION_ID.to_bytes(4, "big")
    file.write_bytes(header + b"\xff" * 5000)
    assert wipe_store(StorePlace(file=file, own_folder=False)) == [file]


def test_what_a_database_left_beside_it_is_removed_without_it(tmp_path: Path) -> None:
    left = [tmp_path / "afterturn.db-wal", tmp_path / "afterturn.db-shm"]
    for file in left:
        file.write_bytes(b"text")
    assert wipe_store(StorePlace(file=tmp_path / "afterturn.db", own_folder=True)) == [*left, tmp_path]


@pytest.mark.parametrize("empty", [False, True])
def test_files_of_others_that_have_such_names_are_left(tmp_path: Path, empty: bool) -> None:
    theirs = [tmp_path / "notes-wal", tmp_path / "notes-journal", tmp_path / "notes-opened" / "thesis.txt"]
    theirs[2].parent.mkdir()
    for file in theirs:
        file.write_bytes(b"text")
    notes = tmp_path / "notes"
    if empty:
        notes.touch()
    assert wipe_store(StorePlace(file=notes, own_folder=False)) == [notes] * empty
    assert all(file.exists() for file in theirs)


class Elsewhere:
    """A store whose file is a link into another folder."""

    def __init__(self, folder: Path) -> None:
        self.link, self.target = folder / "home" / "afterturn.db", folder / "disk" / "real.db"
        for file in (self.link, self.target):
            file.parent.mkdir()
        self.link.symlink_to(self.target)
        self.place = StorePlace(file=self.link, own_folder=True)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)


async def test_what_a_link_leads_to_is_erased_with_it(elsewhere: Elsewhere) -> None:
    running = SqliteStore(elsewhere.place)
    await take(running, "s", call("one"))
    await OpenedFiles(elsewhere.target).keep("s", "t1", "one")
    (elsewhere.target.parent / "notes.txt").touch()
    assert wipe_elsewhere(elsewhere.place) == [
        "afterturn.db", "real.db", "real.db-opened", "real.db-shm", "real.db-wal",
    ]  # fmt: skip
    assert [path.name for path in elsewhere.target.parent.iterdir()] == ["notes.txt"]
    assert list(elsewhere.link.parent.iterdir()) == []
    assert await take(running, "s", call("two")) == [1]
    assert not elsewhere.link.is_symlink()
    assert await running.close(timeout_ms=10_000)


def test_a_link_to_what_is_no_store_is_left_with_it(elsewhere: Elsewhere) -> None:
    elsewhere.target.write_text("precious")
    said = refused(elsewhere.link)
    assert said == f"{elsewhere.link}, a link to {elsewhere.target}, is no store of afterturn"
    assert elsewhere.target.read_text() == "precious"


def test_a_link_that_leads_nowhere_is_left(elsewhere: Elsewhere) -> None:
    assert refused(elsewhere.link) == f"{elsewhere.link} is a link to {elsewhere.target}, which is not there"


def test_a_link_to_itself_is_left(tmp_path: Path) -> None:
    file = tmp_path / "afterturn.db"
    file.symlink_to(file)
    assert refused(file).startswith(f"{file} is a link to ")


@pytest.mark.parametrize("suffix", ["-wal", "-opened"])
async def test_a_link_beside_the_store_is_named(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / "home" / "afterturn.db"
    store = SqliteStore(StorePlace(file=file, own_folder=True))
    await take(store, "s", call("one"))
    await store.close(timeout_ms=10_000)
    (tmp_path / "other").mkdir()
    beside = file.with_name(file.name + suffix)
    beside.symlink_to(tmp_path / "other")
    assert refused(file) == f"{beside} is a link, which afterturn did not make"


async def test_a_folder_that_is_a_link_stays_and_is_emptied(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    home = tmp_path / "home"
    home.symlink_to(tmp_path / "disk")
    place = StorePlace(file=home / "afterturn.db", own_folder=True)
    store = SqliteStore(place)
    await take(store, "s", call("one"))
    await store.close(timeout_ms=10_000)
    assert wipe_store(place) == [place.file]
    assert list((tmp_path / "disk").iterdir()) == []
    assert home.is_symlink()


async def test_another_name_of_the_file_keeps_nothing(tmp_path: Path) -> None:
    place = StorePlace(file=tmp_path / "home" / "afterturn.db", own_folder=True)
    store = SqliteStore(place)
    await take(store, "s", call("one"))
    await store.close(timeout_ms=10_000)
    other = tmp_path / "other"
    other.hardlink_to(place.file)
    wipe_store(place)
    assert other.read_bytes() == b""


async def test_a_folder_that_cannot_be_removed_is_said(tmp_path: Path) -> None:
    file = tmp_path / "afterturn.db"
    (tmp_path / "afterturn.db-wal").mkdir()
    file.touch()
    with pytest.raises(StoreUnavailable, match=r"afterturn\.db-wal cannot be removed"):
        wipe_store(StorePlace(file=file, own_folder=True))
    assert file.exists()


async def test_a_store_of_another_name_is_known_by_its_header(tmp_path: Path) -> None:
    place = StorePlace(file=tmp_path / "custom", own_folder=False)
    store = SqliteStore(place)
    await take(store, "s", call("one"))
    # Not checkpointed yet, as after a crash; the header says it nevertheless.
    assert wipe_elsewhere(place) == ["custom", "custom-shm", "custom-wal"]
    assert await store.close(timeout_ms=10_000)
