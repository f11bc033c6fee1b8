"""The ledger and the memory of completions in the store (models/ports.py; store.md, 'Deleting deletes')."""

import asyncio
import sys
from subprocess import PIPE, Popen

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn.models.ports import Denied, Intent, Limits, Remembered
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store.sqlite.usage import KEPT_DAYS, LONGEST_CALL_MS
from afterturn.usage import DAY_MS, NO_USE, added
from afterturn_protocol.base import Usage
from tests.store.conftest import Opener
from tests.store.sample import bytes_on_disk, key, take
from tests.store.sample import call as archived

pytestmark = pytest.mark.anyio

FREE = Limits(daily_tokens=None, daily_cost_usd=None, session_tokens=None)


def intent(prompt: int = 100, most: int = 900, session: str = "s", model: str = "a/b") -> Intent:
    return Intent(session_id=session, purpose="recap", model=model, prompt_tokens=prompt, max_tokens=most)


def tokens(daily: int) -> Limits:
    return Limits(daily_tokens=daily, daily_cost_usd=None, session_tokens=None)


async def used(store: SqliteStore, now_ms: int = 1) -> float:
    """What counts today, settled and reserved, as a call that is denied is told."""
    answer = await store.models.ledger.reserve(intent(10**9, 10**9, session="asks"), tokens(0), now_ms=now_ms)
    assert isinstance(answer, Denied)
    return answer.used


async def number(store: SqliteStore, *given: object, now_ms: int = 1, limits: Limits = FREE) -> int:
    answer = await store.models.ledger.reserve(intent(*given), limits, now_ms=now_ms)  # type: ignore[arg-type]
    assert isinstance(answer, int)
    return answer


def spender(place: StorePlace) -> "Popen[bytes]":
    return Popen([sys.executable, "-m", "tests.store.spender", str(place.file)], stdin=PIPE, stdout=PIPE)


def usage(input: int | None, output: int | None, cost: float | None = None, model: str = "a/b") -> Usage:
    return Usage(model=model, input_tokens=input, output_tokens=output, cost=cost, calls=1)


async def test_reserved_settled_released(store: SqliteStore) -> None:
    first, second = await number(store), await number(store)
    assert await used(store) == 2000
    await store.models.ledger.settle(first, usage(40, 2))
    assert await used(store) == 1042
    await store.models.ledger.release(second)
    assert await used(store) == 42


async def test_the_limit_itself_may_be_reached(store: SqliteStore) -> None:
    await number(store, limits=tokens(1000))
    answer = await store.models.ledger.reserve(intent(0, 1), tokens(1000), now_ms=1)
    assert isinstance(answer, Denied)
    assert (answer.scope, answer.limit, answer.used, answer.first) == ("dailyTokens", 1000, 1000, True)


async def test_a_day_is_a_day_in_utc(store: SqliteStore) -> None:
    await number(store, now_ms=5 * DAY_MS - 1)
    assert await used(store, 5 * DAY_MS - 1) == 1000
    assert await used(store, 5 * DAY_MS) == 0
    await number(store, now_ms=5 * DAY_MS)
    assert (await store.models.ledger.totals(None)).by_day == {}
    await store.models.ledger.settle(1, usage(1, 1))
    assert list((await store.models.ledger.totals(None)).by_day) == ["1970-01-05"]


async def test_a_process_that_ends_gives_back_all_but_its_prompt(open_again: Opener, place: StorePlace) -> None:
    """Killed in the middle of a call: what it reserved for the reply is free at once; while it lives it is not."""
    store = open_again()
    await store.open()
    with spender(place) as process:
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
        assert await used(store) == 1000
        process.kill()
        process.wait()
    assert await used(store) == 100
    total = (await store.models.ledger.totals(None)).total
    assert (total.input_tokens, total.calls) == (None, 1)


async def test_a_reservation_of_another_machine_ends_with_its_time(store: SqliteStore) -> None:
    await number(store)
    await store._engine.write(
        lambda connection: connection.execute("UPDATE model_calls SET place = 'elsewhere', pid = 1"), key="s"
    )
    await number(store, 1, 0, now_ms=LONGEST_CALL_MS)
    assert await used(store) == 1001
    await number(store, 1, 0, now_ms=LONGEST_CALL_MS + 2)
    assert await used(store) == 102


async def test_old_calls_are_forgotten(store: SqliteStore) -> None:
    await store.models.ledger.settle(await number(store), usage(1, 1))
    await store.models.ledger.settle(await number(store, now_ms=KEPT_DAYS * DAY_MS), usage(1, 1))
    assert (await store.models.ledger.totals(None)).total.calls == 2
    await store.models.ledger.settle(await number(store, now_ms=(KEPT_DAYS + 1) * DAY_MS), usage(1, 1))
    assert (await store.models.ledger.totals(None)).total.calls == 2


async def test_odd_names_and_figures_spoil_no_sum(store: SqliteStore) -> None:
    most = 2**63 - 1
    await store.models.ledger.settle(await number(store, 1, 1, "s\ud83d"), usage(most, most, 1e300, "a/\ud83d"))
    await store.models.ledger.settle(await number(store, 1, 1), usage(5, 5, 1.0))
    sums = await store.models.ledger.totals(None)
    assert (set(sums.by_model), sums.total.input_tokens) == ({"a/\ud83d", "a/b"}, None)


figures = st.none() | st.integers(0, 1000)
costs = st.none() | st.integers(0, 64).map(lambda eighths: eighths / 8)


@given(st.lists(st.tuples(st.sampled_from(["a/b", "c/d"]), figures, figures, costs), max_size=12))
@settings(deadline=None, max_examples=25)
def test_totals_are_the_sums_of_what_was_settled(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[str, int | None, int | None, float | None]]
) -> None:
    async def run() -> None:
        store = SqliteStore(StorePlace(file=tmp_path_factory.mktemp("s") / "data" / "s.db", own_folder=True))
        expected: Usage | None = None
        for model, input, output, cost in calls:
            said = Usage(model=model, input_tokens=input, output_tokens=output, cost=cost, calls=1)
            await store.models.ledger.settle(await number(store), said)
            expected = added(expected, said)
        assert (await store.models.ledger.totals(None)).total == (expected or NO_USE)
        await store.close(timeout_ms=10_000)

    asyncio.run(run())


async def test_deleting_a_session_keeps_what_was_spent(store: SqliteStore) -> None:
    await take(store, "s", archived("x"))
    await store.models.ledger.settle(await number(store), usage(10, 5))
    await store.sessions.delete("s", now_ms=2)
    assert await used(store) == 15
    await number(store)
    assert not await store.sessions.known("s"), "a reservation does not bring a session back to life"


@pytest.mark.parametrize("size", [1, 400])
async def test_a_deleted_sessions_completions_are_in_no_file(store: SqliteStore, place: StorePlace, size: int) -> None:
    needles = {session: f"needle-{key(session).hex()} " * size for session in ("kept", "gone")}
    for session, text in needles.items():
        await take(store, session, archived("x"))
        await store.models.memo.keep(session, 0, key(session), Remembered(text, "a/b"), now_ms=1)
        assert (await store.models.memo.find(session, [key(session)], now_ms=1)).found == Remembered(text, "a/b")
    await store.sessions.delete("gone", now_ms=2)
    assert needles["gone"].encode()[:40] not in bytes_on_disk(place.file)
    assert (await store.models.memo.find("gone", [key("gone")], now_ms=2)).found is None
    assert (await store.models.memo.find("gone", [key("gone"), key("kept")], now_ms=2)).found is not None
    assert await store.integrity_check() == []


async def test_a_session_that_was_never_opened_or_is_deleted_keeps_nothing(store: SqliteStore) -> None:
    await store.models.memo.keep("s", 0, key("k"), Remembered("text", "a/b"), now_ms=1)
    await take(store, "s", archived("x"))
    epoch = (await store.models.memo.find("s", [], now_ms=1)).epoch
    await store.sessions.delete("s", now_ms=2)
    await store.models.memo.keep("s", epoch, key("k"), Remembered("text", "a/b"), now_ms=1)
    await take(store, "s", archived("x"))
    await store.models.memo.keep("s", epoch, key("k"), Remembered("text", "a/b"), now_ms=1)
    recalled = await store.models.memo.find("s", [key("k")], now_ms=1)
    assert (recalled.epoch, recalled.found) == (1, None)
