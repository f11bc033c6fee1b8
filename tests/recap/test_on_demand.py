"""recap/now, recap/get, recap/dismiss."""

import asyncio
from collections.abc import Callable

import pytest

from afterturn.completion import CompleterError
from afterturn_protocol.context import RecapContext
from afterturn_protocol.recap import RecapInputParams
from afterturn_protocol.settings import RecapSettings
from tests.recap.conftest import Make
from tests.recap.harness import settle, work

pytestmark = pytest.mark.anyio

FAILED = CompleterError("provider_unavailable", "The model cannot be reached", retryable=True)


async def test_now_is_never_from_memory_and_never_an_event(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    for _ in range(2):
        given = await it.now()
        assert given.recap is not None
        assert given.recap.trigger == "manual"
        assert given.recap.save is True
    assert [asked["fresh"] for asked in it.model.asked] == [True, True]
    assert [asked["background"] for asked in it.model.asked] == [False, False]
    assert it.events == []
    it.submit()
    assert it.heard == "cleared(input)"


async def test_now_explains_when_there_is_nothing(make: Make) -> None:
    it = make()
    assert (await it.now()).reason == "noContext"
    assert (await it.now(context=RecapContext(messages=[]))).reason == "empty"
    it.settings = RecapSettings(fallback="none")
    it.model.reply = FAILED
    given = await it.now(context=work())
    assert (given.recap, given.reason) == (None, "failed")


async def test_now_takes_the_slot(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    it.model.gate.clear()
    await it.away()
    first, second = asyncio.create_task(it.now()), asyncio.create_task(it.now())
    await settle()
    assert (await first).reason == "superseded"
    it.model.gate.set()
    given = await second
    assert given.recap is not None
    assert (it.calls, it.model.finished, it.events) == (2, 1, [])


async def test_a_cancelled_now_ends_its_call(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    asking = asyncio.create_task(it.now(context=work()))
    await settle()
    asking.cancel()
    await settle()
    assert asking.cancelled()
    it.model.gate.set()
    await settle()
    assert it.model.finished == 0
    assert (await it.now()).recap is not None, "the slot is free again"


async def test_an_answer_that_comes_with_what_ends_it_is_lost(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    asking = asyncio.create_task(it.now(context=work()))
    await settle()
    after: list[Callable[[], None]] = []
    it.model.gate.set()
    it.service.input(RecapInputParams(session_id="s", kind="submitted"), after.append)
    assert (await asking).reason == "input", "it does not wait for what follows the other's answer"


async def test_sending_something_ends_now_as_well(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    asking = asyncio.create_task(it.now(context=work()))
    await settle()
    it.submit()
    assert (await asking).reason == "input"


async def test_get_gives_what_stands(make: Make) -> None:
    it = make()
    assert await it.get() is None
    it.turn_end(context=work())
    await it.away()
    await settle()
    assert await it.get() == it.recaps()[0]
    it.submit()
    assert await it.get() is None, "it was taken away"
    other = make(store=it.store)
    kept = await other.get()
    assert kept is not None
    assert (kept.text, kept.origin, kept.save) == (it.recaps()[0].text, "saved", False)
    other.change()
    assert await other.get() is None, "it is of before the change"


async def test_dismiss_takes_the_recap_away_for_good(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    await it.away()
    it.dismiss()
    assert it.heard == "ready(away,generated) cleared(dismissed)"
    assert await it.get() is None
    it.focus()
    await it.away()
    assert len(it.recaps()) == 1
    it.dismiss()
    assert len(it.events) == 2
