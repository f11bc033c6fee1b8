"""The composition root: the only place that knows every part.

`App` is one client's server: it owns the descriptors, the connection, the settings in force and the services, and
it decides how the process ends. Services are built on first use, so that what a client never asks for is never
loaded.
"""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from afterturn.clock import Clock, SystemClock
from afterturn.logs import set_up_logs
from afterturn.methods.table import BINDINGS, Binding
from afterturn.options import ServeOptions
from afterturn.rpc.call import Call, Handler
from afterturn.rpc.connection import MAX_IN_FLIGHT, Connection
from afterturn.rpc.lifecycle import State
from afterturn.rpc.routes import Route
from afterturn.watch import ClientWatch
from afterturn.wire.framing import make_framing
from afterturn.wire.stdio import Reader, Writer
from afterturn_protocol.lifecycle import AfterturnClientCapabilities, InitializeParams
from afterturn_protocol.table import EVENTS, METHODS, REQUEST, load

if TYPE_CHECKING:
    from afterturn.editor.ports import Needs as EditorNeeds
    from afterturn.parts import Parts
    from afterturn.settings import Layer
    from afterturn_protocol.service import SettingsProblem
    from afterturn_protocol.settings import Settings

log = logging.getLogger("afterturn.app")

EOF_GRACE_SECONDS = 1.0
END_LIMIT_SECONDS = 1.8
FLUSH_SECONDS = 0.3
CANCEL_SECONDS = 0.2
STALL_SECONDS = 1.0
GREETING_SECONDS = 8.0
"""How long a client that is named on the command line and cannot be seen has for its `initialize` (case L01)."""
CONGESTED_BYTES = 16 * 1024 * 1024
FULL_BYTES = 64 * 1024 * 1024
GC_YOUNG_OBJECTS = 20_000
TRACES = ("messages", "verbose")


def run_server(options: ServeOptions, stdin_fd: int, stdout_fd: int) -> int:
    """Serve one client on two claimed descriptors; returns the exit code (protocol.md, 'Lifecycle')."""
    set_up_logs(options.log_level)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    app = App(options, loop, stdin_fd, stdout_fd)
    return loop.run_until_complete(app.run())


class App:
    """One client's server, from the first byte to the exit code.

    owns_process: whether the process is there for this server alone. One that runs inside of another program leaves
    that program's signals and garbage collector alone, and does not end it where something hangs.
    """

    def __init__(
        self,
        options: ServeOptions,
        loop: asyncio.AbstractEventLoop,
        stdin_fd: int,
        stdout_fd: int,
        *,
        bindings: dict[str, Binding] = BINDINGS,
        clock: Clock | None = None,
        owns_process: bool = True,
    ) -> None:
        self.max_message_bytes = options.max_message_bytes
        self.max_in_flight = MAX_IN_FLIGHT
        self.clock = clock or SystemClock()
        self.started = self.clock.monotonic()
        self._options = options
        self._loop = loop
        self._owns_process = owns_process
        self._ending: asyncio.Future[tuple[int, float]] = loop.create_future()
        self._writer = Writer(loop, stdout_fd, self._stdout_broken, CONGESTED_BYTES)
        self._reader = Reader(loop, stdin_fd, self._feed, self._stdin_ended)
        self.connection = Connection(
            make_framing(options.framing, options.max_message_bytes),
            self._writer,
            on_exit=lambda code: self.end(code, 0.0),
            on_hold=self._hold,
        )
        for name, binding in bindings.items():
            self.connection.routes[name] = self._route(name, binding)
        self.client_capabilities = AfterturnClientCapabilities()
        self._client_layers: list[Layer] = []
        self._settings: tuple[Settings, list[SettingsProblem]] | None = None
        self._told: frozenset[str] = frozenset()
        self._parts: Parts | None = None
        self._watches: list[ClientWatch] = []

    # -- running and ending ------------------------------------------------------------------------------

    async def run(self) -> int:
        """Serve until something ends the process; returns the exit code, with everything saved and flushed."""
        loop = self._loop
        loop.set_exception_handler(_log_stray_exception)
        if self._owns_process:
            for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
                loop.add_signal_handler(number, self.end, code, 0.0)
            loop.call_soon(_start_collecting)
        if self._options.client_process_id is not None and not self._watch(self._options.client_process_id):
            # It may be outside of this container, or have died while this process started: only the former goes on.
            loop.call_later(GREETING_SECONDS, self._end_unless_greeted)
        self._reader.start()
        code, grace_seconds = await self._ending
        # Whatever a handler or a disk still does: the client is gone, and the process goes with it.
        hard = threading.Timer(END_LIMIT_SECONDS, os._exit, (code,))
        hard.daemon = True
        if self._owns_process:
            hard.start()
        self._reader.close()
        self.connection.end()
        ended_at = loop.time()
        await self.connection.settle(grace_seconds)
        # A client that reads slowly gets the rest of the grace for what it asked before.
        self._writer.flush_now(max(FLUSH_SECONDS, grace_seconds + FLUSH_SECONDS - (loop.time() - ended_at)))
        # What is being cancelled gives its claims back, for which it needs the store.
        await self.connection.cancel_tasks(CANCEL_SECONDS)
        if self._parts is not None:
            await self._parts.close()
        self._writer.flush_now(FLUSH_SECONDS)
        hard.cancel()
        return code

    def end(self, code: int, grace_seconds: float) -> None:
        """End with this exit code; open requests get `grace_seconds` before they are answered -32802."""
        if not self._ending.done():
            self._ending.set_result((code, grace_seconds))

    def _stdin_ended(self) -> None:
        self.connection.feed_end()
        self.end(0, EOF_GRACE_SECONDS)

    def _stdout_broken(self) -> None:
        self.end(0, 0.0)

    def _end_unless_greeted(self) -> None:
        if self.connection.state is State.NEW:
            log.warning("no client has initialized, and none can be seen")
            self.end(0, 0.0)

    def _watch(self, pid: int) -> bool:
        """End with the client's process; whether it can be watched."""
        watch = ClientWatch(self._loop, pid, lambda: self.end(0, 0.0))
        self._watches.append(watch)
        return watch.watched

    # -- bytes in, and a client that does not read --------------------------------------------------------

    def _feed(self, data: bytes) -> None:
        self._writer.cork()
        try:
            self.connection.feed(data)
        finally:
            self._writer.uncork()

    def _hold(self) -> None:
        """The client is far behind in reading its answers: leave its further requests in the pipe for a while."""
        self._reader.pause()
        self._writer.when_drained(self._drained)
        if not self.connection.congested:
            self._loop.call_later(STALL_SECONDS, self._still_full)

    def _still_full(self) -> None:
        """Holding it back did not help: it does not read at all. It is told so, as long as even that can be kept."""
        if self._writer.full and not self.connection.congested:
            self.connection.congested = True
            self._writer.raise_limit(FULL_BYTES)
            self._go_on()

    def _drained(self) -> None:
        self.connection.congested = False
        self._writer.raise_limit(CONGESTED_BYTES)
        self._go_on()

    def _go_on(self) -> None:
        self._reader.resume()
        self.connection.resume()

    # -- settings ----------------------------------------------------------------------------------------

    @property
    def settings(self) -> "Settings":
        """The settings in force."""
        return self._resolved()[0]

    @property
    def settings_problems(self) -> "list[SettingsProblem]":
        """What could not be used of the settings."""
        return self._resolved()[1]

    def _resolved(self) -> "tuple[Settings, list[SettingsProblem]]":
        if self._settings is None:
            from afterturn.settings import file_layers, resolve

            layers, problems = file_layers(os.environ)
            settings, more = resolve(layers + self._client_layers)
            self._settings = settings, problems + more
        return self._settings

    def change_settings(self, tree: Any) -> None:
        """`workspace/didChangeConfiguration`: replaces what the client sent that way before."""
        from afterturn.settings import Layer

        source = "workspace/didChangeConfiguration"
        self._client_layers = [layer for layer in self._client_layers if layer.source != source]
        self._client_layers.append(Layer(source, tree))
        self._settings = None
        if self._parts is not None:
            settings, problems = self._resolved()
            self._settings = settings, problems + self._parts.settings_changed()
        self._tell_problems()

    def _tell_problems(self) -> None:
        """Report each bad setting once, and again when it had been mended in between."""
        before, self._told = self._told, frozenset(each.problem for each in self.settings_problems)
        for problem in self.settings_problems:
            if problem.problem not in before:
                log.info("%s", problem.problem)
                self.connection.notify("window/logMessage", {"type": 2, "message": f"afterturn: {problem.problem}"})

    # -- what the lifecycle methods ask for (methods.lifecycle.Server) -----------------------------------------

    def method_names(self) -> list[str]:
        return sorted(name for name in self.connection.routes if name in METHODS)

    def event_names(self) -> list[str]:
        return [event.name for event in EVENTS.values() if event.implemented]

    def begin(self, params: InitializeParams) -> dict[str, Any]:
        declared = self._mount(params)
        experimental = params.capabilities and params.capabilities.experimental
        if experimental and experimental.afterturn:
            self.client_capabilities = experimental.afterturn
        self.connection.state = State.READY
        self.set_trace(params.trace)
        if params.initialization_options:
            from afterturn.settings import Layer

            self._client_layers = [Layer("initializationOptions", params.initialization_options)]
        if params.process_id is not None and params.process_id != self._options.client_process_id:
            self._watch(params.process_id)
        # Reading the settings file can wait until the client has its answer; its problems have to.
        self._loop.call_soon(self._tell_problems)
        return declared

    def _mount(self, params: InitializeParams) -> dict[str, Any]:
        """The language-server face, for an editor; what LSP's part of the capabilities is then.

        Loading it takes a quarter of a second, which nobody else waits for: no request is taken before this answer.
        """
        if params.capabilities is None or params.capabilities.text_document is None:
            return {}
        from afterturn.editor.mount import Face

        face = Face(self._editor_needs(), params)
        self.connection.routes.update(face.routes)
        self.connection.speak_whole()
        return face.capabilities

    def _editor_needs(self) -> "EditorNeeds":
        from afterturn.editor.ports import Needs

        return Needs(
            line=self.connection,
            originals=lambda: self.parts.originals,
            recaps=lambda: self.parts.recap,
            traces=lambda: self.parts.recall,
            status=lambda: self.parts.status,
            catalogue=lambda: self.parts.store.catalogue,
            opened=lambda: self.parts.store.opened,
            change_settings=self.change_settings,
            begin_shutdown=self.begin_shutdown,
        )

    def begin_shutdown(self) -> None:
        self.connection.state = State.SHUTDOWN

    def set_trace(self, value: str | None) -> None:
        self.connection.trace = value if value in TRACES else "off"

    # -- parts -------------------------------------------------------------------------------------------

    def _route(self, name: str, binding: Binding) -> Route:
        def bind() -> tuple[type, Handler]:
            from importlib import import_module

            module = import_module(f"afterturn.methods.{binding.module}")
            handle: Callable[..., Any] = getattr(module, binding.name)
            service = self._service(binding.service)
            return load(METHODS[name].params), self._noting(handle, service) if binding.ordered else partial(
                handle, service
            )

        return Route(
            name,
            bind,
            ordered=binding.ordered,
            at_once=binding.at_once,
            request_only=METHODS[name].kind == REQUEST,
            deadline_seconds=binding.deadline_seconds,
        )

    def _noting(self, handle: Callable[..., Any], service: Any) -> Handler:
        """`handle` with its service, and the session is one that this client has used."""
        at_work = self.parts.at_work

        def noted(params: Any, call: Call) -> Any:
            at_work(params.session_id)
            return handle(service, params, call)

        return noted

    def _service(self, name: str) -> Any:
        return self if name == "server" else self.parts.service(name)

    @property
    def parts(self) -> "Parts":
        """The services, built on first use."""
        if self._parts is None:
            from afterturn.parts import Parts

            self._parts = Parts(self)
        return self._parts


def _log_stray_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What no request can be blamed for. Like every log line it says where, not what was in the values."""
    from afterturn.rpc.errors import where

    problem = context.get("exception")
    log.error(
        "%s: %s", context.get("message"), where(problem) if isinstance(problem, BaseException) else "no exception"
    )


def _start_collecting() -> None:
    """Garbage collection was off while everything was loaded; what is there now stays and is never looked at again."""
    import gc

    gc.freeze()
    # A summary makes thousands of short-lived objects that all die by reference count; looking at them every 700 of
    # them took a tenth of its time.
    gc.set_threshold(GC_YOUNG_OBJECTS, 10, 10)
    gc.enable()
