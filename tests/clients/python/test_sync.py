"""The blocking twin: the same client for code without an event loop, and for many threads at once."""

import asyncio
import errno
import inspect
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

from afterturn_client import Afterturn as AsyncAfterturn
from afterturn_client import Exited, NotOpen, ServerNotFound, TimedOut, nouns, sync_nouns
from afterturn_client.sync import Afterturn
from afterturn_protocol.condense import CondenseReady, CondenseTurnEndParams, FlushParams
from afterturn_protocol.lifecycle import DidChangeConfigurationParams, WorkDoneProgress
from afterturn_protocol.refs import ResolveRefParams
from afterturn_protocol.sampling import CreateMessageParams, CreateMessageResult
from tests.clients.python.sample import LOG, batch, summarize
from tests.clients.python.test_process_care import STUB

PATIENCE_SECONDS = 30
TURN_END = CondenseTurnEndParams(session_id="s", batch=batch(), final=True)


@pytest.mark.parametrize("start", [Afterturn.start, Afterturn.in_process], ids=["child", "in process"])
def test_the_same_calls_events_and_handlers(start: Any) -> None:
    told: list[WorkDoneProgress] = []

    def complete(params: CreateMessageParams) -> CreateMessageResult:
        return CreateMessageResult(text="- [[1:bash]] failed with TS2345", stop_reason="stop", model="mine/one")

    with start(sampling=complete) as client:
        assert client.server.server_info.name == "afterturn"
        ready = client.listen(CondenseReady)
        assert client.condense.summarize(summarize(), on_progress=told.append).source == "model"
        client.condense.on_turn_end(CondenseTurnEndParams(session_id="t", batch=batch(), final=True))
        assert ready.next().session_id == "t"
        client.workspace.did_change_configuration(
            DidChangeConfigurationParams(settings={"afterturn": {"condense": {"enabled": False}}})
        )
        assert client.condense.summarize(summarize("other" * 999)).outcome == "disabled"
    assert told[-1].kind == "end"
    with pytest.raises(NotOpen):
        client.condense.flush(FlushParams(session_id="s"))


def test_many_threads_use_one_client() -> None:
    with Afterturn.start() as client, ThreadPoolExecutor(8) as threads:

        def one(n: int) -> str:
            client.condense.summarize(summarize(LOG * (n + 1), f"s{n}"))
            params = ResolveRefParams(session_id=f"s{n}", refs=["t1"], limit=10**6)
            return client.condense.resolve_ref(params).records[0].text

        assert list(threads.map(one, range(24))) == [LOG * (n + 1) for n in range(24)]


def test_a_thread_that_listens_ends_with_the_client() -> None:
    seen: list[CondenseReady] = []
    with Afterturn.in_process() as client:
        listener = client.listen(CondenseReady)
        thread = threading.Thread(target=lambda: seen.extend(listener))
        thread.start()
        probe = client.listen(CondenseReady)
        client.condense.on_turn_end(TURN_END)
        probe.next()
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()
    assert [event.session_id for event in seen] == ["s"]


def test_events_that_had_come_are_read_after_the_end() -> None:
    with Afterturn.in_process() as client:
        listener, probe = client.listen(CondenseReady), client.listen(CondenseReady)
        client.condense.on_turn_end(TURN_END)
        event = probe.next()
    assert list(listener) == [event]
    with pytest.raises(NotOpen):
        listener.next()


def test_failures_are_the_same_errors() -> None:
    with Afterturn.start([*STUB, "hang"]) as client, pytest.raises(TimedOut):
        client.condense.flush(FlushParams(session_id="s"), timeout_ms=50)
    with Afterturn.start([*STUB, "crash"]) as client, pytest.raises(Exited, match="disk on fire"):
        client.condense.flush(FlushParams(session_id="s"))
    with pytest.raises(Exited, match="no module named afterturn"), Afterturn.start([*STUB, "crash-at-start"]):
        pytest.fail("it did not start")
    with pytest.raises(ServerNotFound), Afterturn.start(["/no/such/afterturn"]):
        pytest.fail("it did not start")
    with pytest.raises(NotOpen):
        Afterturn.start().condense.flush(FlushParams(session_id="s"))


def test_where_no_loop_can_be_made_nobody_waits_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_descriptors() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(asyncio.events, "new_event_loop", no_descriptors)
    with pytest.raises(OSError, match="Too many open files"), Afterturn.start([*STUB, "good"]):
        pytest.fail("it did not start")


def test_what_the_body_raises_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError), Afterturn.start([*STUB, "good"]):
        raise ZeroDivisionError


def test_a_callback_that_calls_the_client_is_refused_and_not_hung() -> None:
    refused: list[NotOpen] = []

    def callback(event: CondenseReady) -> None:
        try:
            client.afterturn.status()
        except NotOpen as problem:
            refused.append(problem)

    with Afterturn.in_process() as client:
        ready = client.listen(CondenseReady)
        client.on(CondenseReady, callback)
        client.condense.on_turn_end(TURN_END)
        ready.next()
        assert client.afterturn.status().version
    assert len(refused) == 1


PROGRAM = """
import sys
from afterturn_client.sync import Afterturn
from afterturn_protocol.condense import FlushParams

with Afterturn.start(sys.argv[1:]) as client:
    print(client._client._opened().link.pid, flush=True)
    client.condense.flush(FlushParams(session_id="s"))
"""


def test_an_interrupt_ends_the_call_and_the_server() -> None:
    command = [sys.executable, "-c", PROGRAM, *STUB, "hang"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        server = psutil.Process(int(program.stdout.readline()))
        program.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in program.stderr.read()
        server.wait(PATIENCE_SECONDS)


UNFINISHED = """
from afterturn_client.sync import Afterturn

client = Afterturn.{start}().__enter__()
print(client.afterturn.status().process.pid)
"""


@pytest.mark.parametrize("start", ["start", "in_process"])
def test_a_program_that_never_leaves_the_block_ends_all_the_same(start: str) -> None:
    command = [sys.executable, "-c", UNFINISHED.format(start=start)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    assert done.stderr == ""
    assert not psutil.pid_exists(int(done.stdout))


FORKED = """
import os, sys
from afterturn_client import NotOpen
from afterturn_client.sync import Afterturn

with Afterturn.{start}() as client:
    if os.fork() == 0:
        try:
            client.afterturn.status()
        except NotOpen as problem:
            print(problem)
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.wait()[1]), bool(client.afterturn.status().version))
"""


@pytest.mark.parametrize("start", ["start", "in_process"])
def test_a_fork_of_the_program_neither_uses_the_client_nor_waits_for_its_end(start: str) -> None:
    # Newer Pythons warn of forks of a program with threads, which this is about.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED.format(start=start)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as program:
        try:
            printed, complained = program.communicate(timeout=PATIENCE_SECONDS)
        finally:
            if program.returncode is None:
                os.killpg(program.pid, signal.SIGKILL)
    lines = printed.splitlines()
    assert "forked" in lines[0]
    assert (lines[1:], complained) == (["7 True"], "")


def calls_of(module: Any, prefix: str) -> dict[str, list[inspect.Parameter]]:
    return {
        f"{name.removeprefix(prefix)}.{verb}": list(inspect.signature(function).parameters.values())
        for name, noun in vars(module).items()
        if isinstance(noun, type) and noun.__module__ == module.__name__
        for verb, function in vars(noun).items()
        if inspect.isfunction(function) and verb != "__init__"
    }


def test_the_twins_have_the_same_calls() -> None:
    asynchronous = calls_of(nouns, "")
    assert len(asynchronous) >= 30
    assert calls_of(sync_nouns, "Sync") == asynchronous


def test_the_twins_start_alike() -> None:
    assert inspect.signature(Afterturn.start, follow_wrapped=False).parameters.keys() == {"args", "kwargs"}
    assert Afterturn.start.__doc__ == AsyncAfterturn.start.__doc__
    own = {name for name in vars(AsyncAfterturn) if not name.startswith("_")}
    assert own - {"timeout_ms"} <= {name for name in vars(Afterturn) if not name.startswith("_")}
