"""The table of the protocol: each method, event and server request with the types it carries.

Importing it loads no noun. Types are named "module:Type" and loaded on first use with `load`.
"""

from typing import Any

from msgspec import Struct

STABLE = "stable"

REQUEST = "request"
NOTIFICATION = "notification"
EITHER = "either"


class Method(Struct, frozen=True):
    """A call from client to server.

    params and result are type names for `load`; the result of a notification is null. `kind` is "request",
    "notification", or "either" for what may be sent both ways. `implemented` is false for a method that this
    version describes but does not answer yet: it gets -32601.
    """

    name: str
    params: str
    result: str | None
    kind: str = REQUEST
    stability: str = STABLE
    implemented: bool = True


class Event(Struct, frozen=True):
    """A notification from server to client. `implemented` is false where this version never sends it."""

    name: str
    params: str
    stability: str = STABLE
    implemented: bool = True


class ServerRequest(Struct, frozen=True):
    """A call from server to client, sent only to a client that declared `capability`."""

    name: str
    params: str
    result: str
    capability: str
    stability: str = STABLE
    implemented: bool = True


def load(type_name: str) -> Any:
    """The type that "module:Type" names; imports the module of the noun on first use."""
    from importlib import import_module

    module, _, name = type_name.partition(":")
    return getattr(import_module("afterturn_protocol." + module), name)


_EMPTY = "shape:Empty"


_METHODS = (
    Method("initialize", "lifecycle:InitializeParams", "lifecycle:InitializeResult"),
    Method("initialized", _EMPTY, None, NOTIFICATION),
    Method("shutdown", _EMPTY, _EMPTY),
    Method("exit", _EMPTY, None, NOTIFICATION),
    Method("$/cancelRequest", "lifecycle:CancelParams", None, NOTIFICATION),
    Method("$/setTrace", "lifecycle:SetTraceParams", None, NOTIFICATION),
    Method("workspace/didChangeConfiguration", "lifecycle:DidChangeConfigurationParams", None, NOTIFICATION),
    Method("session/open", "session:SessionOpenParams", "session:SessionOpenResult"),
    Method("session/changed", "session:SessionChangedParams", None, NOTIFICATION),
    Method("session/close", "session:SessionCloseParams", _EMPTY, EITHER),
    Method("session/delete", "session:SessionDeleteParams", "session:SessionDeleteResult"),
    Method("condense/summarize", "condense:SummarizeParams", "condense:CondenseResult"),
    Method("condense/resolveRef", "refs:ResolveRefParams", "refs:ResolveRefResult"),
    Method("condense/onTurnEnd", "condense:CondenseTurnEndParams", "condense:CondenseTurnEndResult"),
    Method("condense/flush", "condense:FlushParams", "condense:FlushResult"),
    Method("condense/fuse", "condense:FuseParams", "condense:FuseResult"),
    Method("condense/plan", "condense:PlanParams", "condense:PlanResult"),
    Method("recap/onFocus", "recap:RecapFocusParams", _EMPTY, EITHER),
    Method("recap/onTurnStart", "recap:RecapTurnStartParams", _EMPTY, EITHER),
    Method("recap/onAgentStart", "recap:RecapAgentStartParams", _EMPTY, EITHER),
    Method("recap/onInput", "recap:RecapInputParams", _EMPTY, EITHER),
    Method("recap/onTurnEnd", "recap:RecapTurnEndParams", _EMPTY, EITHER),
    Method("recap/now", "recap:RecapNowParams", "recap:RecapNowResult"),
    Method("recap/get", "recap:RecapGetParams", "recap:RecapGetResult"),
    Method("recap/dismiss", "recap:RecapDismissParams", _EMPTY),
    Method("capture/episodeFinalized", "capture:EpisodeFinalizedParams", "capture:EpisodeFinalizedResult"),
    Method("capture/status", "capture:CaptureStatusParams", "capture:CaptureStatusResult"),
    Method("capture/drain", "capture:CaptureDrainParams", "capture:CaptureDrainResult"),
    Method("capture/retry", "capture:CaptureRetryParams", "capture:CaptureRetryResult"),
    Method("traces/list", "traces:TracesListParams", "traces:TracesListResult"),
    Method("traces/get", "traces:TracesGetParams", "traces:TracesGetResult"),
    Method("traces/search", "traces:TracesSearchParams", "traces:TracesSearchResult"),
    Method("traces/delete", "traces:TracesDeleteParams", "traces:TracesDeleteResult"),
    Method("traces/updateScore", "traces:TracesUpdateScoreParams", "traces:TracesUpdateScoreResult"),
    Method("events/since", "events:EventsSinceParams", "events:EventsSinceResult"),
    Method("afterturn/status", _EMPTY, "service:StatusResult"),
    Method("afterturn/usage", "service:UsageParams", "service:UsageResult"),
)

_EVENTS = (
    Event("$/progress", "lifecycle:ProgressParams"),
    Event("$/logTrace", "lifecycle:LogTraceParams"),
    Event("window/logMessage", "lifecycle:LogMessageParams"),
    Event("condense.ready", "condense:CondenseReady"),
    Event("recap.ready", "recap:Recap"),
    Event("recap.cleared", "recap:RecapCleared"),
    Event("recap.skipped", "recap:RecapSkipped"),
    Event("recap.failed", "recap:RecapFailed"),
    Event("capture.started", "capture:CaptureStarted"),
    Event("capture.done", "capture:CaptureDone"),
    Event("capture.failed", "capture:CaptureFailed"),
    Event("usage.limit", "events:UsageLimit"),
)

_SERVER_REQUESTS = (
    ServerRequest("sampling/createMessage", "sampling:CreateMessageParams", "sampling:CreateMessageResult", "sampling"),
    ServerRequest("host/getContext", "sampling:GetContextParams", "context:RecapContext", "context"),
)

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
"""Every call from client to server, by name."""

EVENTS: dict[str, Event] = {event.name: event for event in _EVENTS}
"""Every notification from server to client, by name."""

SERVER_REQUESTS: dict[str, ServerRequest] = {request.name: request for request in _SERVER_REQUESTS}
"""Every call from server to client, by name."""
