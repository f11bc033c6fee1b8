"""Whole answers of servers that know no streams, as the stream that was asked for.

Some OpenAI-compatible servers answer `"stream": true` with one body of JSON. litellm finds no piece in it, so that an
answer which is there, and paid for, would be lost and asked for again.
"""

import json
from typing import Any

import httpx

MOST_BYTES = 8 << 20
"""Of a body; a longer one is no completion."""

_OF_THE_BODY = ("content-type", "content-length", "content-encoding", "transfer-encoding")


def is_whole(response: httpx.Response) -> bool:
    """Whether a response to a request for a stream is one body of JSON."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return response.status_code == 200 and kind == "application/json"


async def as_stream(response: httpx.Response) -> httpx.Response:
    """The same answer as server-sent events; a body that holds no completion stays as it is."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MOST_BYTES:
            await response.aclose()
            body.clear()
            break
    events = events_of(bytes(body))
    kind = response.headers["content-type"] if events is None else "text/event-stream"
    kept = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_BODY]
    content = bytes(body) if events is None else events
    return httpx.Response(
        response.status_code, headers=[*kept, ("content-type", kind)], content=content, extensions=response.extensions
    )


def events_of(body: bytes) -> bytes | None:
    """A completion in OpenAI's format as the events of its stream; None for anything else."""
    try:
        whole: dict[str, Any] = {**json.loads(body)}
        choice: dict[str, Any] = {**whole["choices"][0]}
        message: dict[str, Any] = {**choice["message"]}
        head = {**whole, "object": "chat.completion.chunk"}
        usage = head.pop("usage", None)
        deltas = [_delta(message, None), _delta({}, choice.get("finish_reason"))]
        events = [{**head, "choices": [each]} for each in deltas]
        if usage is not None:
            events.append({**head, "choices": [], "usage": usage})
        # What can just be read may be too deep to be written.
        return b"".join(b"data: %b\n\n" % json.dumps(each).encode() for each in events) + b"data: [DONE]\n\n"
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _delta(piece: Any, finish: Any) -> dict[str, Any]:
    return {"index": 0, "delta": piece, "finish_reason": finish}
