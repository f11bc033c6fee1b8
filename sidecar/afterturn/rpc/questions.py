"""Requests of ours to the client, and its answers (protocol.md, 'Requests from the server')."""

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Raw, Struct

from afterturn.rpc.errors import RequestFailed
from afterturn.wire.codec import Envelope, encode
from afterturn_protocol.errors import Kind


class _Request(Struct, tag_field="jsonrpc", tag="2.0"):
    id: str
    method: str
    params: Any


class Questions:
    """send: queues one message body. notify: sends a notification."""

    def __init__(self, send: Callable[[bytes], None], notify: Callable[[str, Any], None]) -> None:
        self._send = send
        self._notify = notify
        self._open: dict[str, asyncio.Future[Envelope]] = {}
        self._next_id = 0

    async def ask(self, method: str, params: Any, timeout_seconds: float) -> Any:
        """Ask the client. Returns the raw result; raises RequestFailed when it refuses, errs, or takes too long.

        Cancelling the caller tells the client with `$/cancelRequest`.
        """
        self._next_id += 1
        id = f"afterturn-{self._next_id}"
        answer: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        self._open[id] = answer
        try:
            self._send(encode(_Request(id, method, params)))
            reply = await asyncio.wait_for(answer, timeout_seconds)
        except TimeoutError:
            self._notify("$/cancelRequest", {"id": id})
            raise RequestFailed(Kind.PROVIDER_UNAVAILABLE, f"{method} took too long", retryable=True) from None
        except asyncio.CancelledError:
            self._notify("$/cancelRequest", {"id": id})
            raise
        finally:
            self._open.pop(id, None)
        if not _is_absent(reply.error):
            raise RequestFailed(
                Kind.PROVIDER_UNAVAILABLE, f"The client answered {method} with an error", retryable=True
            )
        return reply.result

    def answered(self, reply: Envelope) -> None:
        """Take a response; one to no question of ours is ignored."""
        waiting = self._open.pop(reply.id, None) if isinstance(reply.id, str) else None
        if waiting is not None and not waiting.done():
            waiting.set_result(reply)


def _is_absent(value: Any) -> bool:
    """Left out, or null, which is the same (protocol.md): some clients always write both `result` and `error`."""
    return value is UNSET or value is None or (isinstance(value, Raw) and bytes(value) == b"null")
