"""The recap that is kept for a session (recap/ports.py)."""

import pytest

from afterturn.recap.ports import KeptRecap
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from tests.store.conftest import Opener
from tests.store.sample import bytes_on_disk

pytestmark = pytest.mark.anyio

LONE = "\ud83d half a pair"


def recap(text: str = "You are fixing the login.", **given: object) -> KeptRecap:
    return KeptRecap(**{"text": text, "model": "p/m", "context_hash": "ab" * 32, "created_at": 5, **given})  # type: ignore[arg-type]


async def test_a_session_has_one_recap_the_last(store: SqliteStore, open_again: Opener) -> None:
    assert (await store.recaps.find("s")).kept is None  # type: ignore[union-attr]
    assert await store.recaps.keep("s", 0, recap("one"), now_ms=1)
    assert await store.recaps.keep("s", 0, recap("two", model=None, created_at=6), now_ms=2)
    assert await store.recaps.keep("other", 0, recap("three"), now_ms=2)
    for each in (store, open_again()):
        found = await each.recaps.find("s")
        assert found is not None
        assert found.kept == recap("two", model=None, created_at=6)


@pytest.mark.parametrize("text", [LONE, "", "x" * 5_000])
async def test_any_text_comes_back(store: SqliteStore, text: str) -> None:
    kept = recap(text, model=text, context_hash=text)
    await store.recaps.keep(LONE, 0, kept, now_ms=1)
    found = await store.recaps.find(LONE)
    assert found is not None
    assert found.kept == kept


@pytest.mark.req("session.delete")
async def test_it_goes_with_its_session_and_a_draft_of_before_does_not_bring_it_back(
    store: SqliteStore, place: StorePlace
) -> None:
    needle = "needle-5c1f0a"
    before = await store.recaps.find("s")
    assert before is not None
    await store.recaps.keep("s", before.epoch, recap(needle, model=needle), now_ms=1)
    await store.recaps.keep("t", 0, recap(), now_ms=1)
    assert (await store.sessions.erase("s", now_ms=2)).recaps == 1
    assert not await store.recaps.keep("s", before.epoch, recap(needle), now_ms=3)
    assert needle.encode() not in bytes_on_disk(place.file)
    after = await store.recaps.find("s")
    assert after is not None
    assert (after.epoch, after.kept) == (1, None)
    assert await store.recaps.keep("s", after.epoch, recap("anew"), now_ms=4)
    assert (await store.sessions.erase("never opened", now_ms=2)).recaps == 0


async def test_a_store_that_fails_keeps_nothing_and_raises_nothing(place: StorePlace, open_again: Opener) -> None:
    place.file.parent.mkdir()
    place.file.write_bytes(b"this is no database at all, but it is long enough to be looked at\n" * 100)
    broken = open_again()
    assert await broken.recaps.find("s") is None
    assert not await broken.recaps.keep("s", 0, recap(), now_ms=1)
