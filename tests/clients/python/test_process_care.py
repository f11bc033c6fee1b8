"""A server may crash, hang, flood or lie: each call still ends, in time, with an error that says what happened."""

import asyncio
import copy
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import psutil
import pytest

from afterturn_client import (
    Afterturn,
    BadParams,
    Broken,
    Congested,
    Exited,
    NotOpen,
    ServerError,
    ServerNotFound,
    TimedOut,
    WrongVersion,
    pump,
)
from afterturn_client.errors import AfterturnError
from afterturn_protocol.condense import FlushParams, PlanParams
from afterturn_protocol.context import RecapContext
from afterturn_protocol.errors import ErrorData
from afterturn_protocol.sampling import GetContextParams

pytestmark = pytest.mark.anyio

STUB = [sys.executable, "-I", str(Path(__file__).parent / "stub.py")]
FLUSH = FlushParams(session_id="s")
PATIENCE_SECONDS = 30


def stub(mode: str, **options: Any) -> Afterturn:
    return Afterturn.start([*STUB, mode], **options)


def pid_of(client: Afterturn) -> int:
    return client._opened().link.pid  # type: ignore[attr-defined, no-any-return]


@asynccontextmanager
async def bounded() -> AsyncGenerator[None]:
    with anyio.fail_after(PATIENCE_SECONDS):
        yield


async def test_a_start_that_crashes_says_what_it_said() -> None:
    async with bounded():
        with pytest.raises(Exited, match="no module named afterturn") as caught:
            async with stub("crash-at-start"):
                pytest.fail("it did not start")
    assert caught.value.code == 3


async def test_a_start_that_never_comes_is_given_up_and_the_child_ended() -> None:
    client = stub("mute", timeout_ms=300)
    async with bounded():
        with pytest.raises(TimedOut, match="initialize"):
            await client.__aenter__()
    with pytest.raises(ProcessLookupError):
        os.kill(pid_of(client), 0)


async def test_a_crash_ends_every_open_call_and_every_later_one() -> None:
    problems: list[AfterturnError] = []

    async def call(client: Afterturn) -> None:
        with pytest.raises(AfterturnError) as caught:
            await client.condense.flush(FLUSH)
        problems.append(caught.value)

    async with bounded(), stub("crash") as client:
        listener = client.listen()
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call, client)
        await call(client)
        with pytest.raises(Exited):
            await listener.next()
        assert "disk on fire" in client.last_words
    assert [(type(each), each.code) for each in problems if isinstance(each, Exited)] == [(Exited, 9)] * 6
    assert all("disk on fire" in str(each) for each in problems)


async def test_an_error_that_comes_again_and_again_holds_on_to_nobody() -> None:
    async with bounded(), stub("crash") as client:
        depths: list[int] = []
        for _ in range(3):
            with pytest.raises(Exited) as caught:
                await client.condense.flush(FLUSH)
            depths.append(len(caught.traceback))
    assert depths[1] == depths[2]


@pytest.mark.parametrize(
    "problem",
    [
        Exited(9, "disk on fire"),
        TimedOut("condense/flush", 50),
        ServerError("condense/flush", -32803, "no", ErrorData(kind="busy", retryable=True)),
        WrongVersion("another version", [7]),
        NotOpen("the client is closed"),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_an_error_can_be_copied_and_sent_to_another_process(problem: AfterturnError) -> None:
    for twin in (copy.copy(problem), pickle.loads(pickle.dumps(problem))):
        assert (type(twin), str(twin), vars(twin)) == (type(problem), str(problem), vars(problem))


async def test_a_hang_ends_at_the_calls_own_limit_and_is_cancelled_there() -> None:
    async with bounded(), stub("hang") as client:
        with pytest.raises(TimedOut, match="condense/flush"):
            await client.condense.flush(FLUSH, timeout_ms=50)
        plan = await client.condense.plan(PlanParams(session_id="s"))
        assert plan.plan_hash == "['call-2']"


async def test_a_late_answer_is_nobodys() -> None:
    async with bounded(), stub("late") as client:
        for _ in range(3):
            with pytest.raises(TimedOut):
                await client.condense.flush(FLUSH, timeout_ms=50)
            assert (await client.condense.plan(PlanParams(session_id="s"))).replacements == []


async def test_only_the_first_answer_counts() -> None:
    async with bounded(), stub("double") as client:
        assert [(await client.condense.flush(FLUSH)).batches for _ in range(3)] == [1, 1, 1]


async def test_two_questions_under_one_id_are_both_answered() -> None:
    asked = anyio.Semaphore(0)

    async def context(params: GetContextParams) -> RecapContext:
        asked.release()
        return RecapContext(messages=[])

    async with bounded(), stub("same-id", context=context) as client:
        for _ in range(2):
            await client.condense.flush(FLUSH)
            for _ in range(2):
                await asked.acquire()


async def test_a_handler_that_is_cancelled_by_others_costs_its_answer_only() -> None:
    async def context(params: GetContextParams) -> RecapContext:
        raise asyncio.CancelledError

    async with bounded(), stub("asks", context=context) as client:
        for _ in range(2):
            assert (await client.condense.flush(FLUSH)).batches == 32603


async def test_a_flooded_stderr_stops_nothing_and_only_its_end_is_kept() -> None:
    async with bounded(), stub("flood") as client:
        for _ in range(3):
            await client.condense.flush(FLUSH)
        assert len(client.last_words) <= 8192


@pytest.mark.parametrize("mode", ["short-length", "huge-length", "no-json", "stray-print"])
async def test_a_stream_that_is_no_protocol_ends_the_connection(mode: str) -> None:
    async with bounded(), stub(mode) as client:
        with pytest.raises(Broken, match="no message"):
            await client.condense.flush(FLUSH)
        with pytest.raises(Broken):
            await client.condense.flush(FLUSH)
        assert not psutil.pid_exists(pid_of(client))


async def test_a_length_too_long_costs_the_time_limit_and_no_more() -> None:
    async with bounded(), stub("long-length") as client:
        with pytest.raises(TimedOut):
            await client.condense.flush(FLUSH, timeout_ms=100)


@pytest.mark.parametrize("mode", ["misfit", "neither"])
async def test_a_result_that_does_not_fit_costs_that_call(mode: str) -> None:
    async with bounded(), stub(mode) as client:
        with pytest.raises(Broken, match="condense/flush"):
            await client.condense.flush(FLUSH)
        assert (await client.condense.plan(PlanParams(session_id="s"))).blocks == []


async def test_one_that_closes_its_output_is_ended() -> None:
    async with bounded(), stub("closed-output") as client:
        with pytest.raises(Exited):
            await client.condense.flush(FLUSH)
        assert not psutil.pid_exists(pid_of(client))


async def test_what_it_left_behind_cannot_hold_the_pipes_open() -> None:
    async with bounded(), stub("orphan") as client:
        with pytest.raises(Exited) as caught:
            await client.condense.flush(FLUSH)
    assert caught.value.code == 4
    os.kill(int(caught.value.last_words), signal.SIGKILL)


async def test_one_that_does_not_read_is_given_up() -> None:
    large = "x" * 900_000
    async with bounded(), stub("deaf") as client:
        for _ in range(3):
            with pytest.raises(TimedOut):
                await client.condense.flush(FlushParams(session_id=large), timeout_ms=50)


async def test_what_nobody_reads_is_kept_up_to_a_limit_only() -> None:
    async def flood(client: Afterturn) -> None:
        for _ in range(100):
            await client.notify("session/changed", {"sessionId": "x" * 900_000, "kind": "message"})

    async with bounded(), stub("deaf") as client:
        with pytest.raises(TimedOut):
            await client.condense.flush(FLUSH, timeout_ms=50)
        with pytest.raises(Congested):
            await flood(client)


async def test_one_that_ignores_everything_is_killed() -> None:
    async with bounded():
        async with stub("stubborn") as client:
            await client.condense.flush(FLUSH)
        assert not psutil.pid_exists(pid_of(client))


async def test_an_error_is_typed() -> None:
    async with bounded(), stub("error") as client:
        with pytest.raises(ServerError) as caught:
            await client.condense.flush(FLUSH)
    problem = caught.value
    assert (problem.code, problem.kind, problem.retryable, problem.data.retry_after_ms) == (-32803, "busy", True, 5)


async def test_another_version_of_the_protocol_is_named() -> None:
    async with bounded():
        with pytest.raises(WrongVersion, match="version 1") as caught:
            await stub("other-version").__aenter__()
    assert caught.value.supported == [7]


@pytest.mark.parametrize("params", [{"x": object()}, {"x": float}, "y" * 2_000_000], ids=["object", "type", "large"])
async def test_what_cannot_be_sent_costs_that_call(params: Any) -> None:
    async with bounded(), stub("good") as client:
        with pytest.raises(BadParams):
            await client.call("condense/flush", params)
        assert (await client.condense.flush(FLUSH)).batches == 1


@pytest.mark.parametrize("params", [FLUSH, [1]], ids=["a struct without a token", "a list"])
async def test_progress_of_what_reports_none_is_refused(params: Any) -> None:
    async with bounded(), stub("well") as client:
        with pytest.raises(BadParams, match="progress token"):
            await client.call("condense/flush", params, on_progress=print)


async def test_a_closed_client_says_so() -> None:
    async with bounded():
        with pytest.raises(NotOpen):
            await stub("good").condense.flush(FLUSH)
        async with stub("good") as client:
            pass
        with pytest.raises(NotOpen, match="closed"):
            await client.condense.flush(FLUSH)
        with pytest.raises(NotOpen):
            await client.__aenter__()


async def test_what_is_under_way_when_the_client_closes_ends_with_that() -> None:
    async def call(client: Afterturn) -> None:
        with pytest.raises(NotOpen, match="closed"):
            await client.condense.flush(FLUSH)

    async with bounded(), anyio.create_task_group() as tasks, stub("hang") as client:
        tasks.start_soon(call, client)
        await client.condense.plan(PlanParams(session_id="s"))


async def test_a_program_that_cannot_be_started() -> None:
    with pytest.raises(ServerNotFound, match="/no/such/afterturn"):
        await Afterturn.start(["/no/such/afterturn"]).__aenter__()


async def test_what_the_body_raises_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with stub("good"):
            raise ZeroDivisionError


async def test_cancelling_the_program_around_it_ends_the_child() -> None:
    async with bounded():
        with anyio.CancelScope() as scope:
            async with stub("good") as client:
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught
        assert not psutil.pid_exists(pid_of(client))


async def test_a_time_limit_that_comes_while_it_closes_leaves_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "GRACE_SECONDS", 0.1)
    async with bounded():
        client = stub("stubborn")
        await client.__aenter__()
        closing = asyncio.create_task(client.__aexit__())
        await anyio.lowlevel.checkpoint()
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
    assert not psutil.pid_exists(pid_of(client))


async def test_clients_are_opened_and_closed_in_any_order_and_by_any_task() -> None:
    async with bounded():
        first = await asyncio.create_task(stub("good").__aenter__())
        second = await asyncio.wait_for(stub("good").__aenter__(), PATIENCE_SECONDS)
        await first.__aexit__()
        await first.__aexit__()
        assert (await second.condense.flush(FLUSH)).batches == 1
        await asyncio.create_task(second.__aexit__())
    assert not psutil.pid_exists(pid_of(first))
    assert not psutil.pid_exists(pid_of(second))


async def test_it_is_opened_once_also_by_two_at_once() -> None:
    async with bounded():
        client = stub("good")
        one, other = await asyncio.gather(client.__aenter__(), client.__aenter__(), return_exceptions=True)
        assert (one, type(other)) == (client, NotOpen)
        await client.__aexit__()


async def test_a_program_that_cancels_all_its_tasks_ends_the_child_and_every_call() -> None:
    async with bounded(), stub("hang") as client:
        call = asyncio.create_task(client.condense.flush(FLUSH))
        await client.condense.plan(PlanParams(session_id="s"))
        for task in asyncio.all_tasks() - {asyncio.current_task(), call}:
            if task.get_name().startswith("afterturn"):
                task.cancel()
        with pytest.raises(NotOpen, match="cancelled"):
            await call
    assert not psutil.pid_exists(pid_of(client))


PROGRAM = """
import asyncio, sys
from afterturn_client import Afterturn

async def main():
    async with Afterturn.start() as client:
        print((await client.afterturn.status()).process.pid, flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_server_outlives_the_program(number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as program:
        assert program.stdout is not None
        server = psutil.Process(int(program.stdout.readline()))
        program.send_signal(number)
        program.wait(PATIENCE_SECONDS)
        server.wait(PATIENCE_SECONDS)


async def test_a_child_hears_no_interrupt_of_the_terminal() -> None:
    async with bounded(), stub("good") as client:
        assert os.getpgid(pid_of(client)) != os.getpgid(0)
