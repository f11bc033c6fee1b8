"""The one table from method to handler. Types are the protocol's business (`afterturn_protocol.table`)."""

from msgspec import Struct


class Binding(Struct, frozen=True):
    """Where a method is handled: the function `module`.`name`, called with the service called `service`.

    `ordered`: takes effect in its session's order of arrival. `deadline_seconds`: when the server answers
    `deadline` of its own accord; condensing bounds its model calls itself, this is the wall behind that. None: the
    request says how long. `at_once`: answered before its turn in that order comes.
    """

    module: str
    name: str
    service: str
    ordered: bool = False
    deadline_seconds: float | None = 30.0
    at_once: bool = False


_MODEL_DEADLINE_SECONDS = 120.0

BINDINGS: dict[str, Binding] = {
    "initialize": Binding("lifecycle", "initialize", "server"),
    "initialized": Binding("lifecycle", "initialized", "server"),
    "shutdown": Binding("lifecycle", "shutdown", "server"),
    "$/setTrace": Binding("lifecycle", "set_trace", "server"),
    "workspace/didChangeConfiguration": Binding("lifecycle", "configuration_changed", "server"),
    "session/open": Binding("session", "open_session", "sessions", ordered=True),
    "session/changed": Binding("session", "session_changed", "sessions", ordered=True),
    "session/close": Binding("session", "close_session", "sessions", ordered=True),
    "session/delete": Binding("session", "delete_session", "sessions", ordered=True),
    "condense/summarize": Binding("condense", "summarize", "condense", True, _MODEL_DEADLINE_SECONDS),
    "condense/resolveRef": Binding("originals", "resolve_ref", "originals", True),
    "condense/onTurnEnd": Binding("condense", "on_turn_end", "condense", True),
    "condense/flush": Binding("condense", "flush", "condense", True),
    "condense/fuse": Binding("condense", "fuse", "condense", True, _MODEL_DEADLINE_SECONDS),
    "condense/plan": Binding("condense", "plan", "condense", True),
    "recap/onFocus": Binding("recap", "on_focus", "recap", ordered=True, at_once=True),
    "recap/onTurnStart": Binding("recap", "on_turn_start", "recap", ordered=True, at_once=True),
    "recap/onAgentStart": Binding("recap", "on_agent_start", "recap", ordered=True, at_once=True),
    "recap/onInput": Binding("recap", "on_input", "recap", ordered=True, at_once=True),
    "recap/onTurnEnd": Binding("recap", "on_turn_end", "recap", ordered=True, at_once=True),
    "recap/now": Binding("recap", "now", "recap", True, _MODEL_DEADLINE_SECONDS),
    "recap/get": Binding("recap", "get", "recap", True),
    "recap/dismiss": Binding("recap", "dismiss", "recap", True),
    "capture/episodeFinalized": Binding("capture", "episode_finalized", "capture", ordered=True),
    "capture/status": Binding("capture", "status", "capture"),
    "capture/drain": Binding("capture", "drain", "capture", deadline_seconds=None),
    "capture/retry": Binding("capture", "retry", "capture"),
    "traces/list": Binding("traces", "list_traces", "recall"),
    "traces/get": Binding("traces", "get", "recall"),
    "traces/search": Binding("traces", "search", "recall"),
    "traces/delete": Binding("traces", "delete", "recall"),
    "traces/updateScore": Binding("traces", "update_score", "recall"),
    "events/since": Binding("traces", "events_since", "recall"),
    "afterturn/status": Binding("service", "status", "status"),
    "afterturn/usage": Binding("service", "usage", "usage"),
}
