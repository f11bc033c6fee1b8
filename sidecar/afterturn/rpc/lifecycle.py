"""Which message is allowed when (protocol.md, 'Lifecycle'). Pure: one table, tested as such."""

import enum

from afterturn_protocol.errors import INVALID_REQUEST, NOT_INITIALIZED, ErrorObject


class State(enum.Enum):
    """Where a connection is in its life."""

    NEW = "new"
    READY = "ready"
    SHUTDOWN = "shutdown"


def refuse_request(state: State, method: str) -> ErrorObject | None:
    """The error a request gets because of the state alone, or None when it may run."""
    if state is State.READY:
        return ErrorObject(code=INVALID_REQUEST, message="Already initialized") if method == "initialize" else None
    if state is State.NEW:
        if method == "initialize":
            return None
        return ErrorObject(code=NOT_INITIALIZED, message="The first request must be initialize")
    return ErrorObject(code=INVALID_REQUEST, message="The server is shutting down")


def drop_notification(state: State, method: str) -> bool:
    """Whether a notification is ignored because of the state. `exit` never is; cancelling goes on to the end."""
    if method == "exit":
        return False
    if state is State.NEW:
        return True
    return state is State.SHUTDOWN and method != "$/cancelRequest"
