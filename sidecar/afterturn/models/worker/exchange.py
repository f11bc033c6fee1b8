"""What really happened between us and a provider, seen where the HTTP leaves the process.

litellm turns a reset into a status 500, a 529 into a 500, and a web page into an empty completion, so the classes
of its exceptions cannot be relied on. The transport of httpx, which all of its clients share, tells the truth.
"""

from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar

import httpx

from afterturn.models.worker.whole_answers import as_stream, is_whole

NEVER_ASKED = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
"""Failures before a request has left."""


class Exchange:
    """One call's HTTP.

    tried: a request was made. asked: it may have reached the provider. status, retry_after: of the last response.
    broken: the connection failed. on_bytes: called when something of a response arrives, from whatever thread.
    streams: a stream is asked for.
    """

    __slots__ = ("asked", "broken", "on_bytes", "retry_after", "status", "streams", "tried")

    def __init__(self, on_bytes: Callable[[], None], *, streams: bool = False) -> None:
        self.on_bytes = on_bytes
        self.streams = streams
        self.tried = False
        self.asked = False
        self.broken = False
        self.status: int | None = None
        self.retry_after: str | None = None

    def began(self, response: httpx.Response) -> None:
        """The head of a response is here."""
        self.asked = True
        self.status = response.status_code
        self.retry_after = response.headers.get("retry-after")
        self.on_bytes()

    def failed(self, problem: httpx.TransportError) -> None:
        """The connection failed."""
        self.broken = True
        self.asked = self.asked or not isinstance(problem, NEVER_ASKED)

    def begin(self) -> None:
        """A request is about to be made. Raises httpx.ConnectError for one that must not be.

        litellm repeats some requests by itself, when a connection ends or with other parameters, which may be paid
        twice and is the pool's to decide; and a redirect would take the key to another host.
        """
        if self.broken or (self.status is not None and self.status >= 300):
            raise httpx.ConnectError("a call is neither repeated nor redirected")
        self.tried = True


current_exchange: ContextVar[Exchange | None] = ContextVar("current_exchange", default=None)


class _WatchedStream(httpx.AsyncByteStream):
    """A response's body that tells the exchange of every piece."""

    def __init__(self, stream: httpx.AsyncByteStream, exchange: Exchange) -> None:
        self._stream = stream
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._stream:
                self._exchange.on_bytes()
                yield piece
        except httpx.TransportError as problem:
            self._exchange.failed(problem)
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()


def watch_http() -> None:
    """Have every HTTP request of this process report to the exchange of the call that it is made for."""
    send = httpx.AsyncHTTPTransport.handle_async_request
    send_blocking = httpx.HTTPTransport.handle_request

    async def watched(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        exchange = current_exchange.get()
        if exchange is None:
            return await send(self, request)
        exchange.begin()
        try:
            response = await send(self, request)
        except httpx.TransportError as problem:
            exchange.failed(problem)
            raise
        exchange.began(response)
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _WatchedStream(response.stream, exchange)
        return await as_stream(response) if exchange.streams and is_whole(response) else response

    def watched_blocking(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        exchange = current_exchange.get()
        if exchange is None:
            return send_blocking(self, request)
        exchange.begin()
        try:
            response = send_blocking(self, request)
        except httpx.TransportError as problem:
            exchange.failed(problem)
            raise
        exchange.began(response)
        return response

    httpx.AsyncHTTPTransport.handle_async_request = watched
    httpx.HTTPTransport.handle_request = watched_blocking
