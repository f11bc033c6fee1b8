"""The client with the real server, as a child and inside of this process."""

import logging
import threading
import time
from collections.abc import Callable

import anyio
import anyio.lowlevel
import psutil
import pytest
from msgspec import convert, to_builtins

from afterturn_client import Afterturn, Listener, ServerError, TimedOut, UnknownEvent
from afterturn_client.connection import Connection
from afterturn_client.in_process import InProcess
from afterturn_protocol.capture import CaptureDone, CaptureFailed, Episode, EpisodeFinalizedParams
from afterturn_protocol.condense import (
    CondenseReady,
    CondenseResult,
    CondenseTurnEndParams,
)
from afterturn_protocol.context import RecapContext
from afterturn_protocol.lifecycle import (
    DidChangeConfigurationParams,
    LogMessageParams,
    RecapCapability,
    WorkDoneProgress,
)
from afterturn_protocol.recap import RecapFocusParams, RecapNowParams
from afterturn_protocol.refs import ResolveRefParams
from afterturn_protocol.sampling import CreateMessageParams, CreateMessageResult, GetContextParams
from afterturn_protocol.session import SessionOpenParams
from afterturn_protocol.settings import Settings
from tests.clients.python.sample import LOG, batch, summarize

pytestmark = pytest.mark.anyio

Start = Callable[..., Afterturn]
PATIENCE_SECONDS = 30


@pytest.fixture(params=["child", "in process"])
def start(request: pytest.FixtureRequest) -> Start:
    return Afterturn.start if request.param == "child" else Afterturn.in_process


def says(text: str) -> CreateMessageResult:
    return CreateMessageResult(text=text, stop_reason="stop", model="mine/one")


BULLET = "- [[1:bash]] `npm run build` failed at src/auth/jwt.ts:142 with TS2345"


async def test_calls_are_typed_both_ways(start: Start) -> None:
    async with start() as client:
        assert client.server.server_info.name == "afterturn"
        result = await client.condense.summarize(summarize())
        assert (result.outcome, [ref.short_id for ref in result.refs]) == ("summarized", ["t1"])
        found = await client.condense.resolve_ref(ResolveRefParams(session_id="s", refs=["t1"]))
        assert found.records[0].text == LOG
        assert await client.recap.on_focus(RecapFocusParams(session_id="s", focused=True)) is None
        assert (await client.afterturn.usage()).total.calls == 0
        assert (await client.traces.list()).traces == []


async def test_half_of_a_surrogate_pair_survives(start: Start) -> None:
    text = "cut \ud83d in the middle\n" * 100
    async with start() as client:
        await client.condense.summarize(summarize(text))
        found = await client.condense.resolve_ref(ResolveRefParams(session_id="s", refs=["t1"]))
        assert found.records[0].text == text


async def test_progress_is_told(start: Start) -> None:
    told: list[WorkDoneProgress] = []
    async with start() as client:
        await client.condense.summarize(summarize(), on_progress=told.append)
    assert (told[0].kind, told[-1].kind) == ("begin", "end")


async def test_plain_json_will_do(start: Start) -> None:
    told: list[WorkDoneProgress] = []
    params = to_builtins(summarize())
    async with start() as client:
        result = await client.call("condense/summarize", params, on_progress=told.append)
    assert (result.outcome, told[-1].kind) == ("summarized", "end")


async def test_waiting_for_what_never_comes_is_refused() -> None:
    async def callback(event: CondenseReady) -> None:
        raise AssertionError

    client = Afterturn.in_process()
    with pytest.raises(TypeError, match=r"CondenseResult is no event; there are .*CondenseReady"):
        client.listen(CondenseReady, CondenseResult)
    with pytest.raises(TypeError, match="is no event"):
        client.on(CondenseResult, lambda result: None)
    with pytest.raises(TypeError, match="plain function"):
        client.on(CondenseReady, callback)  # type: ignore[arg-type]


async def test_an_error_names_the_bad_field(start: Start) -> None:
    async with start() as client:
        with pytest.raises(ServerError) as caught:
            await client.call("condense/resolveRef", {"sessionId": "s", "refs": ["t1", 2]})
        assert (caught.value.code, caught.value.data.path) == (-32602, "$.refs[1]")
        with pytest.raises(ServerError, match="_new/thing"):
            await client.call("_new/thing")


async def test_events_are_typed_and_in_order(start: Start) -> None:
    called: list[CondenseReady] = []
    async with start() as client:
        ready, everything = client.listen(CondenseReady), client.listen()
        off = client.on(CondenseReady, called.append)
        await client.condense.on_turn_end(CondenseTurnEndParams(session_id="s", batch=batch(), final=True))
        event = await ready.next()
        assert event.result.items[0].replacement
        assert (await everything.next()) == event
        assert called == [event]
        off()
        with pytest.raises(TimedOut, match="CondenseReady"):
            await ready.next(timeout_ms=10)
    assert [event async for event in ready] == []


async def test_all_who_read_one_listener_end_with_the_client(start: Start) -> None:
    seen: list[CondenseReady] = []

    async def read(listener: Listener[CondenseReady]) -> None:
        async for event in listener:
            seen.append(event)

    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as tasks, start() as client:
            listener, probe = client.listen(CondenseReady), client.listen(CondenseReady)
            for _ in range(3):
                tasks.start_soon(read, listener)
            await client.condense.on_turn_end(CondenseTurnEndParams(session_id="s", batch=batch(), final=True))
            event = await probe.next()
    assert seen == [event]


async def test_several_kinds_of_events_at_once(start: Start) -> None:
    turns = [{"role": "user", "content": "x"}]
    episode = convert({"id": "e", "sessionId": "s", "startedAt": 1, "turns": turns}, Episode)
    async with start(settings={"embeddings": {"provider": "none"}}) as client:
        ends = client.listen(CaptureDone, CaptureFailed)
        accepted = await client.capture.episode_finalized(EpisodeFinalizedParams(episode=episode))
        end = await ends.next()
        assert isinstance(end, CaptureDone)
        assert end.job_id == accepted.job_id


async def test_a_plain_function_completes_prompts_in_a_thread(start: Start) -> None:
    asked: list[tuple[CreateMessageParams, int]] = []

    def complete(params: CreateMessageParams) -> CreateMessageResult:
        asked.append((params, threading.get_ident()))
        return says(BULLET)

    async with start(sampling=complete) as client:
        result = await client.condense.summarize(summarize())
        assert result.source == "model"
        assert result.usage is not None
        assert result.usage.model == "mine/one"
    assert [params.purpose for params, _ in asked] == ["condense.batch"]
    assert asked[0][1] != threading.get_ident()


async def test_a_coroutine_function_completes_prompts(start: Start) -> None:
    async def complete(params: CreateMessageParams) -> CreateMessageResult:
        await anyio.lowlevel.checkpoint()
        return says(BULLET)

    async with start(sampling=complete) as client:
        assert (await client.condense.summarize(summarize())).source == "model"


async def test_a_handler_that_fails_costs_the_models_text_and_tells_nothing(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    def complete(params: CreateMessageParams) -> CreateMessageResult:
        raise ValueError("key sk-ant-abc")

    async with start(sampling=complete) as client:
        result = await client.condense.summarize(summarize())
        assert (result.outcome, result.source) == ("summarized", "extractive")
        assert "sk-ant" not in str(result)
    assert "the handler of sampling/createMessage failed" in caplog.text


async def test_cancelling_the_caller_cancels_the_request_and_with_it_the_handler(start: Start) -> None:
    asked, withdrawn = anyio.Event(), anyio.Event()

    async def complete(params: CreateMessageParams) -> CreateMessageResult:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.set()
        raise AssertionError

    with anyio.fail_after(PATIENCE_SECONDS):
        async with start(sampling=complete) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.condense.summarize, summarize())
            await asked.wait()
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await withdrawn.wait()


async def test_the_context_is_asked_for(start: Start) -> None:
    asked: list[str] = []

    def context(params: GetContextParams) -> RecapContext:
        asked.append(params.session_id)
        return RecapContext(messages=[])

    async with start(context=context, recap=RecapCapability(can_show=True)) as client:
        await client.session.open(SessionOpenParams(session_id="s"))
        await client.recap.now(RecapNowParams(session_id="s"))
    assert asked == ["s"]


async def test_settings_of_either_form_and_what_is_wrong_with_them(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    async with start(settings={"condense": {"enabled": False}, "store": {"retentionDays": "x"}}) as client:
        assert (await client.condense.summarize(summarize())).outcome == "disabled"
        problems = (await client.afterturn.status()).settings_problems
        assert [problem.path for problem in problems] == ["store.retentionDays"]
        told = client.listen(LogMessageParams)
        await client.workspace.did_change_configuration(
            DidChangeConfigurationParams(settings={"afterturn": {"recap": {"auto": 5}}})
        )
        assert "recap.auto" in (await told.next()).message
    assert "store.retentionDays" in caplog.text
    assert "recap.auto" in caplog.text
    async with start(settings=Settings()) as client:
        assert (await client.afterturn.status()).settings_problems == []


async def test_calls_at_once_each_get_their_own_answer(start: Start) -> None:
    async with start() as client:
        texts: dict[int, str] = {}

        async def one(n: int) -> None:
            await client.condense.summarize(summarize(LOG * (n + 1), f"s{n}"))
            found = await client.condense.resolve_ref(ResolveRefParams(session_id=f"s{n}", refs=["t1"], limit=10**6))
            texts[n] = found.records[0].text

        async with anyio.create_task_group() as tasks:
            for n in range(20):
                tasks.start_soon(one, n)
        assert texts == {n: LOG * (n + 1) for n in range(20)}


async def test_a_large_message_passes(start: Start) -> None:
    text = "one line of a log that is long\n" * 300_000
    async with start() as client:
        await client.condense.summarize(summarize(text))
        found = await client.condense.resolve_ref(ResolveRefParams(session_id="s", refs=["t1"], limit=len(text)))
        assert found.records[0].text == text


async def test_two_servers_in_one_process_share_a_store() -> None:
    async with Afterturn.in_process() as one, Afterturn.in_process() as other:
        await one.condense.summarize(summarize())
        found = await other.condense.resolve_ref(ResolveRefParams(session_id="s", refs=["t1"]))
        assert found.records[0].text == LOG


async def test_in_process_a_closed_client_leaves_no_thread_and_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time, not most times: also where its thread is slow to return after the last thing it does."""
    serve = InProcess._serve

    def and_return_late(link: InProcess) -> None:
        serve(link)
        time.sleep(0.02)

    monkeypatch.setattr(InProcess, "_serve", and_return_late)
    before = psutil.Process().num_fds()
    for _ in range(3):
        async with Afterturn.in_process() as client:
            await client.afterturn.status()
        assert "afterturn" not in {thread.name for thread in threading.enumerate()}
    assert psutil.Process().num_fds() == before


async def test_in_process_the_handlers_of_signals_stay_the_programs() -> None:
    import gc
    import signal

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], gc.get_threshold()
    async with Afterturn.in_process() as client:
        await client.afterturn.status()
        during = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], gc.get_threshold()
    assert during == before


async def test_an_event_that_nobody_knows_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    async with Afterturn.in_process() as client:
        everything = client.listen()
        connection: Connection = client._opened().connection
        connection.receive(b'{"jsonrpc":"2.0","method":"moon.full","params":{"at":5}}')
        connection.receive(b'{"jsonrpc":"2.0","method":"condense.ready","params":{"sessionId":5}}')
        connection.receive(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what was that"}}')
        assert await everything.next() == UnknownEvent("moon.full", {"at": 5})
        with pytest.raises(TimedOut):
            await everything.next(timeout_ms=1)
    assert "condense.ready" in caplog.text
    assert "what was that" in caplog.text


async def test_a_callback_that_fails_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(event: object) -> None:
        raise ZeroDivisionError

    caplog.set_level(logging.ERROR)
    async with Afterturn.in_process() as client:
        client.on(CondenseReady, fail)
        ready = client.listen(CondenseReady)
        await client.condense.on_turn_end(CondenseTurnEndParams(session_id="s", batch=batch(), final=True))
        await ready.next()
        result = await client.condense.summarize(summarize("other " * 500), on_progress=fail)
        assert result.outcome == "summarized"
    assert "ZeroDivisionError" in caplog.text
