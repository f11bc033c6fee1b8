"""Copies of originals that editors have open: private, and gone with what they are copies of."""

import os
import stat
from pathlib import Path

import pytest

from afterturn.store import StorePlace, StoreUnavailable, wipe_store
from afterturn.store.opened import STALE_SECONDS, OpenedFiles, opened_folder
from afterturn.store.sqlite.store import SqliteStore
from tests.store.sample import DAY_MS, call, take

pytestmark = pytest.mark.anyio


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_copy_is_the_text_and_private(place: StorePlace) -> None:
    before = os.umask(0)
    try:
        file = await OpenedFiles(place.file).keep("../s/\ud83d", "t1", "one\r\ntwo \ud83d\n")
    finally:
        os.umask(before)
    assert file.read_bytes() == b"one\r\ntwo ?\n"
    assert file.is_relative_to(opened_folder(place.file))
    assert [mode(file), mode(file.parent), mode(file.parent.parent)] == [0o600, 0o700, 0o700]


async def test_a_copy_that_is_there_is_made_anew(place: StorePlace) -> None:
    files = OpenedFiles(place.file)
    file = await files.keep("s", "t1", "something longer")
    file.chmod(0o644)
    assert await files.keep("s", "t1", "text") == file
    assert file.read_text("utf-8") == "text"
    assert mode(file) == 0o600


async def test_each_session_has_its_own(place: StorePlace) -> None:
    files = OpenedFiles(place.file)
    assert await files.keep("a", "t1", "") != await files.keep("b", "t1", "")


async def test_closing_takes_what_this_process_wrote(store: SqliteStore, place: StorePlace) -> None:
    mine = await store.opened.keep("s", "t1", "")
    others = await OpenedFiles(place.file).keep("s", "t2", "")
    await store.close(timeout_ms=10_000)
    assert not mine.exists()
    assert others.exists()


async def test_deleting_a_session_takes_its_copies(store: SqliteStore, place: StorePlace) -> None:
    await take(store, "s", call("one"), now_ms=0)
    gone = await OpenedFiles(place.file).keep("s", "t1", "one")
    kept = await OpenedFiles(place.file).keep("other", "t1", "one")
    await store.sessions.delete("s", now_ms=1)
    assert not gone.exists()
    assert kept.exists()


async def test_expiry_takes_the_copies_of_what_expires(store: SqliteStore, place: StorePlace) -> None:
    await take(store, "s", call("one"), now_ms=0)
    file = await OpenedFiles(place.file).keep("s", "t1", "one")
    await store.retention.step(retention_days=1, now_ms=DAY_MS // 2)
    assert file.exists()
    await store.retention.step(retention_days=1, now_ms=2 * DAY_MS)
    assert not file.exists()


async def test_what_a_killed_process_left_is_stale_after_a_day(place: StorePlace) -> None:
    left = await OpenedFiles(place.file).keep("s", "t1", "")
    fresh = await OpenedFiles(place.file).keep("s", "t2", "")
    old = left.stat().st_mtime - STALE_SECONDS - 1
    os.utime(left, (old, old))
    await OpenedFiles(place.file).keep("other", "t1", "")
    assert not left.exists()
    assert fresh.exists()


async def test_wiping_takes_all(store: SqliteStore, place: StorePlace) -> None:
    await take(store, "s", call("one"), now_ms=0)
    await store.opened.keep("s", "t1", "one")
    await OpenedFiles(place.file).keep("s", "t2", "two")
    await store.close(timeout_ms=10_000)
    assert opened_folder(place.file) in wipe_store(place)
    assert not place.file.parent.exists()


async def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        await OpenedFiles(tmp_path / "file" / "afterturn.db").keep("s", "t1", "")


async def test_what_others_put_there_is_left(place: StorePlace, tmp_path: Path) -> None:
    """A link in the place of the folder is not followed, and other names in it are not ours."""
    theirs = opened_folder(place.file) / "x" / "thesis.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("text")
    os.utime(theirs, (1, 1))
    await OpenedFiles(place.file).keep("s", "t1", "")
    assert theirs.exists()
    documents = tmp_path / "documents"
    documents.mkdir()
    linked = tmp_path / "linked.db"
    opened_folder(linked).symlink_to(documents)
    with pytest.raises(StoreUnavailable, match="is a link, which afterturn did not make"):
        await OpenedFiles(linked).keep("s", "t1", "")
    assert list(documents.iterdir()) == []
