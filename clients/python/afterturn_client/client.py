"""The client: one server, started and ended with an `async with`, its methods grouped by noun."""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack, overload

from msgspec import Struct

from afterturn import __version__
from afterturn_client.answering import ContextHandler, Handlers, SamplingHandler
from afterturn_client.connection import Connection, decoded
from afterturn_client.errors import AfterturnError, BadParams, NotOpen, ServerError, WrongVersion
from afterturn_client.finding import find_server, safe_environment
from afterturn_client.link import Link
from afterturn_client.listening import Listener, Listening
from afterturn_client.noun import OnProgress
from afterturn_client.nouns import Nouns
from afterturn_client.run import Run
from afterturn_protocol import PROTOCOL_VERSION
from afterturn_protocol.errors import Kind
from afterturn_protocol.lifecycle import (
    AfterturnClientCapabilities,
    ClientCapabilities,
    ClientExperimental,
    ClientInfo,
    InitializeParams,
    InitializeResult,
    LogMessageParams,
    ProgressParams,
    RecapCapability,
)
from afterturn_protocol.shape import Empty
from afterturn_protocol.table import METHODS, load

if TYPE_CHECKING:
    from afterturn_protocol.settings import Settings

log = logging.getLogger("afterturn_client")

E = TypeVar("E")
DEFAULT_TIMEOUT_MS = 60_000
_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO}


class ClientOptions(TypedDict, total=False):
    """What you are and what you can do; each may be left out.

    settings: over the user's settings file (spec/settings.md).
    client_info: who you are.
    recap: what you can do with recaps; without it none is drafted by itself.
    sampling: completes prompts with your model; without it the server uses one of the settings, or none.
    context: gives the conversation when the server needs it for a recap.
    timeout_ms: limit of a call that does not say its own; 60,000.
    """

    settings: "Settings | Mapping[str, Any] | None"
    client_info: ClientInfo | None
    recap: RecapCapability | None
    sampling: SamplingHandler | None
    context: ContextHandler | None
    timeout_ms: int


class Afterturn(Nouns):
    """A running afterturn.

        async with Afterturn.start() as client:
            result = await client.condense.summarize(SummarizeParams(...), timeout_ms=5000)

    Each call raises AfterturnError, and nothing else, when it has no result: within `timeout_ms` (60 s unless said
    otherwise), or at once when the server ends. Cancelling a call cancels its request on the server.
    """

    def __init__(self, open_link: Callable[[], Awaitable[Link]], **options: Unpack[ClientOptions]) -> None:
        """Use `start` or `in_process`. open_link: opens the way to a server when the client is entered."""
        super().__init__(self)
        self.timeout_ms = options.get("timeout_ms", DEFAULT_TIMEOUT_MS)
        self._open_link = open_link
        self._settings = options.get("settings")
        self._client_info = options.get("client_info") or ClientInfo(name="afterturn_client", version=__version__)
        self._recap = options.get("recap")
        handlers = {"sampling/createMessage": options.get("sampling"), "host/getContext": options.get("context")}
        self._handlers: Handlers = {name: handler for name, handler in handlers.items() if handler is not None}
        self._listening = Listening()
        self._progress: dict[int | str, OnProgress] = {}
        self._last_token = 0
        self._entered = False
        self._run: Run | None = None
        self._hello: InitializeResult | None = None

    @classmethod
    def start(
        cls,
        command: Sequence[str] | None = None,
        *,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        **options: Unpack[ClientOptions],
    ) -> Self:
        """A client whose server is a child process, started by `async with`.

        command: what to start instead of what is found (AFTERTURN_PATH, this interpreter's own, PATH).
        args: further options of the server, such as "--log-level=debug".
        env: variables for the child beyond what it needs to find its files: keys of providers for one.
        cwd: its working folder; nothing depends on it.
        options: see ClientOptions.
        """
        from afterturn_client.child import Child

        async def open_link() -> Link:
            found = [*find_server(command, os.environ), "--stdio", f"--clientProcessId={os.getpid()}", *args]
            return await Child.spawn(found, safe_environment(os.environ, env), cwd)

        return cls(open_link, **options)

    @classmethod
    def in_process(cls, *, args: Sequence[str] = (), **options: Unpack[ClientOptions]) -> Self:
        """A client whose server is the real one on a thread of this process.

        It reads this process's environment and logs to this process's `afterturn` loggers.

        args: options of the server, as on its command line.
        options: see ClientOptions.
        """

        async def open_link() -> Link:
            from afterturn_client.in_process import InProcess

            return InProcess(args)

        return cls(open_link, **options)

    # -- beginning and end -------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        if self._entered:
            raise NotOpen("a client is started once; make another one")
        self._entered = True
        try:
            link = await self._open_link()
        except BaseException:
            self._entered = False
            raise
        self._run = Run(link, self._handlers, self._receive_event, self._listening)
        try:
            self._hello = await self._shake_hands(link, self._run.connection)
        except BaseException:
            await self._run.finish()
            raise
        return self

    async def __aexit__(self, *problem: object) -> None:
        if self._run is not None:
            await self._run.finish()

    async def _shake_hands(self, link: Link, connection: Connection) -> InitializeResult:
        ours = AfterturnClientCapabilities(
            protocol_version=PROTOCOL_VERSION,
            sampling=True if "sampling/createMessage" in self._handlers else None,
            context=True if "host/getContext" in self._handlers else None,
            recap=self._recap,
        )
        params = InitializeParams(
            process_id=link.watch_pid,
            client_info=self._client_info,
            capabilities=ClientCapabilities(experimental=ClientExperimental(afterturn=ours)),
            initialization_options=self._settings,
        )
        try:
            hello: InitializeResult = await _asked(connection, "initialize", params, self.timeout_ms)
        except ServerError as problem:
            if problem.kind == Kind.PROTOCOL_VERSION:
                raise _wrong_version(problem.data.supported or []) from None
            raise
        spoken = hello.capabilities.experimental.afterturn
        if spoken.protocol_version != PROTOCOL_VERSION:
            raise _wrong_version([spoken.protocol_version])
        connection.max_message_bytes = spoken.limits.max_message_bytes
        connection.notify("initialized", Empty())
        return hello

    # -- calls -------------------------------------------------------------------------------------------

    async def call(
        self, method: str, params: Any = None, *, timeout_ms: int | None = None, on_progress: OnProgress | None = None
    ) -> Any:
        """Send any request: its typed result, None where the protocol describes none, plain JSON for a method that
        this version does not know. The nouns' methods are this with types.

        params: the method's Struct, or anything that JSON can say. Raises AfterturnError.
        """
        limit = self.timeout_ms if timeout_ms is None else timeout_ms
        connection = self._opened().connection
        if on_progress is None:
            return await _asked(connection, method, params, limit)
        self._last_token += 1
        token = f"progress-{self._last_token}"
        self._progress[token] = on_progress
        try:
            return await _asked(connection, method, _with_token(method, params, token), limit)
        finally:
            del self._progress[token]

    async def notify(self, method: str, params: Any = None) -> None:
        """Send any notification. Raises AfterturnError where it cannot be sent."""
        self._opened().connection.notify(method, params)

    # -- events ------------------------------------------------------------------------------------------

    @overload
    def listen(self) -> Listener[Any]: ...

    @overload
    def listen(self, *kinds: type[E]) -> Listener[E]: ...

    def listen(self, *kinds: type[Any]) -> Listener[Any]:
        """Events of these types from now on: `async for event in client.listen(CondenseReady)`, or `await .next()`.

        Without types: all, and UnknownEvent for those of a newer server.
        """
        return self._listening.listen(kinds)

    def on(self, kind: type[E], callback: Callable[[E], None]) -> Callable[[], None]:
        """Call `callback` with every event of this type, in the event loop: it must not block. Returns what ends it."""
        return self._listening.on(kind, callback)

    def _receive_event(self, name: str, params: Any) -> None:
        if name == "$/progress":
            self._report(params)
            return
        if name == "window/logMessage":
            _log_message(params)
        self._listening.deliver(name, params)

    def _report(self, params: Any) -> None:
        try:
            progress: ProgressParams = decoded("$/progress", params, ProgressParams)
            on_progress = self._progress.get(progress.token)
            if on_progress is not None:
                on_progress(progress.value)
        except Exception:
            log.exception("progress could not be told")

    # -- the server --------------------------------------------------------------------------------------

    @property
    def server(self) -> InitializeResult:
        """What the server said of itself when it started."""
        if self._hello is None:
            raise NotOpen("the server has not introduced itself yet")
        return self._hello

    @property
    def last_words(self) -> str:
        """The end of what the server wrote to stderr so far."""
        return self._opened().link.last_words

    def _opened(self) -> Run:
        if self._run is None:
            raise NotOpen("use the client inside of `async with`")
        return self._run


async def _asked(connection: Connection, method: str, params: Any, timeout_ms: int) -> Any:
    raw = await connection.ask(method, params, timeout_ms)
    result = decoded(method, raw, _result_type(method))
    return None if isinstance(result, Empty) else result


@cache
def _result_type(method: str) -> Any:
    """What a method's result is decoded as; anything for one that the table does not have."""
    known = METHODS.get(method)
    return object if known is None or known.result is None else load(known.result)


def _with_token(method: str, params: Any, token: str) -> Any:
    from msgspec.structs import replace

    try:
        if isinstance(params, Struct):
            return replace(params, work_done_token=token)
        fields: Mapping[str, Any] = params or {}
        return {**fields, "workDoneToken": token}
    except TypeError as problem:
        raise BadParams(f"{method}: its params have no place for a progress token") from problem


def _wrong_version(supported: list[int]) -> WrongVersion:
    return WrongVersion(
        f"this client speaks version {PROTOCOL_VERSION} of the protocol, the server {supported}:"
        " install the same version of afterturn for both",
        supported,
    )


def _log_message(params: Any) -> None:
    try:
        told: LogMessageParams = decoded("window/logMessage", params, LogMessageParams)
    except AfterturnError as problem:
        log.warning("%s", problem)
    else:
        log.log(_LEVELS.get(told.type, logging.DEBUG), "%s", told.message)
