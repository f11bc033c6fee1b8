"""Failures, retries, Retry-After, the breaker and the fallback model (models.md, 'Completers')."""

import asyncio

import pytest

from afterturn.completion import CompleterError, Completion
from afterturn.models.breaker import TERMINAL_SECONDS, TRANSIENT_SECONDS
from afterturn.models.failures import FailureClass, classify
from afterturn.models.provider import ProviderFailure
from afterturn.models.sticky import PROBE_SECONDS
from afterturn.store.sqlite.store import SqliteStore
from tests.models.pool.harness import MODEL, OTHER, Harness, reply, status

pytestmark = pytest.mark.anyio


async def failed(harness: Harness, text: str = "a prompt", **given: object) -> CompleterError:
    with pytest.raises(CompleterError) as caught:
        await harness.ask(text, **given)
    return caught.value


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_transient_status_is_tried_again(store: SqliteStore, code: int) -> None:
    harness = Harness(store, status(code), status(code), reply())
    assert (await harness.ask()).text == "fine"
    assert harness.clock.slept == [0.5, 1.0]


@pytest.mark.parametrize("kind", ["timeout", "connection", "malformed", "crashed"])
async def test_a_transient_failure_is_tried_again(store: SqliteStore, kind: str) -> None:
    harness = Harness(store, ProviderFailure(kind, "it went", called=False), reply())
    completion = await harness.ask()
    assert completion.usage is not None
    assert completion.usage.calls == 1


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 413, 422])
async def test_a_terminal_status_is_not(store: SqliteStore, code: int) -> None:
    harness = Harness(store, status(code))
    problem = await failed(harness)
    assert (problem.kind, problem.retryable, problem.terminal) == ("provider_error", False, True)
    assert (problem.called, problem.usage, len(harness.provider.prompts)) == (True, None, 1)


async def test_jitter_is_between_half_and_all(store: SqliteStore) -> None:
    harness = Harness(store, status(503), status(503), reply())
    harness.chance = 0.0
    await harness.ask()
    assert harness.clock.slept == [0.25, 0.5]


async def test_max_calls_bounds_the_retries(store: SqliteStore) -> None:
    harness = Harness(store, status(503))
    for most in (1, 2, 3):
        harness.provider.prompts.clear()
        problem = await failed(harness, max_calls=most)
        assert len(harness.provider.prompts) == most
        assert (problem.kind, problem.retryable, problem.terminal) == ("provider_unavailable", True, False)
        harness.change()


async def test_the_deadline_bounds_the_retries(store: SqliteStore) -> None:
    """Cases P02 and L06: a provider that never answers costs its deadline and not more, again and again."""
    harness = Harness(store, ProviderFailure("timeout", "no answer"))
    harness.provider.takes_ms = 2000
    for _ in range(20):
        before = harness.clock.ms
        problem = await failed(harness, total_timeout_ms=2000)
        assert (problem.kind, problem.retryable) in [("deadline", True), ("provider_unavailable", True)]
        assert harness.clock.ms - before <= 2000


async def test_time_left_is_what_the_provider_gets(store: SqliteStore) -> None:
    harness = Harness(store, status(503), reply())
    harness.provider.takes_ms = 1000
    await harness.ask(total_timeout_ms=10_000)
    assert [prompt.total_timeout_ms for prompt in harness.provider.prompts] == [10_000, 8_500]


async def test_a_provider_that_does_not_end_its_call_is_ended(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case P02: the deadline is ours, even where the provider does not keep it."""
    monkeypatch.setattr("afterturn.models.calls.BACKSTOP_SECONDS", 0.0)
    harness = Harness(store)
    harness.provider.gate.clear()
    problem = await failed(harness, total_timeout_ms=20, max_calls=1)
    assert problem.kind == "deadline"
    assert (harness.provider.cancelled, harness.provider.running) == (1, 0)


# -- Retry-After


async def test_retry_after_is_honoured(store: SqliteStore) -> None:
    harness = Harness(store, status(429, 7000), reply())
    await harness.ask()
    assert harness.clock.slept == [7.0]


async def test_retry_after_beyond_the_deadline_ends_the_call(store: SqliteStore) -> None:
    harness = Harness(store, status(429, 60_000), reply())
    problem = await failed(harness)
    assert (problem.kind, problem.retryable, harness.clock.slept) == ("provider_unavailable", True, [])
    assert problem.retry_after_ms == pytest.approx(60_000, abs=1)
    again = await failed(harness, "another prompt")
    assert (again.called, len(harness.provider.prompts)) == (False, 1)
    harness.clock.ms += 60_000
    assert (await harness.ask()).text == "fine"


async def test_a_model_that_asked_to_be_left_alone_is_shown_as_paused(store: SqliteStore) -> None:
    harness = Harness(store, status(429, retry_after_ms=120_000), reply())
    assert harness.pool.refusal(None) is None
    await failed(harness, "one")
    refusal = harness.pool.refusal(None)
    assert refusal is not None
    assert (refusal.terminal, refusal.left_seconds) == (False, 120)
    harness.clock.ms += 120_000
    assert harness.pool.refusal(None) is None


async def test_retry_after_does_not_count_against_the_breaker(store: SqliteStore) -> None:
    harness = Harness(store, *[status(429, 1000)] * 20, reply())
    for number in range(10):
        await failed(harness, f"{number}", max_calls=2)
    assert (await harness.ask()).text == "fine"


# -- the breaker


@pytest.mark.parametrize("code", [401, 402, 403, 404])
@pytest.mark.parametrize("concurrency", [1, 2, 8, 64])
async def test_p04_fifty_requests_against_a_wrong_key_make_two_calls(
    store: SqliteStore, code: int, concurrency: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Case P04, at once and one after the other."""
    harness = Harness(store, status(code), concurrency=concurrency)
    problems = await asyncio.gather(*(failed(harness, f"prompt {number}") for number in range(25)))
    for number in range(25):
        problems.append(await failed(harness, f"later {number}", purpose="recap"))
    assert len(harness.provider.prompts) <= 2
    assert {(problem.kind, problem.retryable, problem.terminal) for problem in problems} == {
        ("provider_error", False, True)
    }
    assert sum(problem.called for problem in problems) == len(harness.provider.prompts)
    assert len([each for each in caplog.records if each.levelname == "WARNING"]) == 1, "it is reported once"


async def test_new_settings_close_the_breaker(store: SqliteStore) -> None:
    harness = Harness(store, status(401), reply())
    await failed(harness)
    assert harness.pool.refusal(None) is not None
    harness.change(api_key_env="NEW_KEY")
    assert harness.pool.refusal(None) is None
    assert (await harness.ask()).text == "fine"


async def test_a_long_cool_down_lets_one_call_try(store: SqliteStore) -> None:
    harness = Harness(store, status(401), concurrency=8)
    await failed(harness)
    for rounds in (2, 3):
        harness.clock.ms += int(TERMINAL_SECONDS * 1000)
        await asyncio.gather(*(failed(harness, f"{number}") for number in range(10)))
        assert len(harness.provider.prompts) == rounds


async def test_a_success_after_the_cool_down_closes_it(store: SqliteStore) -> None:
    harness = Harness(store, status(401), reply())
    await failed(harness)
    harness.clock.ms += int(TERMINAL_SECONDS * 1000)
    assert (await harness.ask("one")).text == (await harness.ask("two")).text == "fine"


async def test_one_bad_request_is_its_own_fault_and_two_are_not(store: SqliteStore) -> None:
    harness = Harness(store, status(400), reply(), status(400), status(400))
    await failed(harness, "one")
    await harness.ask("two")
    await failed(harness, "three")
    await failed(harness, "four")
    problem = await failed(harness, "five")
    assert (problem.called, problem.terminal, len(harness.provider.prompts)) == (False, True, 4)


async def test_a_provider_that_is_down_is_left_alone_for_a_minute(store: SqliteStore) -> None:
    harness = Harness(store, *[status(503)] * 5, reply())
    for number in range(5):
        await failed(harness, f"{number}", max_calls=1)
    problem = await failed(harness)
    assert (problem.kind, problem.retryable, problem.called) == ("provider_unavailable", True, False)
    assert problem.retry_after_ms == pytest.approx(TRANSIENT_SECONDS * 1000, abs=2)
    harness.clock.ms += int(TRANSIENT_SECONDS * 1000)
    assert (await harness.ask()).text == "fine"


async def test_breakers_are_kept_apart_by_model(store: SqliteStore) -> None:
    harness = Harness(store, lambda prompt: status(404) if prompt.model == MODEL else reply(model=OTHER))
    await failed(harness)
    assert (await harness.ask(model=OTHER)).text == "fine"


# -- the fallback model


def down(prompt: object) -> Completion | Exception:
    return status(503) if getattr(prompt, "model", None) == MODEL else reply("from the other", model=OTHER)


async def test_an_outage_falls_to_the_other_model_within_the_call(store: SqliteStore) -> None:
    harness = Harness(store, down, fallback_model=OTHER)
    completion = await harness.ask()
    assert (completion.text, completion.model) == ("from the other", OTHER)
    assert harness.provider.models == [MODEL, MODEL, OTHER], "one call was kept back"


@pytest.mark.parametrize("code", [401, 402, 403, 404])
async def test_so_does_a_key_that_is_no_good(store: SqliteStore, code: int) -> None:
    harness = Harness(
        store, lambda prompt: status(code) if prompt.model == MODEL else reply(model=OTHER), fallback_model=OTHER
    )
    assert (await harness.ask()).model == OTHER


async def test_the_fallback_is_sticky_and_the_model_is_tried_every_ten_minutes(store: SqliteStore) -> None:
    harness = Harness(store, down, fallback_model=OTHER)
    await harness.ask("zero")
    for number in range(5):
        harness.provider.prompts.clear()
        await harness.ask(f"{number}")
        assert harness.provider.models == [OTHER]
    harness.clock.ms += int(PROBE_SECONDS * 1000)
    harness.provider.prompts.clear()
    await harness.ask("a probe")
    await harness.ask("none")
    assert harness.provider.models == [MODEL, MODEL, OTHER, OTHER]
    harness.clock.ms += int(PROBE_SECONDS * 1000)
    harness.provider.script = [lambda prompt: reply(model=prompt.model or "")]
    assert (await harness.ask("a probe that is answered")).model == MODEL
    assert (await harness.ask("back again")).model == MODEL


async def test_a_single_call_falls_over_with_the_next_one(store: SqliteStore) -> None:
    harness = Harness(store, down, fallback_model=OTHER)
    await failed(harness, "one", max_calls=1)
    assert (await harness.ask("two", max_calls=1)).model == OTHER


async def test_a_probe_leaves_time_for_the_other_model(store: SqliteStore) -> None:
    harness = Harness(store, down, fallback_model=OTHER)
    await harness.ask("zero")
    harness.clock.ms += int(PROBE_SECONDS * 1000)
    harness.provider.prompts.clear()
    await harness.ask("a probe", total_timeout_ms=40_000)
    assert harness.provider.prompts[0].total_timeout_ms == 20_000


async def test_where_both_are_down_the_last_one_is_told(store: SqliteStore) -> None:
    harness = Harness(store, lambda prompt: status(503 if prompt.model == MODEL else 401), fallback_model=OTHER)
    problem = await failed(harness)
    assert (problem.kind, problem.terminal) == ("provider_error", True)


async def test_new_settings_forget_the_outage(store: SqliteStore) -> None:
    harness = Harness(store, down, fallback_model=OTHER)
    await harness.ask("one")
    harness.provider.script = [reply()]
    harness.change(api_key_env="NEW")
    assert (await harness.ask("two")).model == MODEL


# -- the table


@pytest.mark.parametrize(
    ("failure", "name", "retry", "outage", "terminal"),
    [
        *[(status(code), "transient", True, True, False) for code in (408, 409, 429, 500, 503, 529, 599, 302)],
        *[(status(code), "settings", False, True, True) for code in (401, 402, 403, 404)],
        *[(status(code), "request", False, False, True) for code in (400, 405, 413, 422, 451)],
        (ProviderFailure("refused", "no"), "refused", False, True, False),
        (ProviderFailure("unavailable", "no"), "missing", False, True, False),
        (ProviderFailure("connection", "401 Unauthorized invalid api key"), "transient", True, True, False),
        (ProviderFailure("status", "rate limit 429", status=401), "settings", False, True, True),
    ],
)
def test_classes_are_by_status_and_never_by_text(
    failure: ProviderFailure, name: str, retry: bool, outage: bool, terminal: bool
) -> None:
    kind: FailureClass = classify(failure)
    assert (kind.name, kind.retry, kind.outage, kind.terminal) == (name, retry, outage, terminal)
