"""Timers on a clock that leaps, and sessions beside each other."""

import asyncio

import pytest

from afterturn.completion import CompleterError
from afterturn_protocol.lifecycle import RecapCapability
from tests.recap.conftest import Make
from tests.recap.harness import settle, work

pytestmark = pytest.mark.anyio

FAILED = CompleterError("provider_unavailable", "The model cannot be reached", retryable=True)


# -- time ------------------------------------------------------------------------------------------------


async def test_a_sleeping_machine_counts_as_away(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    it.blur()
    await it.clock.wait(10)
    it.clock.leap(8 * 3600)
    it.focus()
    await settle()
    assert (it.calls, it.heard) == (1, "ready(away,generated)")


async def test_after_a_sleep_nobody_has_to_speak(make: Make) -> None:
    it = make()
    for session in ("a", "b"):
        it.turn_end(session, context=work())
        it.blur(session)
    await settle()
    it.clock.leap(8 * 3600)
    await it.clock.wait(30)
    assert it.calls == 2


async def test_a_word_of_one_session_wakes_the_timers_of_all(make: Make) -> None:
    it = make()
    for session in ("a", "b"):
        it.turn_end(session, context=work())
        it.blur(session)
    await settle()
    it.clock.leap(8 * 3600)
    it.typed("c")
    await settle()
    assert it.calls == 2


async def test_at_most_one_draft_follows_a_leap(make: Make) -> None:
    it = make()
    it.model.reply = FAILED
    it.turn_start()
    it.blur()
    it.turn_end(context=work())
    await settle()
    it.clock.leap(8 * 3600)
    it.focus()
    await settle()
    assert it.calls == 1


async def test_a_clock_that_is_set_back_delays_nothing_for_an_hour(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    it.blur()
    await it.clock.wait(10)
    it.clock.leap(-3600)
    await it.clock.wait(120)
    assert it.calls == 1


async def test_no_timer_no_task(make: Make) -> None:
    it = make(capability=RecapCapability(can_show=True, focus_reporting="supported"))
    it.turn_end(context=work())
    it.blur()
    await settle()
    assert it.clock.sleeping == 1
    it.focus()
    await it.clock.wait(120)
    assert it.clock.sleeping == 0


# -- several sessions ------------------------------------------------------------------------------------


async def test_sessions_on_one_connection_do_not_mix(make: Make) -> None:
    it = make(contexts={"a": work(1), "b": work(2)})
    it.model.gate.clear()
    it.blur("a")
    await it.clock.wait(45)
    it.blur("b")
    await it.clock.wait(45)
    it.turn_start("b")
    it.model.gate.set()
    await it.clock.wait(90)
    assert [(recap.session_id, recap.trigger) for recap in it.recaps()] == [("a", "away")]
    it.submit("b")
    assert it.heard == "ready(away,generated)"
    it.submit("a")
    assert it.heard == "ready(away,generated) cleared(input)"


async def test_a_closed_session_is_over(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    it.turn_end(context=work())
    await it.away()
    it.blur("other")
    it.service.closed("s")
    it.service.closed("never opened")
    it.model.gate.set()
    await it.clock.wait(600)
    assert (it.model.finished, it.events) == (0, [])


async def test_a_late_end_of_a_closed_session_does_not_touch_the_next_of_that_name(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    asking = asyncio.create_task(it.now(context=work()))
    await settle()
    it.service.closed("s")
    it.open(context=work(2))
    await settle()
    assert (await asking).reason == "closed"
    it.model.gate.set()
    await settle()
    assert it.heard == "ready(reopen,generated)"


async def test_what_is_deleted_is_not_kept_by_a_draft_under_way(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    it.turn_end(context=work())
    await it.away()
    it.store.delete("s")  # by another process, which this one does not hear of
    it.model.gate.set()
    await settle()
    assert len(it.recaps()) == 1
    assert it.store.kept == {}
