"""Requests of the server, answered by plain functions: a completion, the context (spec/server-requests.md)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from afterturn_client.connection import Connection, Id, decoded
from afterturn_client.errors import AfterturnError
from afterturn_protocol.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, REQUEST_CANCELLED
from afterturn_protocol.table import SERVER_REQUESTS, load

if TYPE_CHECKING:
    from afterturn_protocol.context import RecapContext
    from afterturn_protocol.sampling import CreateMessageParams, CreateMessageResult, GetContextParams

log = logging.getLogger("afterturn_client")

SamplingHandler = Callable[["CreateMessageParams"], "CreateMessageResult | Awaitable[CreateMessageResult]"]
"""Completes a prompt with a model of the host's. A plain function runs in a thread, so it may block."""
ContextHandler = Callable[["GetContextParams"], "RecapContext | Awaitable[RecapContext]"]
"""Gives the conversation as the model sees it now. A plain function runs in a thread."""

Handlers = Mapping[str, Callable[[Any], Any]]


class Answering:
    """Runs the handlers, each in a task of its own."""

    def __init__(self, tasks: TaskGroup, connection: Connection, handlers: Handlers) -> None:
        """handlers: by method."""
        self._tasks = tasks
        self._connection = connection
        self._handlers = handlers
        self._open: dict[Id, anyio.CancelScope] = {}

    def asked(self, id: Id, method: str, params: Any) -> None:
        """Start to answer."""
        handler = self._handlers.get(method)
        if handler is None:
            self._connection.refuse(id, METHOD_NOT_FOUND, f"this client does not answer {method}")
        else:
            scope = self._open[id] = anyio.CancelScope()
            self._tasks.start_soon(self._answer, scope, id, method, params, handler)

    def withdrawn(self, id: Id) -> None:
        """The server does not want it any more."""
        if id in self._open:
            self._open[id].cancel()

    async def _answer(
        self, scope: anyio.CancelScope, id: Id, method: str, params: Any, handler: Callable[[Any], Any]
    ) -> None:
        try:
            with scope:
                result = await _called(handler, decoded(method, params, load(SERVER_REQUESTS[method].params)))
                self._connection.reply(id, result)
            if scope.cancelled_caught:
                self._connection.refuse(id, REQUEST_CANCELLED, "cancelled")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            log.warning("what the handler of %s waited for was cancelled", method)
            self._connection.refuse(id, INTERNAL_ERROR, "the client's handler failed")
        except AfterturnError as problem:
            log.warning("%s", problem)
            self._connection.refuse(id, INTERNAL_ERROR, "the client cannot answer this")
        except Exception:
            # What the exception says may hold a key: it stays here.
            log.exception("the handler of %s failed", method)
            self._connection.refuse(id, INTERNAL_ERROR, "the client's handler failed")
        finally:
            if self._open.get(id) is scope:  # a server that uses an id twice has another one there
                del self._open[id]


async def _called(handler: Callable[[Any], Any], params: Any) -> Any:
    if iscoroutinefunction(handler):
        return await handler(params)
    result = await to_thread.run_sync(handler, params, abandon_on_cancel=True)
    return await result if isawaitable(result) else result
