"""The one table from method to handler. Types are the protocol's business (`afterturn_protocol.table`)."""

from msgspec import Struct


class Binding(Struct, frozen=True):
    """Where a method is handled: the function `module`.`name`, called with the service called `service`.

    `ordered`: takes effect in its session's order of arrival. `deadline_seconds`: when the server answers
    `deadline` of its own accord; condensing bounds its model calls itself, this is the wall behind that.
    """

    module: str
    name: str
    service: str
    ordered: bool = False
    deadline_seconds: float = 30.0


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
    "condense/resolveRef": Binding("condense", "resolve_ref", "condense", True),
    "condense/onTurnEnd": Binding("condense", "on_turn_end", "condense", True),
    "condense/flush": Binding("condense", "flush", "condense", True),
    "condense/fuse": Binding("condense", "fuse", "condense", True, _MODEL_DEADLINE_SECONDS),
    "condense/plan": Binding("condense", "plan", "condense", True),
    "afterturn/status": Binding("service", "status", "status"),
}
