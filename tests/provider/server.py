"""A model provider on 127.0.0.1 that does what a test tells it to, and keeps all that it was asked.

    from tests.provider.answers import fails, says, stalls
    from tests.provider.server import ScriptedProvider

    with ScriptedProvider() as provider:
        provider.script(fails(429, retry_after=1), says("- a bullet"))   # one Answer a request, in order
        provider.otherwise = stalls("before")                            # for every request after them
        ...                                # model "openai/any", apiBase provider.openai_base
        ...                                # model "anthropic/any", apiBase provider.anthropic_base
        provider.wait_requests(2)          # bounded; `await provider.requested(2)` in a coroutine
        request = provider.requests[0]
        request.body["messages"], request.headers["authorization"], request.key
        request.wait_gone()                # until the client has closed that request's connection
        provider.open_connections          # how many there are now
        provider.wait_no_connections()

It serves OpenAI-compatible `/v1/chat/completions` and Anthropic's `/v1/messages`, streamed or whole as the request
asks, and `/v1/embeddings`, over HTTP/1.1 with keep-alive. All answers there are: tests/provider/answers.py.

`otherwise` may also be a function from the request to an Answer. Waits raise AssertionError after PATIENCE_SECONDS.
Threads, no dependency; leaving the `with` block ends every connection and thread.
"""

import asyncio
import json
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from tests.provider.answers import ANTHROPIC, OPENAI, Answer, error_body, says, stream_events, whole_body

PATIENCE_SECONDS = 20.0
PATHS = {
    "/v1/embeddings": OPENAI,
    "/v1/chat/completions": OPENAI,
    "/chat/completions": OPENAI,
    "/v1/messages": ANTHROPIC,
}
DROPPED = struct.pack("ii", 1, 0)


class ProviderRequest:
    """One request as it arrived.

    number: from 0. path: without the query, which is in `query`. headers: names in lower case. body: the JSON.
    dialect: "openai" or "anthropic". key: the api key it carried, "" for none. answer: what it got.
    """

    def __init__(self, number: int, method: str, target: str, headers: dict[str, str], content: bytes) -> None:
        self.number = number
        self.method = method
        self.path, _, self.query = target.partition("?")
        self.headers = headers
        self.content = content
        self.body: Any = json.loads(content) if content else None
        self.dialect = PATHS.get(self.path, OPENAI)
        self.key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        self.answer: Answer | None = None
        self.answered = threading.Event()
        """The answer was sent whole."""
        self.gone = threading.Event()
        """The connection of this request has ended."""

    @property
    def streamed(self) -> bool:
        return bool(self.body and self.body.get("stream"))

    def wait_gone(self, seconds: float = PATIENCE_SECONDS) -> None:
        assert self.gone.wait(seconds), f"the connection of request {self.number} is still open after {seconds} s"


Otherwise = Answer | Callable[[ProviderRequest], Answer]


class ScriptedProvider:
    """See the module. `otherwise`: the answer when the script is used up, at first a plain one."""

    def __init__(self) -> None:
        self.requests: list[ProviderRequest] = []
        self.connections_made = 0
        self.otherwise: Otherwise = says()
        self._script: deque[Answer] = deque()
        self._changed = threading.Condition()
        self._open: dict[int, socket.socket] = {}
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._wake_reader, self._wake_writer = socket.socketpair()

    def __enter__(self) -> "ScriptedProvider":
        self._start(self._accept)
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self._wake_writer.send(b"x")
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        for each in (self._listener, self._wake_reader, self._wake_writer):
            each.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_base(self) -> str:
        """`apiBase` for "openai/..." models."""
        return f"{self.url}/v1"

    @property
    def anthropic_base(self) -> str:
        """`apiBase` for "anthropic/..." models."""
        return self.url

    @property
    def open_connections(self) -> int:
        with self._changed:
            return len(self._open)

    def script(self, *answers: Answer) -> None:
        """Answer the next requests with these, in the order in which the requests arrive."""
        with self._changed:
            self._script.extend(answers)

    def forget(self) -> None:
        """Drop the script and the record of requests, and answer plainly again. Connections stay."""
        with self._changed:
            self._script.clear()
            self.requests = []
            self.otherwise = says()

    def wait_requests(self, count: int, seconds: float = PATIENCE_SECONDS) -> None:
        """Return once `count` requests have arrived in all."""
        self._wait(lambda: len(self.requests) >= count, f"{count} requests", seconds)

    def wait_no_connections(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Return once no client is connected."""
        self._wait(lambda: not self._open, "no open connection", seconds)

    async def requested(self, count: int, seconds: float = PATIENCE_SECONDS) -> None:
        """`wait_requests` for a coroutine."""
        await asyncio.to_thread(self.wait_requests, count, seconds)

    # -- serving

    def _wait(self, reached: Callable[[], bool], what: str, seconds: float) -> None:
        with self._changed:
            assert self._changed.wait_for(reached, seconds), (
                f"waited {seconds} s for {what}; {len(self.requests)} requests, {len(self._open)} connections"
            )

    def _start(self, job: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=job, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            ready, _, _ = select.select([self._listener, self._wake_reader], [], [])
            if self._wake_reader in ready:
                return
            connection, _ = self._listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._changed:
                self.connections_made += 1
                self._open[self.connections_made] = connection
                number = self.connections_made
            self._start(self._serve, number, connection)

    def _serve(self, number: int, connection: socket.socket) -> None:
        seen: list[ProviderRequest] = []
        try:
            stream = _Incoming(connection, self._wake_reader)
            while (request := self._next_request(stream)) is not None:
                seen.append(request)
                if not _respond(connection, self._wake_reader, request):
                    return
                request.answered.set()
        except OSError:
            pass  # the client went, which is what many tests are about
        finally:
            connection.close()
            with self._changed:
                del self._open[number]
                self._changed.notify_all()
            for request in seen:
                request.gone.set()

    def _next_request(self, stream: "_Incoming") -> ProviderRequest | None:
        head = stream.until(b"\r\n\r\n")
        if head is None:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        content = stream.exactly(int(headers.get("content-length", "0")))
        if content is None:
            return None
        with self._changed:
            request = ProviderRequest(len(self.requests), method, target, headers, content)
            if request.path not in PATHS:
                request.answer = Answer(status=404, error=f"no such path: {request.path}")
            elif self._script:
                request.answer = self._script.popleft()
            self.requests.append(request)
            otherwise = self.otherwise
            self._changed.notify_all()
        if request.answer is None:
            request.answer = otherwise if isinstance(otherwise, Answer) else otherwise(request)
        return request


class _Incoming:
    """The bytes a client sends; None where it, or the server, has ended."""

    def __init__(self, connection: socket.socket, wake: socket.socket) -> None:
        self._connection = connection
        self._wake = wake
        self._buffer = b""

    def _more(self) -> bool:
        ready, _, _ = select.select([self._connection, self._wake], [], [])
        if self._wake in ready:
            return False
        data = self._connection.recv(1 << 16)
        self._buffer += data
        return bool(data)

    def until(self, end: bytes) -> bytes | None:
        while end not in self._buffer:
            if not self._more():
                return None
        found, _, self._buffer = self._buffer.partition(end)
        return found

    def exactly(self, count: int) -> bytes | None:
        while len(self._buffer) < count:
            if not self._more():
                return None
        found, self._buffer = self._buffer[:count], self._buffer[count:]
        return found


def _respond(connection: socket.socket, wake: socket.socket, request: ProviderRequest) -> bool:
    """Send the answer; whether the connection can be used again."""
    answer = request.answer
    assert answer is not None
    if answer.stall == "before":
        return _silence(connection, wake)
    if answer.reset == "before":
        return _drop(connection)
    if answer.hang_up == "before":
        return False
    chunks, chunked = _chunks(request, answer)
    connection.sendall(_head(request, answer, chunks, chunked))
    middle = (len(chunks) + 1) // 2 if "middle" in (answer.stall, answer.reset, answer.hang_up) else None
    for n, chunk in enumerate(chunks):
        if n == middle:
            if answer.stall:
                return _silence(connection, wake)
            return _drop(connection) if answer.reset else False
        if answer.drip_seconds and _ended(connection, wake, answer.drip_seconds):
            return False
        connection.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk) if chunked else chunk)
    if chunked:
        connection.sendall(b"0\r\n\r\n")
    return True


def _chunks(request: ProviderRequest, answer: Answer) -> tuple[list[bytes], bool]:
    """The pieces of the body, and whether they go out as HTTP chunks."""
    model = str((request.body or {}).get("model", ""))
    if answer.raw is not None:
        whole = answer.raw
    elif answer.status != 200:
        whole = error_body(answer, request.dialect, request.key)
    elif request.streamed:
        return stream_events(answer, request.dialect, model), True
    else:
        whole = whole_body(answer, request.dialect, model)
    if not (answer.stall or answer.reset or answer.hang_up or answer.drip_seconds):
        return [whole], False
    step = max(1, len(whole) // 8)
    return [whole[at : at + step] for at in range(0, len(whole), step)], False


def _head(request: ProviderRequest, answer: Answer, chunks: list[bytes], chunked: bool) -> bytes:
    content_type = "text/event-stream" if chunked else answer.content_type
    if answer.raw is not None and answer.content_type == "application/json" and request.streamed:
        content_type = "text/event-stream"
        chunks[0] = b"data: " + chunks[0] + b"\n\n"
    length = {} if chunked else {"Content-Length": str(sum(map(len, chunks)))}
    headers = {"Content-Type": content_type, **length, **answer.headers}
    if chunked:
        headers["Transfer-Encoding"] = "chunked"
    lines = [f"HTTP/1.1 {answer.status} Scripted", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _silence(connection: socket.socket, wake: socket.socket) -> bool:
    """Say nothing until the client or the server ends."""
    _ended(connection, wake, None)
    return False


def _ended(connection: socket.socket, wake: socket.socket, seconds: float | None) -> bool:
    """Whether the client or the server ended within `seconds`."""
    while True:
        ready, _, _ = select.select([connection, wake], [], [], seconds)
        if not ready:
            return False
        if wake in ready or not connection.recv(1 << 16):
            return True


def _drop(connection: socket.socket) -> bool:
    """Close with a TCP reset, which the client sees as one."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, DROPPED)
    return False
