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


def _later(name: str, params: str, result: str | None, kind: str = REQUEST) -> Method:
    return Method(name, params, result, kind, implemented=False)


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
    Method("condense/resolveRef", "condense:ResolveRefParams", "condense:ResolveRefResult"),
    Method("condense/onTurnEnd", "condense:CondenseTurnEndParams", "condense:CondenseTurnEndResult"),
    Method("condense/flush", "condense:FlushParams", "condense:FlushResult"),
    Method("condense/fuse", "condense:FuseParams", "condense:FuseResult"),
    Method("condense/plan", "condense:PlanParams", "condense:PlanResult"),
    _later("recap/onFocus", "recap:RecapFocusParams", _EMPTY, EITHER),
    _later("recap/onTurnStart", "recap:RecapTurnStartParams", _EMPTY, EITHER),
    _later("recap/onAgentStart", "recap:RecapAgentStartParams", _EMPTY, EITHER),
    _later("recap/onInput", "recap:RecapInputParams", _EMPTY, EITHER),
    _later("recap/onTurnEnd", "recap:RecapTurnEndParams", _EMPTY, EITHER),
    _later("recap/now", "recap:RecapNowParams", "recap:RecapNowResult"),
    _later("recap/get", "recap:RecapGetParams", "recap:RecapGetResult"),
    _later("recap/dismiss", "recap:RecapDismissParams", _EMPTY),
    _later("capture/episodeFinalized", "capture:EpisodeFinalizedParams", "capture:EpisodeFinalizedResult"),
    _later("capture/status", "capture:CaptureStatusParams", "capture:CaptureStatusResult"),
    _later("capture/drain", "capture:CaptureDrainParams", "capture:CaptureDrainResult"),
    _later("capture/retry", "capture:CaptureRetryParams", "capture:CaptureRetryResult"),
    _later("traces/list", "traces:TracesListParams", "traces:TracesListResult"),
    _later("traces/get", "traces:TracesGetParams", "traces:TracesGetResult"),
    _later("traces/search", "traces:TracesSearchParams", "traces:TracesSearchResult"),
    _later("traces/delete", "traces:TracesDeleteParams", "traces:TracesDeleteResult"),
    _later("traces/updateScore", "traces:TracesUpdateScoreParams", "traces:TracesUpdateScoreResult"),
    _later("events/since", "events:EventsSinceParams", "events:EventsSinceResult"),
    Method("afterturn/status", _EMPTY, "service:StatusResult"),
    _later("afterturn/usage", "service:UsageParams", "service:UsageResult"),
)

_EVENTS = (
    Event("$/progress", "lifecycle:ProgressParams"),
    Event("$/logTrace", "lifecycle:LogTraceParams"),
    Event("window/logMessage", "lifecycle:LogMessageParams"),
    Event("condense.ready", "condense:CondenseReady"),
    Event("recap.ready", "recap:Recap", implemented=False),
    Event("recap.cleared", "recap:RecapCleared", implemented=False),
    Event("recap.skipped", "recap:RecapSkipped", implemented=False),
    Event("recap.failed", "recap:RecapFailed", implemented=False),
    Event("capture.started", "capture:CaptureStarted", implemented=False),
    Event("capture.done", "capture:CaptureDone", implemented=False),
    Event("capture.failed", "capture:CaptureFailed", implemented=False),
    Event("usage.limit", "events:UsageLimit", implemented=False),
)

_SERVER_REQUESTS = (
    ServerRequest("sampling/createMessage", "sampling:CreateMessageParams", "sampling:CreateMessageResult", "sampling"),
    ServerRequest("host/getContext", "sampling:GetContextParams", "context:RecapContext", "context", implemented=False),
)

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
"""Every call from client to server, by name."""

EVENTS: dict[str, Event] = {event.name: event for event in _EVENTS}
"""Every notification from server to client, by name."""

SERVER_REQUESTS: dict[str, ServerRequest] = {request.name: request for request in _SERVER_REQUESTS}
"""Every call from server to client, by name."""
