"""Deleting deletes: no byte of it is in any file, while the process still runs (store.md; case M14)."""

import asyncio
import random

import pytest

from afterturn.condense.ports import Intake, TurnEntry
from afterturn.store import StorePlace
from afterturn.store.sqlite import scrubbing
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store.sqlite.values import seal
from tests.store.conftest import Opener
from tests.store.sample import bytes_on_disk, call, frozen, key, take, take_turn, texts

pytestmark = pytest.mark.anyio

SIZES = [1, 40, 150, 900]
"""Repeats of a needle: from a blob that shares its page with others to one that is compressed."""


def needle(place: str) -> str:
    return f"needle-{key(place).hex()}"


async def fill(store: SqliteStore, session: str, size: int) -> list[str]:
    """Put a needle everywhere a text of a session can be; the needles."""
    places = [
        "project",
        "text",
        "args",
        "content",
        "images",
        "id",
        "tool",
        "status",
        "entry",
        "batch",
        "name",
        "result",
    ]
    places += ["summary", "replacement", "assistant", "user", "loose", "turn", "state", "block", "details", "source"]
    say = {each: needle(f"{session} {each}") for each in places}
    long = {each: f"{text} " * size for each, text in say.items()}
    await store.sessions.open(session, project=say["project"], parent_session_id=None, now_ms=1)
    new = call(
        long["text"], id=say["id"], args=long["args"], tool=say["tool"], content=long["content"],
        images=long["images"], status=say["status"], entry_id=say["entry"],
    )  # fmt: skip
    entry = TurnEntry(
        batch_id=say["turn"], turn_index=1, timestamp=1, assistant_text=long["assistant"], user_text=long["user"],
        group=1, positions=[0], loose=long["loose"],
    )  # fmt: skip
    intake = Intake(calls=[new], batch_key=key("b"), batch_id=say["name"], turn=entry, turn_state=say["state"])
    await store.archive.take_in(session, intake, now_ms=1)
    batch = frozen("b", refs=[1], summary=long["summary"], by=long["result"])
    await store.batches.freeze(session, 0, batch, {1: long["replacement"]}, [])
    await store.batches.take_attempt(session, key("b"), limit=3, cool_down_ms=1, now_ms=1)
    await store.batches.claim(session, key("b"), owner=say["batch"], ttl_ms=10**9, now_ms=1)
    await store.blocks.add(
        session, 0, key("k"), text=long["block"], details=long["details"], source=say["source"], now_ms=1
    )
    return [*say.values(), long["text"], long["summary"], long["content"]]


def traces(place: StorePlace, texts: list[str]) -> list[str]:
    """Those of the texts that stand in the files, as they are or compressed."""
    data = bytes_on_disk(place.file)
    return [text[:90] for text in texts if text.encode() in data or seal(text)[1:] in data]


@pytest.mark.parametrize("size", SIZES)
async def test_a_deleted_session_is_in_no_file(store: SqliteStore, place: StorePlace, size: int) -> None:
    kept = await fill(store, "kept", size)
    gone = await fill(store, "gone", size)
    assert set(traces(place, gone[:5])) != set(), "the needles were never there"
    assert await store.sessions.delete("gone", now_ms=2) == 1
    assert traces(place, gone) == []
    assert len(traces(place, kept)) > 5
    assert await store.integrity_check() == []
    assert (await texts(store, "kept", 1))[0] is not None


async def test_it_is_gone_for_everybody(open_again: Opener) -> None:
    one, two = open_again(), open_again()
    await fill(one, "s", 40)
    assert (await texts(two, "s", 1))[0] is not None
    await one.sessions.delete("s", now_ms=2)
    assert await texts(two, "s", 1) == ["expired"]
    assert (await two.batches.summarized("s"), await two.blocks.all("s"), await two.turns.pending("s")) == ([], [], [])
    assert (await two.turns.state("s"), await two.batches.find("s", key("b"))) == (None, None)
    assert (await two.batches.replacements("s"), await two.batches.named("s", "b")) == ([], None)
    assert await two.batches.claim("s", key("b"), owner="other", ttl_ms=1, now_ms=2) == 0
    assert await two.batches.take_attempt("s", key("b"), limit=3, cool_down_ms=1, now_ms=2) == (1, 0)


async def test_a_text_that_another_session_has_too_stays_until_it_goes_there_too(
    store: SqliteStore, place: StorePlace
) -> None:
    text = needle("shared") * 5
    await take(store, "a", call(text, id="a"))
    await take(store, "b", call(text, id="b"))
    await store.sessions.delete("a", now_ms=2)
    assert await texts(store, "b", 1) == [text]
    assert traces(place, [text]) != []
    await store.sessions.delete("b", now_ms=2)
    assert traces(place, [text]) == []


async def test_a_fork_forgets_what_stands_for_results_that_went_with_its_parent(store: SqliteStore) -> None:
    """What it was given for them would name refs that resolve no more; its own batches and replacements stay."""
    await take(store, "parent", call("one"), call("two"))
    await store.sessions.open("child", project=None, parent_session_id="parent", now_ms=1)
    await take(store, "child", call("three"), call("four"))
    await store.sessions.open("grandchild", project=None, parent_session_id="child", now_ms=1)
    await store.sessions.open("other", project=None, parent_session_id=None, now_ms=1)
    for session in ("child", "grandchild"):
        await store.batches.freeze(
            session, 0, frozen("mixed", refs=[2, 3], summary="m"), {2: "two", 3: "three"}, [2, 3]
        )
        await store.batches.freeze(session, 0, frozen("own", refs=[4], summary="o"), {4: "four"}, [4])
        await store.batches.freeze(session, 0, frozen("skipped"), {}, [1])
    await take(store, "other", call("one"), call("two"))
    await store.batches.freeze("other", 0, frozen("mixed", refs=[1, 2], summary="m"), {1: "one"}, [1, 2])
    await store.sessions.delete("parent", now_ms=2)
    for session in ("child", "grandchild"):
        assert [batch.batch_id for batch in await store.batches.summarized(session)] == ["own"]
        assert await store.batches.find(session, key("batch", "mixed")) is None
        assert await store.batches.find(session, key("batch", "skipped")) is None
        assert await store.batches.holding(session, [1, 2, 3]) == []
        assert [each.ref for each in await store.batches.replacements(session)] == [3, 4]
    assert [batch.batch_id for batch in await store.batches.summarized("other")] == ["mixed"]
    assert await take(store, "child", call("two"), call("three")) == [5, 3]
    anew = frozen("mixed", refs=[5, 3], summary="again")
    assert (await store.batches.freeze("child", 0, anew, {5: "two"}, [5, 3])).batch == anew


async def test_a_fork_keeps_its_own_turns_when_its_parent_goes(store: SqliteStore) -> None:
    await take(store, "parent", call("one"))
    await store.sessions.open("child", project=None, parent_session_id="parent", now_ms=1)
    await take_turn(store, "child", call("one"), call("two"))
    await store.sessions.delete("parent", now_ms=2)
    assert [turn.calls for turn in await store.turns.pending("child")] == [[(1, 2)]]


@pytest.mark.parametrize("seed", [1, 3])
async def test_no_copy_is_left_between_the_rows_of_others(store: SqliteStore, place: StorePlace, seed: int) -> None:
    """What secure_delete alone does not do: see `afterturn.store.sqlite.scrubbing`. The seeds are ones that show it."""
    dice = random.Random(seed)
    needles: dict[str, list[str]] = {}
    for number in range(90):
        session = f"s{dice.randrange(6)}"
        text, prose, request = (needle(f"{each} {number}") for each in ("text", "prose", "request"))
        needles.setdefault(session, []).extend([text, prose, request])
        entry = TurnEntry(
            batch_id="turn", turn_index=number, timestamp=1, assistant_text=prose * dice.choice([1, 4, 30]),
            user_text=request * dice.choice([1, 3]), group=1, positions=[0], loose="{}",
        )  # fmt: skip
        intake = Intake(calls=[call(text * dice.choice([1, 5, 20]))], turn=entry)
        await store.archive.take_in(session, intake, now_ms=1)
        dice.random()
        if number % 3 == 2:
            deleted = dice.choice(sorted(needles))
            await store.sessions.delete(deleted, now_ms=2)
            data = bytes_on_disk(place.file)
            assert [text for text in needles.pop(deleted) if text.encode() in data] == []


@pytest.mark.parametrize("limit", [0, 64 * 1024 * 1024])
async def test_small_and_large_stores_are_built_anew(
    store: SqliteStore, place: StorePlace, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(scrubbing, "REBUILT_IN_MEMORY_BYTES", limit)
    await take(store, "gone", *(call(f"{needle(str(number))} {number}" * 9) for number in range(300)))
    await take(store, "kept", call("kept"))
    before = store.status().bytes
    assert await store.sessions.delete("gone", now_ms=2) == 300
    assert traces(place, [needle(str(number)) for number in range(300)]) == []
    assert store.status().bytes < before / 2
    assert sorted(path.name for path in place.file.parent.iterdir()) == [
        "afterturn.db",
        "afterturn.db-shm",
        "afterturn.db-wal",
    ]
    assert await texts(store, "kept", 1) == ["kept"]


async def test_a_text_that_is_the_content_of_another_result_stays(store: SqliteStore) -> None:
    await take(store, "a", call("both"))
    await take(store, "b", call("other", content="both"))
    assert await store.sessions.delete("a", now_ms=2) == 1
    assert await store.integrity_check() == []


async def test_many_at_once_are_all_gone(store: SqliteStore, place: StorePlace) -> None:
    sessions = [f"s{number}" for number in range(12)]
    for session in sessions:
        await take(store, session, call(needle(session) * 10))
    deleted = await asyncio.gather(*(store.sessions.delete(session, now_ms=2) for session in sessions))
    assert deleted == [1] * 12
    assert traces(place, [needle(session) for session in sessions]) == []


async def test_an_intake_after_it_is_a_new_life(store: SqliteStore) -> None:
    await take(store, "s", call("one"))
    deleting = asyncio.ensure_future(store.sessions.delete("s", now_ms=2))
    await asyncio.sleep(0)
    assert await take(store, "s", call("one")) == [2]
    assert await deleting == 1
    assert await texts(store, "s", 1, 2) == ["expired", "one"]
