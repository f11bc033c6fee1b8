"""initialize, initialized, shutdown, trace, configuration (protocol.md, 'Lifecycle')."""

from typing import Any, Protocol, cast

from afterturn import PROTOCOL_VERSION, __version__
from afterturn.rpc.call import Call
from afterturn.rpc.errors import RequestError
from afterturn_protocol.errors import REQUEST_FAILED, ErrorData, Kind
from afterturn_protocol.lifecycle import (
    AfterturnServerCapabilities,
    DidChangeConfigurationParams,
    InitializeParams,
    InitializeResult,
    Limits,
    ServerCapabilities,
    ServerExperimental,
    ServerInfo,
    SetTraceParams,
)
from afterturn_protocol.shape import Empty


class Server(Protocol):
    """What these methods need of the process."""

    max_message_bytes: int
    max_in_flight: int

    def method_names(self) -> list[str]:
        """The methods that are answered."""
        ...

    def event_names(self) -> list[str]:
        """The events that can be sent."""
        ...

    def begin(self, params: InitializeParams) -> dict[str, Any]:
        """The client has introduced itself; what is declared to it beside our own capabilities, by field."""
        ...

    def begin_shutdown(self) -> None:
        """No more work is taken."""
        ...

    def set_trace(self, value: str | None) -> None:
        """How much the client wants to be told of what is being done."""
        ...

    def change_settings(self, tree: Any) -> None:
        """The client's settings, replacing those it sent before."""
        ...


def initialize(server: Server, params: InitializeParams, call: Call) -> InitializeResult:
    """`initialize`: who is there, and what both sides can do. A version we do not speak may be followed by another."""
    experimental = params.capabilities and params.capabilities.experimental
    ours = experimental and experimental.afterturn
    asked = ours.protocol_version if ours else None
    if asked not in (None, PROTOCOL_VERSION):
        data = ErrorData(kind=Kind.PROTOCOL_VERSION, retryable=False, supported=[PROTOCOL_VERSION])
        raise RequestError(REQUEST_FAILED, f"Protocol version {asked} is not supported", data)
    declared = server.begin(params)
    return InitializeResult(
        capabilities=ServerCapabilities(
            **declared,
            experimental=ServerExperimental(
                afterturn=AfterturnServerCapabilities(
                    protocol_version=PROTOCOL_VERSION,
                    methods=server.method_names(),
                    events=server.event_names(),
                    limits=Limits(max_message_bytes=server.max_message_bytes, max_in_flight=server.max_in_flight),
                )
            ),
        ),
        server_info=ServerInfo(name="afterturn", version=__version__),
    )


def initialized(server: Server, params: Empty, call: Call) -> None:
    """`initialized`: nothing waits for it."""


def shutdown(server: Server, params: Empty, call: Call) -> None:
    """`shutdown`: answered at once; what is in flight goes on until `exit`."""
    server.begin_shutdown()


def set_trace(server: Server, params: SetTraceParams, call: Call) -> None:
    """`$/setTrace`."""
    server.set_trace(params.value)


def configuration_changed(server: Server, params: DidChangeConfigurationParams, call: Call) -> None:
    """`workspace/didChangeConfiguration`: settings stand under the key `afterturn`."""
    settings: Any = params.settings
    tree = cast("dict[str, Any]", settings) if isinstance(settings, dict) else {}
    server.change_settings(tree.get("afterturn"))
