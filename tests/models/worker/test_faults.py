"""Each fault of a provider becomes one failure by what happened, never by its words; nothing is asked twice."""

import time
from typing import Any

import pytest

from afterturn_protocol.settings import ModelsSettings
from tests.models.worker.rig import ANTHROPIC, OPENAI, Rig, failure_of, prompt
from tests.provider.answers import (
    Answer,
    calls_tools,
    drips,
    echoes_key,
    fails,
    hangs_up,
    html,
    http_date,
    malformed,
    redirects,
    resets,
    stalls,
)
from tests.provider.server import ScriptedProvider
from tests.redact.fakes import KEYS

BOTH = pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
STATUSES = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529]
TWELVE = [examples[0] for examples in list(KEYS.values())[:12]]


@BOTH
@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_the_providers_own(rig: Rig, model: str, status: int) -> None:
    rig.server.script(fails(status))
    failure = rig.fail(model)
    assert (failure.kind, failure.status, failure.called) == ("status", status, True)
    assert len(rig.server.requests) == 1


@BOTH
@pytest.mark.parametrize(
    ("answer", "kind", "status"),
    [
        pytest.param(html(), "malformed", None, id="html"),
        pytest.param(html(502), "status", 502, id="html-502"),
        pytest.param(malformed(), "malformed", None, id="json-cut"),
        pytest.param(malformed(500), "status", 500, id="json-cut-500"),
        pytest.param(calls_tools(), "malformed", None, id="tools"),
        pytest.param(resets("before"), "connection", None, id="reset-before"),
        pytest.param(resets("middle"), "connection", None, id="reset-middle"),
        pytest.param(hangs_up("before"), "connection", None, id="hang-up-before"),
        pytest.param(hangs_up("middle"), "connection", None, id="hang-up-middle"),
        pytest.param(redirects("http://127.0.0.1:1/v1/other"), "status", 307, id="redirect"),
    ],
)
def test_other_faults(rig: Rig, model: str, answer: Answer, kind: str, status: int | None) -> None:
    rig.server.script(answer)
    failure = rig.fail(model)
    assert (failure.kind, failure.status, failure.called) == (kind, status, True)
    assert len(rig.server.requests) == 1


@BOTH
def test_nobody_listens(rig: Rig, model: str) -> None:
    with ScriptedProvider() as closed:
        base = closed.url
    rig.settings = ModelsSettings(api_base=base)
    failure = rig.run(failure_of(rig.provider.complete(prompt(model))))
    assert (failure.kind, failure.called) == ("connection", False)


def test_settings_that_cannot_even_reach_the_worker(rig: Rig) -> None:
    failure = rig.fail("openai/\ud83d")
    assert (failure.kind, failure.called) == ("unavailable", False)
    assert rig.ask().text == "fine"


@pytest.mark.parametrize("model", ["nobodys/model", "plain-name", None])
def test_a_model_that_nobody_serves(rig: Rig, model: str | None) -> None:
    failure = rig.run(failure_of(rig.provider.complete(prompt(model))))
    assert (failure.kind, failure.called) == ("unavailable", False)
    assert rig.server.requests == []


@BOTH
@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("7", 7000, 7000),
        ("0.5", 500, 500),
        (http_date(7200), 3_600_000, 7_200_000),
        (http_date(-5), 0, 0),
        ("soon", None, None),
    ],
    ids=["seconds", "fraction", "date", "past", "nonsense"],
)
def test_retry_after(rig: Rig, model: str, value: str, least: int | None, most: int | None) -> None:
    rig.server.script(fails(429, retry_after=value))
    wait = rig.fail(model).retry_after_ms
    assert wait is None if least is None or most is None else wait is not None and least <= wait <= most


@BOTH
@pytest.mark.parametrize("key", TWELVE, ids=list(KEYS)[:12])
def test_keys_stay_out_of_failures(rig: Rig, model: str, key: str, capfd: Any) -> None:
    """Keys in error bodies, as the key that was sent and as one the provider made up (case S04)."""
    rig.server.script(echoes_key(401), fails(400, error=f"bad ?key={key} Authorization: Bearer {key}"))
    rig.server.script(Answer(raw=f"data: {{{key}".encode()))
    for status in (401, 400, None):
        failure = rig.fail(model)
        assert failure.status == status
        for text in (str(failure), repr(failure), failure.message, repr(failure.__cause__), repr(failure.__context__)):
            assert key not in text
            assert "key-of-the-test" not in text
    assert capfd.readouterr() == ("", "")


# -- deadlines


@BOTH
@pytest.mark.parametrize("where", ["before", "middle"])
def test_silence_costs_the_idle_limit_again_and_again(rig: Rig, model: str, where: Any) -> None:
    rig.ask(model)
    rig.server.otherwise = stalls(where)
    worker, before = rig.worker, len(rig.server.requests)
    for _ in range(5):
        failure = rig.fail(model, idle_ms=150)
        assert (failure.kind, failure.called) == ("timeout", True)
    assert rig.worker == worker, "the worker had to be killed"
    # One whose request had not left when its time was up is none of the provider's.
    silent = rig.server.requests[before:]
    assert len(silent) <= 5
    for request in silent:
        request.wait_gone()
    rig.server.otherwise = fails(500)
    rig.fail(model)


@BOTH
def test_a_slow_drip_is_not_silence(rig: Rig, model: str) -> None:
    rig.server.script(drips("one two three four five six", 0.25))
    assert rig.ask(model, idle_ms=1500).text == "one two three four five six"


@BOTH
def test_a_slow_drip_ends_at_the_total_limit(rig: Rig, model: str) -> None:
    rig.server.script(drips("word " * 100, 0.05))
    started = time.monotonic()
    failure = rig.fail(model, idle_ms=5000, total_ms=1000)
    assert failure.kind == "timeout"
    assert time.monotonic() - started >= 1.0
    rig.server.requests[0].wait_gone()


@BOTH
def test_cancelling_closes_the_connection(rig: Rig, model: str) -> None:
    import asyncio

    rig.server.script(stalls("middle"))

    async def cancelled() -> None:
        task = asyncio.create_task(rig.complete(prompt(model)))
        await rig.server.requested(1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    rig.run(cancelled())
    rig.server.requests[0].wait_gone()
    rig.ask(model)


def test_nothing_is_left_of_calls_that_timed_out() -> None:
    with ScriptedProvider() as server, Rig(server) as rig:
        server.otherwise = stalls("before")
        for _ in range(3):
            assert rig.fail(OPENAI, idle_ms=100).kind == "timeout"
        server.wait_no_connections()
        worker = rig.worker
        assert worker.net_connections("inet") == []
        assert worker.children() == []
        rig.run(rig.provider.close())
        assert not worker.is_running()
