"""What a host tells by itself, what it gets, and how often a model is asked."""

from typing import Any

import pytest

from afterturn_protocol.base import ModelInfo
from afterturn_protocol.context import RecapContext
from afterturn_protocol.lifecycle import RecapCapability
from afterturn_protocol.recap import RecapInputParams
from afterturn_protocol.settings import RecapSettings
from tests.recap.conftest import Make
from tests.recap.harness import OPUS, USAGE, ran, said, saved, settle, user, work

pytestmark = pytest.mark.anyio


# -- blur, focus, turns ----------------------------------------------------------------------------------


async def test_a_person_who_is_away_finds_a_recap(make: Make) -> None:
    it = make()
    it.turn_end(context=work(revision=7))
    it.blur()
    await it.clock.wait(89)
    assert it.calls == 0
    await it.clock.wait(1)
    (recap,) = it.recaps()
    assert (it.calls, it.heard) == (1, "ready(away,generated)")
    assert recap.text == "You are fixing the login redirect in auth.py."
    assert (recap.model, recap.usage, recap.save, recap.revision) == ("anthropic/claude-haiku-5-5", USAGE, True, 7)
    assert recap.created_at == it.clock.ms


async def test_the_call_is_small_cheap_and_without_reasoning(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    await it.away()
    (asked,) = it.model.asked
    assert {name: asked[name] for name in asked if name != "messages"} == {
        "purpose": "recap",
        "session_id": "s",
        "prompt_version": "recap-1",
        "max_tokens": 256,
        "model": "anthropic/claude-haiku-5-5",
        "reasoning": "off",
        "idle_timeout_ms": 30000,
        "total_timeout_ms": 30000,
        "max_calls": 2,
        "background": True,
        "fresh": False,
    }
    assert all(message.role == "user" for message in asked["messages"])


async def test_alt_tabs_cost_nothing(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    for _ in range(20):
        it.blur()
        await it.clock.wait(60)
        it.focus()
        await it.clock.wait(10)
    assert (it.calls, it.events) == (0, [])


async def test_a_turn_that_ends_while_away(make: Make) -> None:
    it = make()
    it.turn_start()
    it.blur()
    await it.clock.wait(60)
    it.turn_end(context=work())
    await it.clock.wait(3)
    assert (it.calls, it.heard) == (1, "ready(turnEnd,generated)")


async def test_r05_the_same_recap_is_made_and_shown_once(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    for _ in range(10):
        await it.away()
        it.focus()
    assert (it.calls, it.heard) == (1, "ready(away,generated)")


async def test_r07_a_draft_ends_with_the_next_turn(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    it.turn_end(context=work())
    await it.away()
    assert it.calls == 1
    it.turn_start()
    it.model.gate.set()
    await settle()
    assert it.model.finished == 0, "the call was not ended"
    assert it.events == []
    it.turn_end(context=work(2))
    await it.clock.wait(3)
    assert it.heard == "ready(turnEnd,generated)"


async def test_r07_nothing_is_drafted_while_a_turn_runs(make: Make) -> None:
    it = make()
    it.turn_start()
    await it.away()
    await it.clock.wait(600)
    assert it.calls == 0
    it.turn_end(context=work())
    await it.clock.wait(3)
    assert it.calls == 1


async def test_back_while_it_is_drafted_it_lands(make: Make) -> None:
    it = make()
    it.model.gate.clear()
    it.turn_end(context=work())
    await it.away()
    it.focus()
    it.model.gate.set()
    await settle()
    assert it.heard == "ready(away,generated)"


async def test_the_recap_goes_when_something_is_sent_and_stays_while_it_is_typed(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    await it.away()
    it.focus()
    it.typed()
    assert it.heard == "ready(away,generated)"
    it.submit()
    assert it.heard == "ready(away,generated) cleared(input)"
    assert it.events[1][1].recap_id == it.recaps()[0].recap_id


async def test_a_kind_of_input_that_is_not_known_sends_nothing(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    await it.away()
    it.service.input(RecapInputParams(session_id="s", kind="dictated"), lambda effect: effect())
    assert it.heard == "ready(away,generated)"


async def test_without_focus_reports_the_idle_timer_stands_in(make: Make) -> None:
    it = make()
    it.turn_end(context=work())
    await it.clock.wait(119)
    it.typed()
    await it.clock.wait(119)
    assert it.calls == 0
    await it.clock.wait(1)
    assert it.heard == "ready(idle,generated)"


@pytest.mark.parametrize(
    ("settings", "capability", "heard"),
    [
        (RecapSettings(), RecapCapability(can_show=True, focus_reporting="supported"), ""),
        (RecapSettings(), RecapCapability(can_show=True, focus_reporting="unsupported"), "ready(idle,generated)"),
        (
            RecapSettings(focus_reporting=False),
            RecapCapability(can_show=True, focus_reporting="supported"),
            "ready(idle,generated)",
        ),
        (RecapSettings(idle_seconds=600), RecapCapability(can_show=True), ""),
    ],
    ids=["supported", "unsupported", "switched off", "later"],
)
async def test_when_the_idle_timer_runs(
    make: Make, settings: RecapSettings, capability: RecapCapability, heard: str
) -> None:
    it = make(settings=settings, capability=capability)
    it.turn_end(context=work())
    await it.clock.wait(130)
    assert it.heard == heard


@pytest.mark.parametrize(
    ("away_seconds", "fires_after"),
    [(90, 90), (30, 30), (0, 5), (4.9, 5), (-3, 90), (float("nan"), 90), (float("inf"), 90), (1e9, 90)],
    ids=str,
)
async def test_a_threshold_is_never_so_short_that_it_fires_at_once(
    make: Make, away_seconds: float, fires_after: int
) -> None:
    it = make(settings=RecapSettings(away_seconds=away_seconds))
    it.turn_end(context=work())
    it.blur()
    await it.clock.wait(fires_after - 0.001)
    assert it.calls == 0
    await it.clock.wait(0.001)
    assert it.calls == 1


async def test_while_the_agent_runs_it_is_shown_and_not_saved(make: Make) -> None:
    it = make(settings=RecapSettings(during_active=True), contexts={"s": work()})
    it.turn_start()
    await it.away()
    (recap,) = it.recaps()
    assert recap.save is False
    await settle()
    assert it.store.kept == {}


async def test_a_draft_made_while_the_agent_runs_outlives_its_messages(make: Make) -> None:
    it = make(settings=RecapSettings(during_active=True), contexts={"s": work()})
    it.turn_start()
    it.model.gate.clear()
    await it.away()
    it.change()
    it.host.contexts = {"s": work(2)}
    it.turn_start()
    it.model.gate.set()
    await settle()
    assert it.heard == "ready(away,generated)"


# -- who gets nothing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "capability", "opened"),
    [
        (RecapSettings(), None, {}),
        (RecapSettings(), RecapCapability(can_show=False), {}),
        (RecapSettings(auto=False), RecapCapability(can_show=True), {}),
        (RecapSettings(), RecapCapability(can_show=True), {"interactive": False}),
    ],
    ids=["declared nothing", "cannot show", "switched off", "not interactive"],
)
async def test_r01_r02_nothing_happens_by_itself(
    make: Make, settings: RecapSettings, capability: RecapCapability | None, opened: dict[str, Any]
) -> None:
    it = make(settings=settings, capability=capability, contexts={"s": work()})
    it.open(saved_recap=saved(), **opened)
    for _ in range(6):
        it.turn_start()
        it.blur()
        await it.clock.wait(300)
        it.turn_end(context=work())
        await it.clock.wait(300)
        it.focus()
        it.submit()
    assert (it.calls, it.host.asked, it.events) == (0, 0, [])
    it.turn_end(context=work())
    given = await it.now()
    assert it.calls == 1
    assert given.recap is not None
    assert given.recap.usage == USAGE
    assert it.events == []


async def test_no_model_no_call_and_the_facts_are_shown(make: Make) -> None:
    it = make(with_model=False)
    it.turn_end(context=work())
    await it.away()
    (recap,) = it.recaps()
    assert (recap.origin, recap.model, recap.usage, recap.save) == ("facts", None, None, False)
    assert "login redirect" in recap.text
    it.focus()
    await it.away()
    assert len(it.recaps()) == 1
    assert it.store.kept == {}


async def test_neither_a_model_nor_facts(make: Make) -> None:
    it = make(with_model=False, settings=RecapSettings(fallback="none", explain=True))
    it.turn_end(context=work())
    await it.away()
    assert it.heard == "skipped(away,noModel)"
    assert (await it.now()).reason == "noModel"


async def test_a_session_without_a_known_model_has_facts(make: Make) -> None:
    it = make()
    it.turn_end(context=work(model=None))
    await it.away()
    assert (it.calls, it.heard) == (0, "ready(away,facts)")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (ModelInfo(provider="anthropic", id="claude-opus-5"), "anthropic/claude-opus-5"),
        (ModelInfo(provider="local", id="qwen"), "local/qwen"),
    ],
)
async def test_r08_the_model_is_a_session_s_own_provider_s(make: Make, model: ModelInfo, expected: str) -> None:
    it = make()
    it.open(model=model, has_history=False)
    it.turn_end(context=work(model=None))
    await it.away()
    assert it.model.asked[0]["model"] == expected


async def test_a_change_of_model_is_heard(make: Make) -> None:
    it = make()
    it.open(has_history=False)
    it.change("model", model=ModelInfo(provider="local", id="qwen"))
    it.turn_end(context=work(model=None))
    await it.away()
    assert it.model.asked[0]["model"] == "local/qwen"


async def test_an_unusable_model_setting_is_told_once(make: Make) -> None:
    it = make(settings=RecapSettings(model="nonsense"))
    for step in (1, 2):
        it.turn_end(context=work(step))
        await it.away()
        it.focus()
    assert it.calls == 0
    assert it.told == ["recap.model 'nonsense' is not of the form provider/id"]


async def test_r08_a_huge_history_is_a_bounded_prompt(make: Make) -> None:
    it = make()
    messages = [user("Fix the login redirect in auth.py")]
    for number in range(40):
        messages += [
            *ran(f"c{number}", f"cat part{number}.py", f"line {number}\n" * 7_000),
            user(f"go on, step {number}"),
        ]
    assert sum(len(message.content) for message in messages) > 2_000_000
    messages += ran("last", "cat auth.py", "redirect()")
    it.turn_end(context=RecapContext(messages=messages, model=OPUS))
    await it.now()
    (asked,) = it.model.asked
    prompt = "".join(message.content for message in asked["messages"])
    assert len(prompt) <= 48_000
    assert "go on, step 39" in prompt


# -- why not ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (None, "noContext"),
        (RecapContext(messages=[]), "empty"),
        (RecapContext(messages=[user("hello"), said("Hello, what can I do?")]), "noActivity"),
    ],
    ids=["no context", "empty", "no activity"],
)
async def test_a_decision_can_be_seen(make: Make, context: RecapContext | None, reason: str) -> None:
    it = make(settings=RecapSettings(explain=True))
    it.turn_end(context=context)
    await it.away()
    assert (it.calls, it.heard) == (0, f"skipped(away,{reason})")
    silent = make()
    silent.turn_end(context=context)
    await silent.away()
    assert silent.events == []
