"""`host/getContext`: the host's own view of a session, for clients that declared `context` (protocol.md)."""

from collections.abc import Awaitable, Callable
from typing import Any

from afterturn.misfits import InvalidInputError
from afterturn.recap.contexts import check_context
from afterturn.recap.ports import ContextUnavailable
from afterturn.rpc.errors import RequestFailed
from afterturn.wire.codec import InvalidParams, Malformed, ParamsDecoder
from afterturn_protocol.context import RecapContext
from afterturn_protocol.sampling import GetContextParams

Ask = Callable[[str, Any, float], Awaitable[Any]]
"""`Connection.request`: method, params, timeout in seconds; gives the raw result, raises RequestFailed."""

TIMEOUT_SECONDS = 10.0


class HostContext:
    """Asks the client. `offered` says whether it declared `context`."""

    def __init__(self, ask: Ask, offered: Callable[[], bool]) -> None:
        self._ask = ask
        self._answer = ParamsDecoder(RecapContext)
        self.offered = offered

    async def get(self, session_id: str) -> RecapContext:
        """The session's context as it is now. Raises ContextUnavailable. Cancelling tells the client."""
        try:
            raw = await self._ask("host/getContext", GetContextParams(session_id=session_id), TIMEOUT_SECONDS)
            context = self._answer.decode(raw)
            check_context("$", context)
            return context
        except RequestFailed as problem:
            raise ContextUnavailable(str(problem)) from None
        except (InvalidParams, Malformed, InvalidInputError) as problem:
            raise ContextUnavailable(f"the client's answer to host/getContext is no context: {problem}") from None
