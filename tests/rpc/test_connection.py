"""One client's requests: each answered exactly once, in whatever way a handler behaves."""

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from afterturn.rpc.call import Call
from afterturn.rpc.connection import MAX_IN_FLIGHT, Connection
from afterturn.rpc.errors import RequestError, RequestFailed
from afterturn.rpc.lifecycle import State
from afterturn.rpc.routes import Route
from afterturn.wire.framing import make_framing

PATIENCE_SECONDS = 10


class Params(Struct, rename="camel"):
    session_id: str = "s"
    value: Any = None
    work_done_token: int | str | None = None


class Peer:
    """The client's side of a connection in memory."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.exit_codes: list[int] = []
        self._arrived = asyncio.Event()
        self.full = False
        self.holds = 0
        self.connection = Connection(
            make_framing("ndjson", 1 << 20), self, on_exit=self.exit_codes.append, on_hold=self._hold
        )
        self.connection.state = State.READY

    def _hold(self) -> None:
        self.holds += 1

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))
        self._arrived.set()

    def method(self, name: str, handler: Any, **route: Any) -> None:
        self.connection.routes[name] = Route(name, lambda: (Params, handler), **route)

    def send(self, *messages: Any) -> None:
        self.connection.feed(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def ask(self, method: str, id: int | str = 1, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answers(self, id: int | str) -> list[dict[str, Any]]:
        return [message for message in self.sent if message.get("id") == id and "method" not in message]

    async def answer(self, id: int | str = 1) -> dict[str, Any]:
        with anyio.fail_after(PATIENCE_SECONDS):
            while not self.answers(id):
                self._arrived.clear()
                await self._arrived.wait()
        assert len(self.answers(id)) == 1
        return self.answers(id)[0]


def run(test: Callable[[Peer], Awaitable[None]]) -> Peer:
    """Run `test` against a connection whose tasks run, and end it."""

    async def main() -> Peer:
        peer = Peer()
        try:
            with anyio.fail_after(PATIENCE_SECONDS * 3):
                await test(peer)
                # What was asked for last begins to run, so that its coroutine is ended rather than dropped.
                await anyio.wait_all_tasks_blocked()
        finally:
            await peer.connection.cancel_tasks(PATIENCE_SECONDS)
        return peer

    return asyncio.run(main())


def raising(problem: BaseException) -> Any:
    def handle(params: Params, call: Call) -> Any:
        raise problem

    return handle


def later(handler: Any) -> Any:
    async def handle(params: Params, call: Call) -> Any:
        await anyio.lowlevel.checkpoint()
        return handler(params, call)

    return handle


def stubborn_until(release: asyncio.Event) -> Any:
    """A handler that ignores cancellation until it is let go."""

    async def handle(params: Params, call: Call) -> str:
        with anyio.CancelScope(shield=True):
            await release.wait()
        return "late"

    return handle


class Domain(Exception):
    kind = "store_unavailable"
    retryable = True
    retry_after_ms = 50


@pytest.mark.req("errors.internal")
@pytest.mark.req("errors.domain-failure")
@pytest.mark.req("invariant.nothing-leaks-in-errors")
@pytest.mark.req("invariant.answered-once")
@pytest.mark.parametrize("inline", [True, False], ids=["inline", "task"])
@pytest.mark.parametrize(
    ("handler", "code", "kind"),
    [
        pytest.param(raising(ValueError("secret /home/me")), -32603, "internal", id="a bug"),
        pytest.param(raising(KeyError("k")), -32603, "internal", id="another bug"),
        pytest.param(raising(SystemExit(3)), -32603, "internal", id="tries to exit"),
        pytest.param(raising(KeyboardInterrupt()), -32603, "internal", id="pretends Ctrl+C"),
        pytest.param(raising(GeneratorExit()), -32603, "internal", id="generator exit"),
        pytest.param(raising(asyncio.CancelledError()), -32603, "internal", id="cancels itself"),
        pytest.param(raising(ExceptionGroup("g", [ValueError()])), -32603, "internal", id="a group"),
        pytest.param(raising(RecursionError()), -32603, "internal", id="too deep"),
        pytest.param(raising(RequestFailed("conflict", "no")), -32803, "conflict", id="domain failure"),
        pytest.param(raising(Domain("no store")), -32803, "store_unavailable", id="failure known by its attributes"),
        pytest.param(raising(RequestError(-32803, "x")), -32803, None, id="error without data"),
        pytest.param(lambda params, call: object(), -32603, "internal", id="unserialisable"),
        pytest.param(lambda params, call: {1, "a", (2,)}, None, None, id="a set is an array"),
        pytest.param(lambda params, call: {("a", 1): 2}, -32603, "internal", id="unserialisable key"),
        pytest.param(lambda params, call: None, None, None, id="nothing"),
    ],
)
def test_whatever_a_handler_does_costs_its_own_request(
    handler: Any, code: int | None, kind: str | None, inline: bool
) -> None:
    async def scenario(peer: Peer) -> None:
        peer.method("bad", handler if inline else later(handler))
        peer.method("good", lambda params, call: {"fine": True})
        peer.ask("bad", 1)
        peer.ask("good", 2)
        answer = await peer.answer(1)
        assert "secret" not in json.dumps(answer)
        assert answer.get("error", {}).get("code") == code
        assert answer.get("error", {}).get("data", {}).get("kind") == kind
        assert (await peer.answer(2))["result"] == {"fine": True}

    run(scenario)


@pytest.mark.req("errors.unknown-method")
@pytest.mark.req("errors.unknown-notification")
def test_unknown_methods() -> None:
    async def scenario(peer: Peer) -> None:
        peer.ask("no/such", 1)
        peer.notify("no/such")
        peer.notify("$/whatever")
        assert (await peer.answer(1))["error"]["code"] == -32601
        assert len(peer.sent) == 1

    run(scenario)


@pytest.mark.req("lifecycle.id-in-use")
def test_an_id_in_use_is_refused_and_free_again_after_its_answer() -> None:
    async def scenario(peer: Peer) -> None:
        release = asyncio.Event()

        async def wait(params: Params, call: Call) -> str:
            await release.wait()
            return "done"

        peer.method("wait", wait)
        peer.ask("wait", "x")
        peer.ask("wait", "x")
        assert [answer["error"]["code"] for answer in peer.answers("x")] == [-32600]
        peer.sent.clear()
        release.set()
        assert (await peer.answer("x"))["result"] == "done"
        peer.sent.clear()
        peer.ask("wait", "x")
        assert (await peer.answer("x"))["result"] == "done"

    run(scenario)


def test_what_says_nothing_is_answered_before_its_turn_and_takes_effect_in_it() -> None:
    async def scenario(peer: Peer) -> None:
        release = anyio.Event()
        order: list[Any] = []

        async def slow(params: Params, call: Call) -> None:
            await release.wait()
            order.append("slow")

        def tell(params: Params, call: Call) -> None:
            order.append(params.value)
            call.after_reply(lambda: call.out.notify("told", params.value))

        peer.method("slow", slow, ordered=True)
        peer.method("tell", tell, ordered=True, at_once=True)
        peer.ask("tell", "free", value=0)
        peer.ask("slow", "slow")
        peer.ask("tell", "waiting", value=1)
        peer.notify("tell", value=2)
        assert [peer.answers(id) for id in ("free", "waiting", "slow")] == [
            [{"jsonrpc": "2.0", "id": "free", "result": {}}],
            [{"jsonrpc": "2.0", "id": "waiting", "result": {}}],
            [],
        ]
        await anyio.wait_all_tasks_blocked()
        assert order == [0]
        release.set()
        await peer.answer("slow")
        await anyio.wait_all_tasks_blocked()
        assert order == [0, "slow", 1, 2]
        assert [message["params"] for message in peer.sent if message.get("method") == "told"] == [0, 1, 2]

    run(scenario)


@pytest.mark.req("cancel.answered-at-once")
@pytest.mark.req("cancel.queued-never-runs")
def test_cancelling_answers_at_once_and_what_was_queued_never_runs() -> None:
    """Case L12: thirty requests, all cancelled."""

    async def scenario(peer: Peer) -> None:
        ran: list[Any] = []
        ended: list[Any] = []

        async def work(params: Params, call: Call) -> None:
            ran.append(params.value)
            try:
                await anyio.sleep_forever()
            finally:
                ended.append(params.value)

        peer.method("work", work, ordered=True)
        for id in range(30):
            peer.ask("work", id, value=id)
        await anyio.wait_all_tasks_blocked()
        assert ran == [0]
        for id in range(30):
            peer.notify("$/cancelRequest", id=id)
        assert [peer.answers(id)[0]["error"]["code"] for id in range(30)] == [-32800] * 30
        peer.method("good", lambda params, call: "fine", ordered=True)
        peer.ask("good", "next")
        assert (await peer.answer("next"))["result"] == "fine"
        assert ran == [0]
        assert ended == [0]
        assert len(peer.sent) == 31

    run(scenario)


def test_cancelling_what_is_not_there_is_ignored() -> None:
    async def scenario(peer: Peer) -> None:
        peer.method("good", lambda params, call: 1)
        peer.ask("good", 1)
        for id in (1, 99, "1"):
            peer.notify("$/cancelRequest", id=id)
        peer.notify("$/cancelRequest", id=1.5)
        peer.notify("$/cancelRequest")
        assert len(peer.sent) == 1

    run(scenario)


def test_a_handler_that_ignores_cancellation_is_answered_all_the_same() -> None:
    async def scenario(peer: Peer) -> None:
        release = asyncio.Event()

        peer.method("stubborn", stubborn_until(release))
        peer.ask("stubborn", 1)
        await anyio.wait_all_tasks_blocked()
        peer.notify("$/cancelRequest", id=1)
        assert peer.answers(1)[0]["error"]["code"] == -32800
        release.set()
        await anyio.wait_all_tasks_blocked()
        assert len(peer.answers(1)) == 1

    run(scenario)


@pytest.mark.req("errors.deadline")
def test_a_deadline_ends_in_an_answer() -> None:
    async def scenario(peer: Peer) -> None:
        peer.method("slow", lambda params, call: forever(), deadline_seconds=0.01)
        peer.ask("slow", 1)
        error = (await peer.answer(1))["error"]
        assert (error["code"], error["data"]["kind"], error["data"]["retryable"]) == (-32803, "deadline", True)

    async def forever() -> None:
        await anyio.sleep_forever()

    run(scenario)


def test_a_deadline_does_not_wait_for_work_that_does_not_give_in() -> None:
    async def scenario(peer: Peer) -> None:
        release = asyncio.Event()

        peer.method("stubborn", stubborn_until(release), ordered=True, deadline_seconds=0.01)
        peer.method("next", lambda params, call: "next", ordered=True)
        peer.ask("stubborn", 1)
        assert (await peer.answer(1))["error"]["data"]["kind"] == "deadline"
        peer.ask("next", 2)
        assert (await peer.answer(2))["result"] == "next"
        release.set()
        await anyio.wait_all_tasks_blocked()
        assert len(peer.answers(1)) == 1

    run(scenario)


def test_a_request_sent_as_a_notification_is_not_run() -> None:
    async def scenario(peer: Peer) -> None:
        ran: list[str] = []
        peer.method("work", lambda params, call: ran.append("work"), request_only=True)
        peer.notify("work")
        assert ran == []
        peer.ask("work", 1)
        assert ran == ["work"]

    run(scenario)


@pytest.mark.req("errors.busy")
def test_too_many_requests_in_flight_are_busy() -> None:
    async def scenario(peer: Peer) -> None:
        async def wait(params: Params, call: Call) -> None:
            await anyio.sleep_forever()

        peer.method("wait", wait)
        peer.method("shutdown", lambda params, call: None)
        for id in range(MAX_IN_FLIGHT + 5):
            peer.ask("wait", id)
        refused = [message for message in peer.sent if "error" in message]
        assert [message["id"] for message in refused] == list(range(MAX_IN_FLIGHT, MAX_IN_FLIGHT + 5))
        assert {message["error"]["data"]["kind"] for message in refused} == {"busy"}
        assert all(message["error"]["data"]["retryAfterMs"] > 0 for message in refused)
        peer.ask("shutdown", "end")
        peer.connection.congested = True
        peer.ask("shutdown", "end too")
        assert "result" in peer.answers("end")[0]
        assert "result" in peer.answers("end too")[0]

    run(scenario)


def test_what_has_not_begun_when_the_server_ends_never_does(recwarn: pytest.WarningsRecorder) -> None:
    ran: list[str] = []

    async def main() -> None:
        peer = Peer()

        async def work(params: Params, call: Call) -> None:
            ran.append("work")

        peer.method("work", work)
        peer.method("in turn", work, ordered=True)
        peer.ask("work", 1)
        peer.notify("work")
        peer.notify("in turn")
        peer.notify("in turn")
        peer.connection.spawn(work(Params(), Call(peer.connection._out, None, "background")))
        await peer.connection.settle(0)
        await peer.connection.cancel_tasks(PATIENCE_SECONDS)
        assert not peer.connection._running
        assert [message["error"]["code"] for message in peer.answers(1)] == [-32802]

    asyncio.run(main())
    gc.collect()
    assert ran == []
    assert [str(warning.message) for warning in recwarn] == []


def test_notifications_that_wait_are_bounded_too(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(peer: Peer) -> None:
        release = asyncio.Event()
        ran: list[Any] = []

        async def block(params: Params, call: Call) -> None:
            await release.wait()

        peer.method("block", block, ordered=True)
        peer.method("note", lambda params, call: ran.append(params.value), ordered=True)
        peer.ask("block", 1)
        for value in range(MAX_IN_FLIGHT + 50):
            peer.notify("note", value=value)
        release.set()
        peer.ask("note", 2, value="last")
        await peer.answer(2)
        assert ran == [*range(MAX_IN_FLIGHT), "last"]
        peer.notify("note", value="room again")
        assert ran[-1] == "room again"

    run(scenario)
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "1024 notifications wait already: more are dropped until there is room"
    ]


def test_a_name_nobody_knows_is_not_repeated_at_any_length() -> None:
    async def scenario(peer: Peer) -> None:
        peer.ask("x" * 100_000, 1)
        assert len(peer.answers(1)[0]["error"]["message"]) < 200

    run(scenario)


@pytest.mark.parametrize(
    ("method", "kinds"),
    [("fails", ["begin", "end"]), ("waits", ["begin", "end"]), ("queued", [])],
)
def test_progress_ends_however_the_request_ends(method: str, kinds: list[str]) -> None:
    async def scenario(peer: Peer) -> None:
        async def wait(params: Params, call: Call) -> None:
            await anyio.sleep_forever()

        peer.method("fails", later(raising(Domain())))
        peer.method("waits", wait)
        peer.method("block", wait, ordered=True)
        peer.method("queued", wait, ordered=True)
        if method == "queued":
            peer.ask("block", 7)
        peer.ask(method, 1, workDoneToken="tok")
        if method == "waits":
            await anyio.wait_all_tasks_blocked()
        if method != "fails":
            peer.notify("$/cancelRequest", id=1)
        await peer.answer(1)
        sent = [message["params"]["value"]["kind"] for message in peer.sent if message.get("method") == "$/progress"]
        assert sent == kinds

    run(scenario)


@pytest.mark.req("errors.busy")
def test_while_the_client_does_not_read_its_requests_wait_and_then_are_busy() -> None:
    async def scenario(peer: Peer) -> None:
        def fill(params: Params, call: Call) -> str:
            peer.full = True
            return "full"

        peer.method("fill", fill)
        peer.method("small", lambda params, call: "small")
        peer.send(
            *(
                {"jsonrpc": "2.0", "id": id, "method": method}
                for id, method in enumerate(["small", "fill", "small", "small"])
            )
        )
        peer.ask("small", 4)
        assert [message["id"] for message in peer.sent] == [0, 1]
        assert peer.holds == 1
        peer.full = False
        peer.connection.resume()
        assert [message["id"] for message in peer.sent] == [0, 1, 2, 3, 4]
        peer.connection.congested = True
        peer.ask("small", 5)
        assert peer.answers(5)[0]["error"]["data"]["kind"] == "busy"
        peer.connection.congested = False
        peer.ask("small", 6)
        assert peer.answers(6)[0]["result"] == "small"

    run(scenario)


@pytest.mark.req("ordering.session")
@pytest.mark.req("ordering.overtaking")
def test_one_session_takes_effect_in_order_while_others_go_on() -> None:
    async def scenario(peer: Peer) -> None:
        effects: list[Any] = []
        gates = {name: asyncio.Event() for name in ("a1", "b1")}

        async def work(params: Params, call: Call) -> None:
            if params.value in gates:
                await gates[params.value].wait()
            effects.append(params.value)

        def quick(params: Params, call: Call) -> None:
            effects.append(params.value)

        peer.method("work", work, ordered=True)
        peer.method("quick", quick, ordered=True)
        peer.ask("work", 1, sessionId="a", value="a1")
        peer.ask("quick", 2, sessionId="a", value="a2")
        peer.ask("work", 3, sessionId="a", value="a3")
        peer.notify("quick", sessionId="a", value="a4")
        peer.ask("work", 4, sessionId="b", value="b1")
        peer.ask("quick", 5, sessionId="c", value="c1")
        assert effects == ["c1"]
        gates["b1"].set()
        await peer.answer(4)
        gates["a1"].set()
        await peer.answer(3)
        await anyio.wait_all_tasks_blocked()
        assert effects == ["c1", "b1", "a1", "a2", "a3", "a4"]

    run(scenario)


def test_a_request_that_has_arrived_lets_its_session_go_on() -> None:
    async def scenario(peer: Peer) -> None:
        async def model(params: Params, call: Call) -> None:
            call.arrived()
            await anyio.sleep_forever()

        peer.method("model", model, ordered=True)
        peer.method("read", lambda params, call: "read", ordered=True)
        peer.ask("model", 1)
        peer.ask("read", 2)
        assert (await peer.answer(2))["result"] == "read"
        assert not peer.answers(1)

    run(scenario)


@pytest.mark.req("ordering.event-after-answer")
@pytest.mark.parametrize("inline", [True, False])
def test_an_event_follows_the_answer_of_what_caused_it(inline: bool) -> None:
    async def scenario(peer: Peer) -> None:
        def handler(params: Params, call: Call) -> str:
            call.after_reply(lambda: call.out.notify("it.happened", {}))
            return "first"

        peer.method("cause", handler if inline else later(handler))
        peer.ask("cause", 1)
        await peer.answer(1)
        await anyio.wait_all_tasks_blocked()
        assert [message.get("method", "answer") for message in peer.sent] == ["answer", "it.happened"]

    run(scenario)


@pytest.mark.req("progress.work-done-token")
def test_progress_for_those_who_ask() -> None:
    async def scenario(peer: Peer) -> None:
        async def work(params: Params, call: Call) -> str:
            call.report("half", 50)
            return "done"

        peer.method("work", work)
        peer.ask("work", 1, workDoneToken="tok")
        await peer.answer(1)
        progress = [message["params"] for message in peer.sent if message.get("method") == "$/progress"]
        assert {each["token"] for each in progress} == {"tok"}
        assert [each["value"]["kind"] for each in progress] == ["begin", "report", "end"]
        assert "method" not in peer.sent[-1]
        peer.sent.clear()
        peer.ask("work", 2)
        await peer.answer(2)
        assert len(peer.sent) == 1

    run(scenario)


@pytest.mark.req("lifecycle.trace")
def test_trace_tells_what_was_done() -> None:
    async def scenario(peer: Peer) -> None:
        peer.method("work", lambda params, call: 1)
        peer.connection.trace = "messages"
        peer.ask("work", 1, value="private text")
        traces = [message["params"]["message"] for message in peer.sent if message.get("method") == "$/logTrace"]
        assert len(traces) == 1
        assert "work" in traces[0]
        assert "private" not in traces[0]

    run(scenario)


def test_asking_the_client() -> None:
    async def scenario(peer: Peer) -> None:
        async def ask(params: Params, call: Call) -> Any:
            return bytes(await peer.connection.request("host/thing", {"a": 1}, params.value)).decode()

        peer.method("ask", ask)
        peer.ask("ask", 1, value=PATIENCE_SECONDS)
        await anyio.wait_all_tasks_blocked()
        request = next(message for message in peer.sent if message.get("method") == "host/thing")
        peer.send({"jsonrpc": "2.0", "id": request["id"], "result": {"text": "hi"}})
        peer.send({"jsonrpc": "2.0", "id": request["id"], "result": {"text": "twice"}})
        assert (await peer.answer(1))["result"] == '{"text": "hi"}'

        peer.ask("ask", 2, value=PATIENCE_SECONDS)
        await anyio.wait_all_tasks_blocked()
        peer.send({"jsonrpc": "2.0", "id": "afterturn-2", "error": {"code": 1, "message": "key=secret"}})
        error = (await peer.answer(2))["error"]
        assert (error["code"], error["data"]["kind"]) == (-32803, "provider_unavailable")
        assert "secret" not in json.dumps(error)

        peer.ask("ask", 3, value=0.01)
        assert (await peer.answer(3))["error"]["data"]["retryable"] is True
        assert peer.sent[-2] == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "afterturn-3"}}

        peer.ask("ask", 4, value=PATIENCE_SECONDS)
        await anyio.wait_all_tasks_blocked()
        peer.notify("$/cancelRequest", id=4)
        await anyio.wait_all_tasks_blocked()
        assert peer.sent[-1]["params"] == {"id": "afterturn-4"}

    run(scenario)


@pytest.mark.req("framing.unknown-response")
def test_answers_to_nothing_are_ignored() -> None:
    async def scenario(peer: Peer) -> None:
        peer.send({"jsonrpc": "2.0", "id": "afterturn-1", "result": 1})
        peer.send({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}})
        peer.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m"}})
        assert peer.sent == []
        peer.send({"jsonrpc": "2.0", "id": 7})
        peer.send({"jsonrpc": "2.0"})
        peer.send({"jsonrpc": "1.0", "id": 1, "method": "x"})
        peer.send({"id": 1, "method": "x"})
        peer.send({"jsonrpc": "2.0", "id": None, "method": "x"})
        assert [(message["id"], message["error"]["code"]) for message in peer.sent] == [(None, -32600)] * 5

    run(scenario)


@pytest.mark.req("lifecycle.exit-code")
def test_exit() -> None:
    async def scenario(peer: Peer) -> None:
        peer.notify("exit")
        peer.connection.state = State.SHUTDOWN
        peer.notify("exit")

    assert run(scenario).exit_codes == [1, 0]


@pytest.mark.req("lifecycle.shutdown-in-flight")
@pytest.mark.req("errors.server-cancelled")
def test_settling_answers_everything() -> None:
    async def scenario(peer: Peer) -> None:
        release = asyncio.Event()

        async def wait(params: Params, call: Call) -> str:
            if params.value == "never":
                await anyio.sleep_forever()
            await release.wait()
            return "done"

        peer.method("wait", wait)
        peer.ask("wait", 1, value="soon")
        peer.ask("wait", 2, value="never")
        await anyio.wait_all_tasks_blocked()
        asyncio.get_running_loop().call_soon(release.set)
        await peer.connection.settle(0.05)
        assert (await peer.answer(1))["result"] == "done"
        assert (await peer.answer(2))["error"]["code"] == -32802

    run(scenario)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(
                st.just("ask"), st.sampled_from(["inline", "task", "wait", "bug", "none"]), st.sampled_from("ab")
            ),
            st.tuples(st.just("cancel"), st.integers(0, 12), st.just("")),
            st.tuples(st.just("run"), st.just(0), st.just("")),
        ),
        max_size=24,
    )
)
def test_every_request_is_answered_exactly_once(steps: list[tuple[str, Any, str]]) -> None:
    async def scenario(peer: Peer) -> None:
        async def task(params: Params, call: Call) -> str:
            await anyio.lowlevel.checkpoint()
            return "task"

        async def wait(params: Params, call: Call) -> None:
            await anyio.sleep_forever()

        peer.method("inline", lambda params, call: "inline", ordered=True)
        peer.method("task", task, ordered=True)
        peer.method("wait", wait, ordered=True)
        peer.method("bug", raising(ValueError()), ordered=True)
        asked = 0
        for what, argument, session in steps:
            if what == "ask":
                peer.ask(argument, asked, sessionId=session)
                asked += 1
            elif what == "cancel":
                peer.notify("$/cancelRequest", id=argument)
            else:
                await anyio.wait_all_tasks_blocked()
        await peer.connection.settle(0)
        await anyio.wait_all_tasks_blocked()
        assert [len(peer.answers(id)) for id in range(asked)] == [1] * asked
        assert len(peer.sent) == asked

    run(scenario)
