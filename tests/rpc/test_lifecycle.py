"""Which message is allowed when."""

import pytest

from afterturn.rpc.lifecycle import State, drop_notification, refuse_request


@pytest.mark.req("lifecycle.before-initialize")
@pytest.mark.req("lifecycle.second-initialize")
@pytest.mark.req("lifecycle.after-shutdown")
@pytest.mark.parametrize(
    ("state", "method", "code"),
    [
        (State.NEW, "initialize", None),
        (State.NEW, "session/open", -32002),
        (State.NEW, "shutdown", -32002),
        (State.NEW, "unknown", -32002),
        (State.READY, "session/open", None),
        (State.READY, "shutdown", None),
        (State.READY, "initialize", -32600),
        (State.SHUTDOWN, "session/open", -32600),
        (State.SHUTDOWN, "initialize", -32600),
        (State.SHUTDOWN, "shutdown", -32600),
        (State.SHUTDOWN, "unknown", -32600),
    ],
)
def test_requests(state: State, method: str, code: int | None) -> None:
    refusal = refuse_request(state, method)
    assert (refusal and refusal.code) == code


@pytest.mark.parametrize(
    ("state", "method", "dropped"),
    [
        (State.NEW, "initialized", True),
        (State.NEW, "session/changed", True),
        (State.NEW, "$/cancelRequest", True),
        (State.NEW, "exit", False),
        (State.READY, "session/changed", False),
        (State.READY, "exit", False),
        (State.SHUTDOWN, "session/changed", True),
        (State.SHUTDOWN, "$/cancelRequest", False),
        (State.SHUTDOWN, "exit", False),
    ],
)
def test_notifications(state: State, method: str, dropped: bool) -> None:
    assert drop_notification(state, method) is dropped
