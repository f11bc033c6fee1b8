"""Budgets, and what is counted: over sidecars, restarts and ends of processes (models.md, 'Budgets')."""

import asyncio
import random

import pytest

from afterturn.completion import CompleterError, PromptMessage
from afterturn.models.estimate import prompt_tokens
from afterturn.models.provider import ProviderFailure
from afterturn.store.sqlite.store import SqliteStore
from afterturn.usage import DAY_MS
from tests.models.pool.conftest import Opener
from tests.models.pool.harness import MODEL, NOON_MS, OTHER, Harness, reply, status, until, usage

pytestmark = pytest.mark.anyio

TOMORROW_MS = (NOON_MS // DAY_MS + 1) * DAY_MS


async def denied(harness: Harness, text: str, **given: object) -> CompleterError:
    with pytest.raises(CompleterError) as caught:
        await harness.ask(text, **given)
    assert caught.value.kind == "budget_exceeded"
    assert not caught.value.called
    return caught.value


@pytest.mark.req("events.usage-limit", "errors.budget-exceeded")
async def test_d01_the_call_that_could_pass_the_cap_is_not_made(open_again: Opener) -> None:
    """Case D01: a cap of 10,000, 3,000 a call: told once, also over restarts, and on the next day it goes on."""
    harness = Harness(open_again(), reply(input=2500, output=500), daily_tokens=10_000)
    for number in range(3):
        await harness.ask(f"{number}", max_tokens=600)
    for number in range(3):
        again = Harness(open_again(), reply(), clock=harness.clock, daily_tokens=10_000)
        problem = await denied(again, f"more {number}", max_tokens=1000)
        assert (problem.retryable, problem.retry_after_ms) == (True, TOMORROW_MS - NOON_MS)
        assert again.provider.prompts == []
        harness.events += again.events
    (told,) = harness.events
    assert (told.scope, told.limit, told.used, told.resumes_at) == ("dailyTokens", 10_000, 9_000, TOMORROW_MS)
    harness.clock.ms = TOMORROW_MS
    assert (await harness.ask("tomorrow")).text == "fine"


async def test_a_limit_is_told_again_on_another_day(store: SqliteStore) -> None:
    harness = Harness(store, daily_tokens=1)
    for day in range(3):
        for _ in range(2):
            await denied(harness, "x")
        assert len(harness.events) == day + 1
        harness.clock.ms += DAY_MS


async def test_a_higher_limit_counts_at_once(store: SqliteStore) -> None:
    harness = Harness(store, daily_tokens=0)
    await denied(harness, "x")
    harness.change(daily_tokens=100_000)
    assert (await harness.ask("x")).text == "fine"


async def test_a_session_has_a_budget_of_its_own(store: SqliteStore) -> None:
    harness = Harness(store, reply(input=400, output=100), session_tokens=1000)
    await harness.ask("one", session_id="a")
    await harness.ask("two", session_id="b")
    problem = await denied(harness, "three", session_id="a", max_tokens=600)
    assert (problem.retryable, problem.retry_after_ms) == (False, None)
    await denied(harness, "four", session_id="a", max_tokens=600)
    await denied(harness, "five", session_id="b", max_tokens=600)
    assert [(told.scope, told.used, told.resumes_at) for told in harness.events] == [("sessionTokens", 500, None)] * 2
    harness.clock.ms += DAY_MS
    await denied(harness, "six", session_id="a", max_tokens=600)


async def test_money_is_estimated_from_what_the_model_has_cost(store: SqliteStore) -> None:
    harness = Harness(store, reply(input=90, output=10, cost=0.10), daily_cost_usd=0.35)
    await harness.ask("one", max_tokens=50)
    await harness.ask("two", max_tokens=50)
    # At 0.001 a token, 200 tokens may cost 0.2 on top of 0.2.
    await denied(harness, "three", max_tokens=200)
    (told,) = harness.events
    assert (told.scope, told.limit, told.used) == ("dailyCostUsd", 0.35, pytest.approx(0.2))
    assert (await harness.ask("four", max_tokens=50)).text == "fine"


@pytest.mark.parametrize("named", [None, OTHER])
async def test_money_is_estimated_from_the_model_that_a_host_took(store: SqliteStore, named: str | None) -> None:
    """The host chooses where none is named, and may take another one than is."""
    harness = Harness(store, reply(input=90, output=10, cost=0.10), offered=True, model=named, daily_cost_usd=0.35)
    await harness.ask("one", max_tokens=50)
    await harness.ask("two", max_tokens=50)
    await denied(harness, "three", max_tokens=200)
    assert harness.provider.models == [named, named]


async def test_an_unknown_price_is_no_money(store: SqliteStore) -> None:
    harness = Harness(store, reply(cost=None), daily_cost_usd=0.01)
    for number in range(3):
        await harness.ask(f"{number}")
    assert (await harness.totals()).total.cost is None


async def test_money_that_is_spent_ends_it_whatever_the_next_model_costs(store: SqliteStore) -> None:
    harness = Harness(store, reply(cost=1.0), daily_cost_usd=1.0)
    await harness.ask("one")
    await denied(harness, "two", model=OTHER)


async def test_reserved_is_counted_until_it_is_settled(open_again: Opener) -> None:
    """Two sidecars: what one has in flight, the other may not spend."""
    one = Harness(open_again(), reply(input=10, output=10), daily_tokens=1500)
    two = Harness(open_again(), reply(input=10, output=10), clock=one.clock, daily_tokens=1500)
    one.provider.gate.clear()
    first = asyncio.create_task(one.ask("one", max_tokens=1000))
    await until(lambda: one.provider.running == 1)
    await denied(two, "two", max_tokens=1000)
    one.provider.gate.set()
    await first
    assert (await two.ask("two", max_tokens=1000)).text == "fine"


@pytest.mark.parametrize(
    ("failure", "kept"),
    [
        (status(500), False),
        (status(401), False),
        (status(429), False),
        (ProviderFailure("refused", "no"), False),
        (ProviderFailure("unavailable", "no", called=False), False),
        (ProviderFailure("connection", "refused", called=False), False),
        (ProviderFailure("connection", "reset"), True),
        (ProviderFailure("timeout", "late"), True),
        (ProviderFailure("malformed", "HTML"), True),
        (ProviderFailure("crashed", "gone"), True),
    ],
)
async def test_what_a_failed_call_costs(store: SqliteStore, failure: ProviderFailure, kept: bool) -> None:
    harness = Harness(store, failure)
    messages = [PromptMessage("user", "x" * 300)]
    with pytest.raises(CompleterError) as caught:
        await harness.ask(messages=messages, max_calls=1)
    rows = await harness.counted()
    assert rows == ([(prompt_tokens(messages) + 100, 0, 1)] if kept else [])
    assert (caught.value.usage is not None) == kept


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        (usage(30, 5), 35),
        (usage(None, 5), 108 + 5),
        (usage(30, None), 30 + 100),
        (usage(None, None), 208),
        (None, 208),
        (usage(10**13, 5), 108 + 5),
    ],
)
async def test_what_is_unknown_counts_as_estimated(store: SqliteStore, said: object, counted: int) -> None:
    from msgspec.structs import replace

    harness = Harness(store, replace(reply(), usage=said))
    await harness.ask(messages=[PromptMessage("user", "x" * 300)])
    assert await harness.counted() == [(counted, 0, 1)]


def test_estimates() -> None:
    """Three bytes a token and eight tokens a message, rounded up."""
    cases = [
        ([], 0),
        ([""], 8),
        (["abc"], 9),
        (["abcd"], 10),
        (["\u6f22\u5b57"], 10),
        (["a", "b"], 17),
        (["\ud83d"], 9),
    ]
    for texts, expected in cases:
        assert prompt_tokens([PromptMessage("user", text) for text in texts]) == expected


@pytest.mark.parametrize("seed", range(6))
async def test_the_budget_is_never_exceeded_by_several_sidecars(open_again: Opener, seed: int) -> None:
    """Settled and reserved together stay within the limit at every moment, whoever fails or is cancelled."""
    dice = random.Random(seed)
    limit = dice.choice([600, 1500, 4000])

    def answer(prompt: object) -> object:
        if dice.random() < 0.2:
            return dice.choice([status(500), ProviderFailure("timeout", "late")])
        return reply(input=dice.randint(0, 10), output=dice.randint(0, 100))

    sidecars = [Harness(open_again(), answer, daily_tokens=limit, concurrency=3) for _ in range(3)]
    sums: list[int] = []

    async def one(number: int) -> None:
        harness = sidecars[number % 3]
        task = asyncio.create_task(harness.ask(f"{number}", max_calls=2))
        if dice.random() < 0.2:
            await asyncio.sleep(dice.random() / 100)
            task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and (problem := task.exception()) is not None:
            assert isinstance(problem, CompleterError)
        sums.append(sum(tokens for tokens, _, _ in await harness.counted()))

    await asyncio.gather(*(one(number) for number in range(45)))
    assert max(sums) <= limit
    assert not any(reserved for _, reserved, _ in await sidecars[0].counted())
    assert sum(len(harness.events) for harness in sidecars) <= 1, "it is told once"


# -- what was used


@pytest.mark.req("usage.totals")
async def test_d04_sums_equal_the_parts(store: SqliteStore) -> None:
    """Case D04: three summaries and a recap, two models, two days; one model's price is unknown."""
    harness = Harness(store, reply(input=100, output=20, cost=0.5))
    for number in range(3):
        await harness.ask(f"{number}")
    harness.clock.ms += DAY_MS
    harness.provider.script = [reply(model=OTHER, input=7, output=3, cost=None)]
    await harness.ask("recap", purpose="recap", model=OTHER)
    sums = await harness.totals()
    known = usage(300, 60, 1.5)
    assert [sums.by_purpose["condense.batch"], sums.by_model[MODEL], sums.by_day["2024-10-04"]] == [
        type(known)(model=MODEL, input_tokens=300, output_tokens=60, cost=1.5, calls=3)
    ] * 3
    assert (sums.by_purpose["recap"].cost, sums.by_model[OTHER].input_tokens, sums.by_day["2024-10-05"].calls) == (
        None, 7, 1,
    )  # fmt: skip
    total = sums.total
    assert (total.model, total.input_tokens, total.output_tokens, total.cost, total.calls) == ("*", 307, 63, None, 4)
    assert (await harness.totals(harness.clock.ms)).total.calls == 1


async def test_no_calls_are_nothing_and_unknown_is_null(store: SqliteStore) -> None:
    harness = Harness(store, reply(input=None, output=None))
    none = (await harness.totals()).total
    assert (none.input_tokens, none.output_tokens, none.cost, none.calls) == (0, 0, 0.0, 0)
    completion = await harness.ask()
    assert completion.usage is not None
    assert (completion.usage.input_tokens, completion.usage.cost) == (None, None)
    total = (await harness.totals()).total
    assert (total.input_tokens, total.output_tokens, total.cost, total.calls) == (None, None, None, 1)


async def test_what_is_in_flight_is_not_told_yet(store: SqliteStore) -> None:
    harness = Harness(store)
    harness.provider.gate.clear()
    task = asyncio.create_task(harness.ask())
    await until(lambda: harness.provider.running == 1)
    assert (await harness.totals()).total.calls == 0
    harness.provider.gate.set()
    await task
    assert (await harness.totals()).total.calls == 1


async def test_a_retried_call_costs_what_all_of_it_cost(store: SqliteStore) -> None:
    harness = Harness(store, status(500), reply("cut", stop="length", input=10, output=100), reply(input=10, output=30))
    completion = await harness.ask()
    assert completion.usage is not None
    assert (completion.usage.input_tokens, completion.usage.output_tokens, completion.usage.calls) == (20, 130, 2)
    assert (await harness.totals()).total.calls == 2
