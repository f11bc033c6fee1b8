"""One client: every request it sends is answered exactly once, whatever happens (architecture.md, 'Invariants').

Handlers that return a value run inline; those that return a coroutine become a task with a cancel scope and a
deadline. anyio is loaded with the first of them, so that a client which only says hello does not pay for it. The tasks
hang off the connection, not off a task group: one can then begin without a turn of the loop in between, which
takes a third off the time of a small read.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any, Protocol, cast

from msgspec import UNSET, Struct

from afterturn.rpc.call import Call, Outbound, current_call
from afterturn.rpc.errors import Cancelled, RequestFailed, ServerCancelled, error_of, is_bug, where, without_folder
from afterturn.rpc.lifecycle import State, drop_notification, refuse_request
from afterturn.rpc.order import SessionOrder
from afterturn.rpc.questions import Questions
from afterturn.rpc.routes import Route, Routes
from afterturn.wire.codec import (
    Envelope,
    Malformed,
    decode_envelope,
    decode_usual,
    encode,
    encode_usual,
    without_halves,
)
from afterturn.wire.framing import Fault, Frame, Framing
from afterturn_protocol.errors import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    ErrorData,
    ErrorObject,
    Kind,
)

log = logging.getLogger("afterturn.rpc")

MAX_IN_FLIGHT = 1024
_BUSY_RETRY_MS = 250
_READY = State.READY
_QUOTED_CHARS = 100


class _Result(Struct, tag_field="jsonrpc", tag="2.0", gc=False):
    id: int | str
    result: Any


class _Error(Struct, tag_field="jsonrpc", tag="2.0"):
    id: int | str | None
    error: ErrorObject


class _Notification(Struct, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: Any


class Outlet(Protocol):
    """Where frames go. `full` says that the client is far behind in reading them."""

    full: bool

    def write(self, data: bytes) -> None:
        """Queue one whole frame; never blocks."""
        ...


class Connection:
    """Dispatches one client's messages.

    `on_exit` is called with the exit code when the client says `exit`. While the outlet is full, what has arrived is
    kept back and `on_hold` is called; `resume` goes on. `congested` is set from outside when that did not help:
    requests are then answered `busy`, all but `shutdown`. Errors leave `own_folder`, which ends in a separator, out of
    the paths that they name.
    """

    def __init__(
        self,
        framing: Framing,
        outlet: Outlet,
        *,
        on_exit: Callable[[int], None],
        on_hold: Callable[[], None],
    ) -> None:
        self.routes: Routes = {}
        self.state = State.NEW
        self.trace = "off"
        self.congested = False
        self.own_folder = ""
        self._framing = framing
        self._cut = framing.feed
        self._wrap = framing.wrap
        self._outlet = outlet
        self._send = outlet.write
        self._on_exit = on_exit
        self._on_hold = on_hold
        self._backlog: list[Frame] = []
        self._out = Outbound(notify=self.notify, defer=self._defer)
        self._open: dict[int | str, Call] = {}
        self._notifications: set[Call] = set()  # those being worked on, or waiting for their turn
        self._dropping = False
        self._order = SessionOrder()
        self._lines = self._order.lines
        self._running: dict[asyncio.Task[None], Call] = {}
        self._idle = asyncio.Event()
        self._idle.set()
        self._questions = Questions(lambda body: self._send(self._wrap(body)), self.notify)
        self._ended = False

    # -- in ----------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> None:
        """Take the next bytes from the client."""
        frames = self._cut(data)
        if self._backlog:
            self._backlog += frames
        else:
            self._take(frames)

    def feed_end(self) -> None:
        """The client sends no more: take what was complete only with that."""
        frames = self._framing.end()
        if frames:
            self._backlog += frames
            self.resume()

    def resume(self) -> None:
        """Go on with what was kept back."""
        frames, self._backlog = self._backlog, []
        self._take(frames)

    def _take(self, frames: list[Frame]) -> None:
        outlet, receive = self._outlet, self._receive
        for count, frame in enumerate(frames, 1):
            if isinstance(frame, Fault):
                error_data = ErrorData(kind=frame.kind)
                self._reply_error(None, ErrorObject(code=INVALID_REQUEST, message=frame.message, data=error_data))
            else:
                receive(frame)
            if self._ended:
                return
            if outlet.full:
                self._backlog = frames[count:]
                self._on_hold()
                return

    def _receive(self, body: bytes | bytearray) -> None:
        try:
            message = decode_usual(body)
        except Exception:
            try:
                message = decode_envelope(body)
            except Malformed as problem:
                self._reply_error(problem.id, error_of(problem))
                return
        id, method = message.id, message.method
        if method is UNSET:
            self._receive_reply(message)
        elif message.jsonrpc != "2.0" or id is None:
            wrong = "id must be a string or an integer" if id is None else 'jsonrpc must be "2.0"'
            self._reply_error(None, ErrorObject(code=INVALID_REQUEST, message=f"Invalid request: {wrong}"))
        elif id is UNSET:
            if not drop_notification(self.state, method):
                self._run_notification(method, message.params)
        elif (self.state is not _READY or method == "initialize") and self._refused(id, method):
            return
        elif (route := self.routes.get(method)) is None:
            self._reply_error(id, ErrorObject(code=METHOD_NOT_FOUND, message=f"Unknown method {_quoted(method)}"))
        elif self._open and id in self._open:
            self._reply_error(id, ErrorObject(code=INVALID_REQUEST, message="This id is still in use"))
        elif (self.congested or len(self._open) >= MAX_IN_FLIGHT) and method != "shutdown":
            self._reply_error(id, _busy())
        else:
            self._run(route, Call(self._out, id, method), message.params)

    def _refused(self, id: int | str, method: str) -> bool:
        """Whether the state alone forbids the request, which then has its answer."""
        refusal = refuse_request(self.state, method)
        if refusal is not None:
            self._reply_error(id, refusal)
        return refusal is not None

    def _run_notification(self, method: str, params: Any) -> None:
        if method == "$/cancelRequest":
            self._cancel(params)
        elif method == "exit":
            self._on_exit(0 if self.state is State.SHUTDOWN else 1)
        elif (route := self.routes.get(method)) is None:
            return
        elif route.request_only:
            log.info("ignored %s, which is a request, sent as a notification", method)
        elif len(self._notifications) < MAX_IN_FLIGHT:
            self._dropping = False
            self._run(route, Call(self._out, None, method), params)
        elif not self._dropping:
            # Not reading on would bound it too, but then no cancellation and no answer to a question of ours came in.
            self._dropping = True
            log.warning("%d notifications wait already: more are dropped until there is room", MAX_IN_FLIGHT)

    def _run(self, route: Route, call: Call, params: Any) -> None:
        """Decode and handle: inline where the handler answers at once and nothing of its session waits."""
        try:
            try:
                decoded = route.decode_usual(params)
            except Exception:
                decoded = route.decode(params)
            if route.ordered and decoded.session_id in self._lines:
                if route.at_once:
                    self._finish(call, None)
                    call = Call(self._out, None, call.method)
                self._start(route, call, self._in_turn(route, decoded, call), decoded)
                return
            result = route.handle(decoded, call)
            if isinstance(result, CoroutineType):
                self._start(route, call, cast("Coroutine[Any, Any, Any]", result), decoded)
            else:
                self._finish(call, result)
        except BaseException as problem:  # SystemExit too: a handler may end its own request, never the process
            self._fail(call, problem)

    async def _in_turn(self, route: Route, params: Any, call: Call) -> Any:
        """A handler that has to wait for its session's earlier messages."""
        assert call.ticket is not None
        await call.ticket.turn()
        result = route.handle(params, call)
        return await cast("Coroutine[Any, Any, Any]", result) if isinstance(result, CoroutineType) else result

    # -- tasks -------------------------------------------------------------------------------------------

    def _start(self, route: Route, call: Call, work: Coroutine[Any, Any, Any], params: Any) -> None:
        if route.ordered:
            call.ticket = self._order.enter(params.session_id)
        if call.id is not None:
            self._open[call.id] = call
            call.token = getattr(params, "work_done_token", None)
            self._idle.clear()
        else:
            self._notifications.add(call)
        self._begin(call, route.deadline_seconds, work)

    def _begin(self, call: Call, deadline_seconds: float | None, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(self._work(call, deadline_seconds, work))
        self._running[task] = call
        task.add_done_callback(self._running.pop)

    async def cancel_tasks(self, seconds: float) -> None:
        """End what still runs: each task is cancelled by its scope, so that what it shields gets up to `seconds`."""
        for call in self._running.values():
            if call.scope is not None:
                call.scope.cancel()
            else:
                call.answered = True  # it has not begun, and takes its turn only to end its coroutine
        if self._running:
            await asyncio.wait(list(self._running), timeout=seconds)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run background work that no request waits for. What it raises is logged, and ends nothing else."""
        self._begin(Call(self._out, None, "background work"), None, work)

    async def _work(self, call: Call, deadline_seconds: float | None, work: Coroutine[Any, Any, Any]) -> None:
        if call.answered:
            work.close()  # cancelled while it waited: never run, never paid for
            call.arrived()
            return
        from anyio import CancelScope

        if call.id is not None:
            current_call.set(call)  # in this task's own context
        timer = None
        if deadline_seconds is not None:
            # The answer does not wait for the work to give in: a thread or a shield may never do so.
            timer = asyncio.get_running_loop().call_later(deadline_seconds, self._expire, call)
        with CancelScope() as scope:
            call.scope = scope
            self._progress(call, {"kind": "begin", "title": call.method})
            try:
                self._finish(call, await work)
            except asyncio.CancelledError as problem:
                if _is_being_cancelled():
                    raise
                self._fail(call, problem)
            except BaseException as problem:
                self._fail(call, problem)
            finally:
                if timer is not None:
                    timer.cancel()
                self._notifications.discard(call)
                call.arrived()

    def _expire(self, call: Call) -> None:
        self._abort(call, RequestFailed(Kind.DEADLINE, "The request took too long", retryable=True))
        call.arrived()  # its session does not wait for it any longer either

    def _cancel(self, params: Any) -> None:
        """`$/cancelRequest`: answered at once, unless the answer was already on its way."""
        from afterturn.wire.codec import ParamsDecoder
        from afterturn_protocol.lifecycle import CancelParams

        try:
            id = ParamsDecoder(CancelParams).decode(params).id
        except Exception as problem:
            log.info("ignored a bad $/cancelRequest: %s", error_of(problem).message)
            return
        call = self._open.get(id)
        if call is not None:
            self._abort(call, Cancelled())

    def _abort(self, call: Call, reason: BaseException) -> None:
        self._fail(call, reason)
        if call.scope is not None:
            call.scope.cancel()

    # -- out ---------------------------------------------------------------------------------------------

    def speak_whole(self) -> None:
        """Send U+FFFD for every lone surrogate from now on: an editor may drop a message that holds one."""
        self._wrap = self._wrap_whole

    def _wrap_whole(self, body: bytes) -> bytes:
        return self._framing.wrap(without_halves(body))

    def _finish(self, call: Call, result: Any) -> None:
        id = call.id
        if id is None or call.answered:
            call.replied()
            return
        try:
            body = encode_usual(_Result(id, {} if result is None else result))
        except Exception:
            try:
                body = encode(_Result(id, {} if result is None else result))
            except Exception as problem:
                self._fail(call, problem)
                return
        self._answer(call, id, body)
        if self.trace != "off":
            self._trace(f"{call.method} ({id}) was answered")

    def _fail(self, call: Call, problem: BaseException) -> None:
        if is_bug(problem):
            log.error("%s failed: %s", call.method, where(problem))
        id = call.id
        if id is None or call.answered:
            call.replied()
            return
        error = without_folder(error_of(problem), self.own_folder)
        self._answer(call, id, encode(_Error(id, error)))
        if self.trace != "off":
            self._trace(f"{call.method} ({id}) failed with {error.code}")

    def _answer(self, call: Call, id: int | str, body: bytes) -> None:
        """The one place where a request gets its one answer."""
        if call.scope is not None:  # its beginning was told
            self._progress(call, {"kind": "end"})
        if self._open and self._open.get(id) is call:
            del self._open[id]
            if not self._open:
                self._idle.set()
        self._send(self._wrap(body))
        call.replied()

    def _reply_error(self, id: int | str | None, error: ErrorObject) -> None:
        self._send(self._wrap(encode(_Error(id, error))))

    def notify(self, method: str, params: Any) -> None:
        """Send an event. Raises what `encode` raises."""
        self._send(self._wrap(encode(_Notification(method, params))))

    def _progress(self, call: Call, value: dict[str, Any]) -> None:
        if call.token is not None and not call.answered and not self.congested:
            self.notify("$/progress", {"token": call.token, "value": value})

    def _trace(self, message: str) -> None:
        if self.congested:
            return
        self.notify("$/logTrace", {"message": message})

    def _defer(self, effect: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_soon(effect)

    @property
    def requests_open(self) -> int:
        """Requests that have no answer yet."""
        return len(self._open)

    # -- requests of ours --------------------------------------------------------------------------------

    async def request(self, method: str, params: Any, timeout_seconds: float) -> Any:
        """Ask the client; see `Questions.ask`."""
        return await self._questions.ask(method, params, timeout_seconds)

    def _receive_reply(self, message: Envelope) -> None:
        has_answer = message.result is not UNSET or message.error is not UNSET
        if has_answer and message.id is not UNSET:
            self._questions.answered(message)
        else:
            self._reply_error(None, ErrorObject(code=INVALID_REQUEST, message="Invalid request: no method"))

    # -- the end -----------------------------------------------------------------------------------------

    async def settle(self, seconds: float) -> None:
        """Give the open requests up to `seconds`, then answer the rest: the server is ending."""
        if self._open and seconds > 0:
            try:
                await asyncio.wait_for(self._idle.wait(), seconds)
            except TimeoutError:
                log.info("%d requests were not done in time", len(self._open))
        for call in list(self._open.values()):
            self._abort(call, ServerCancelled())

    def end(self) -> None:
        """Take no more input."""
        self._ended = True


def _quoted(name: str) -> str:
    """A name as far as it is worth repeating: a client can send one of any length."""
    return repr(name if len(name) <= _QUOTED_CHARS else name[:_QUOTED_CHARS] + "\u2026")


def _is_being_cancelled() -> bool:
    """Whether somebody cancelled the task, as opposed to a handler that raised the exception itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _busy() -> ErrorObject:
    return RequestFailed(
        Kind.BUSY, "The server has too much to do", retryable=True, retry_after_ms=_BUSY_RETRY_MS
    ).error
