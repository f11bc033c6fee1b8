"""One server's messages: ids, answers, events, requests from the server. Bytes are the pump's business.

Everything here happens in the order of arrival and nothing waits, so that what a caller sees of an answer and of the
event that followed it comes in that order too.
"""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import anyio
from msgspec import UNSET, Struct

from afterturn.wire.codec import Envelope, InvalidParams, Malformed, ParamsDecoder, decode_envelope, encode
from afterturn_client.errors import AfterturnError, BadParams, Broken, Congested, NotOpen, ServerError, TimedOut
from afterturn_protocol.errors import REQUEST_CANCELLED, ErrorObject

log = logging.getLogger("afterturn_client")

Id = int | str
Answer = Envelope | AfterturnError
"""What ends a call: the server's reply, or why there will be none."""


class Receiver(Struct, frozen=True):
    """Who takes what the server sends of its own accord.

    event: a notification's method and params. question: a request's id, method and params. withdrawn: the id of a
    request that the server takes back. stray: a reply that belongs to no call.
    """

    event: Callable[[str, Any], None]
    question: Callable[[Id, str, Any], None]
    withdrawn: Callable[[Id], None]
    stray: Callable[[Envelope], None]


class _Request(Struct, tag_field="jsonrpc", tag="2.0", omit_defaults=True):
    id: str
    method: str
    params: Any = None


class _Notification(Struct, tag_field="jsonrpc", tag="2.0", omit_defaults=True):
    method: str
    params: Any = None


class _Reply(Struct, tag_field="jsonrpc", tag="2.0"):
    id: Id
    result: Any


class _Refusal(Struct, tag_field="jsonrpc", tag="2.0"):
    id: Id
    error: ErrorObject


class Connection:
    """send: queues one message body. congested: whether more waits to leave than should be kept."""

    def __init__(self, send: Callable[[bytes], None], receiver: Receiver, congested: Callable[[], bool]) -> None:
        self.max_message_bytes: int | None = None
        """Longest body that the server takes, once it has said so."""
        self.ended: AfterturnError | None = None
        """Why no call can succeed any more."""
        self._send = send
        self._receiver = receiver
        self._congested = congested
        self._open: dict[Id, Callable[[Answer], None]] = {}
        self._last = 0

    # -- out ---------------------------------------------------------------------------------------------

    def post(self, method: str, params: Any, on_answer: Callable[[Answer], None]) -> str:
        """Send a request; `on_answer` is called once. Returns its id. Raises AfterturnError where it cannot be sent."""
        self._check()
        self._last += 1
        id = f"call-{self._last}"
        self._send(self._body(_Request(id, method, params), method))
        self._open[id] = on_answer
        return id

    async def ask(self, method: str, params: Any, timeout_ms: int) -> Any:
        """A request's result, undecoded. One that is given up, by cancelling or for lack of time, is cancelled there.

        Raises AfterturnError.
        """
        answers: list[Answer] = []
        arrived = anyio.Event()

        def take(answer: Answer) -> None:
            answers.append(answer)
            arrived.set()

        id = self.post(method, params, take)
        try:
            with anyio.move_on_after(timeout_ms / 1000):
                await arrived.wait()
        finally:
            if not answers:
                self.give_up(id)
        if not answers:
            raise TimedOut(method, timeout_ms)
        return result_of(method, answers[0])

    def give_up(self, id: str) -> None:
        """Tell the server that nobody waits for this answer any more."""
        if self._open.pop(id, None) is not None and self.ended is None:
            self._send(encode(_Notification("$/cancelRequest", {"id": id})))

    def notify(self, method: str, params: Any) -> None:
        """Send a notification. Raises AfterturnError where it cannot be sent."""
        self._check()
        self._send(self._body(_Notification(method, params), method))

    def farewell(self) -> None:
        """Tell the server to end; nobody waits for its answer."""
        if self.ended is None:
            self._send(encode(_Request("farewell", "shutdown")))
            self._send(encode(_Notification("exit")))

    def reply(self, id: Id, result: Any) -> None:
        """Answer a request of the server. Raises AfterturnError where it cannot be sent."""
        if self.ended is None:
            self._send(self._body(_Reply(id, result), "the answer"))

    def refuse(self, id: Id, code: int, message: str) -> None:
        """Answer a request of the server with an error."""
        if self.ended is None:
            self._send(encode(_Refusal(id, ErrorObject(code=code, message=message))))

    def _check(self) -> None:
        if self.ended is not None:
            raise self.ended.again()
        if self._congested():
            raise Congested("the server does not read what it is sent")

    def _body(self, message: Any, what: str) -> bytes:
        try:
            body = encode(message)
        except (TypeError, ValueError, RecursionError) as problem:
            raise BadParams(f"{what}: {problem}") from problem
        if self.max_message_bytes is not None and len(body) > self.max_message_bytes:
            raise BadParams(f"{what}: {len(body)} bytes are more than the server takes ({self.max_message_bytes})")
        return body

    # -- in ----------------------------------------------------------------------------------------------

    def receive(self, body: bytes | bytearray) -> None:
        """Take one message. Raises Broken for what is none."""
        try:
            message = decode_envelope(body)
        except Malformed as problem:
            raise Broken(f"the server wrote what is no message: {problem.message}") from problem
        id, method = message.id, message.method
        if method is UNSET:
            on_answer = None if id is UNSET or id is None else self._open.pop(id, None)
            if on_answer is None:
                self._receiver.stray(message)
            else:
                on_answer(message)
        elif id is UNSET:
            if method == "$/cancelRequest":
                self._withdraw(message.params)
            else:
                self._receiver.event(method, message.params)
        elif id is not None:
            self._receiver.question(id, method, message.params)

    def _withdraw(self, params: Any) -> None:
        from afterturn_protocol.lifecycle import CancelParams

        self._receiver.withdrawn(decoded("$/cancelRequest", params, CancelParams).id)

    def end(self, problem: AfterturnError) -> None:
        """Nothing more will come: every open call ends with `problem`, and so does every later one."""
        if self.ended is None:
            self.ended = problem
            open_calls, self._open = self._open, {}
            for on_answer in open_calls.values():
                on_answer(problem)

    def close(self) -> None:
        """We ended it ourselves: what comes later is told that, not how the server went."""
        self.end(NotOpen("the client is closed"))
        self.ended = NotOpen("the client is closed")


def result_of(method: str, answer: Answer) -> Any:
    """The undecoded result of what ended a call. Raises AfterturnError."""
    if isinstance(answer, AfterturnError):
        raise answer.again()
    if answer.error is not UNSET:
        error = decoded(method, answer.error, ErrorObject)
        raise ServerError(method, error.code, error.message, error.data)
    if answer.result is UNSET:
        raise Broken(f"{method}: the answer has neither result nor error")
    return answer.result


def decoded(method: str, value: Any, type_: Any) -> Any:
    """What arrived as its type; lone surrogates are kept. Raises Broken where it does not fit."""
    try:
        return _decoder(type_).decode(value)
    except (InvalidParams, Malformed) as problem:
        raise Broken(f"{method}: what the server sent does not fit {type_.__name__}: {problem}") from problem


@cache
def _decoder(type_: Any) -> ParamsDecoder:
    """Making one takes longer than decoding with it."""
    return ParamsDecoder(type_)


def log_stray(reply: Envelope) -> None:
    """A late answer is nobody's; an error without an id is one that the server could not tell whose it was."""
    if reply.error is not UNSET and not reply.id:
        error = decoded("an answer", reply.error, ErrorObject)
        if error.code != REQUEST_CANCELLED:
            log.warning("the server refused a message: %s", error.message)
