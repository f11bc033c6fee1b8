"""session/open, changed, close, delete."""

from collections.abc import Coroutine
from typing import Any

from afterturn.rpc.call import Call
from afterturn.sessions import Sessions
from afterturn_protocol.session import (
    SessionChangedParams,
    SessionCloseParams,
    SessionDeleteParams,
    SessionDeleteResult,
    SessionOpenParams,
    SessionOpenResult,
)


def open_session(
    sessions: Sessions, params: SessionOpenParams, call: Call
) -> SessionOpenResult | Coroutine[Any, Any, SessionOpenResult]:
    """`session/open`: answered from memory where this connection has opened the session before."""
    return sessions.open(params, call.after_reply)


def session_changed(sessions: Sessions, params: SessionChangedParams, call: Call) -> None:
    """`session/changed`."""
    sessions.changed(params, call.after_reply)


def close_session(sessions: Sessions, params: SessionCloseParams, call: Call) -> None:
    """`session/close`."""
    sessions.close(params.session_id)


async def delete_session(sessions: Sessions, params: SessionDeleteParams, call: Call) -> SessionDeleteResult:
    """`session/delete`."""
    return await sessions.delete(params.session_id)
