"""What a scripted provider can do with one request, and the bytes of it in both wire formats.

An `Answer` is plain data. Make one with the functions here; `dataclasses.replace(answer, ...)` changes a detail.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Literal

Where = Literal["before", "middle"]
"""Before the first byte of the answer, or after half of it."""

OPENAI = "openai"
ANTHROPIC = "anthropic"
STANDARD_USAGE = (11, 7)
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Answer:
    """One answer.

    text, thinking, tool_calls: what the model says; `thinking` goes out the way reasoning models send it, apart.
    finish: why it ends, in OpenAI's words ("stop", "length", "tool_calls", "content_filter"); translated for Anthropic.
    usage: (input tokens, output tokens); None sends no usage; a mapping is sent as it is.
    cached: the part of the input read from a cache.
    model: the model that the answer names; None names the one asked for.
    status, headers: of the HTTP response. error: the message of an error body; `{key}` in it becomes the key sent.
    raw: the exact body, instead of one in the provider's format, with `content_type`.
    stall, reset, hang_up: stay silent, or reset or close the connection, there. drip_seconds: pause before every piece.
    """

    text: str = "fine"
    thinking: str = ""
    tool_calls: tuple[str, ...] = ()
    finish: str = "stop"
    usage: tuple[int, int] | Mapping[str, Any] | None = STANDARD_USAGE
    cached: int | None = None
    model: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = "the provider says no"
    raw: bytes | None = None
    content_type: str = "application/json"
    stall: Where | None = None
    reset: Where | None = None
    hang_up: Where | None = None
    drip_seconds: float = 0.0


def says(text: str = "fine", **more: Any) -> Answer:
    """A normal answer, streamed when the request asks for it. `more`: fields of Answer."""
    return Answer(text=text, **more)


def fails(status: int, *, retry_after: int | float | str | None = None, error: str = "no", **more: Any) -> Answer:
    """An error body in the provider's format. retry_after: seconds, or an HTTP date (`http_date`)."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Answer(status=status, headers=headers, error=error, **more)


def http_date(seconds_ahead: float, now: Callable[[], float] = time.time) -> str:
    """The HTTP date of that many seconds from now, whole seconds."""
    return formatdate(now() + seconds_ahead, usegmt=True)


def stalls(where: Where = "before", **more: Any) -> Answer:
    """Silence, before the first byte or after half of the answer, until the client or the server goes."""
    return Answer(stall=where, **more)


def drips(text: str = "slow but sure", seconds: float = 0.05, **more: Any) -> Answer:
    """A normal answer with a pause of `seconds` before every piece; never silent for longer."""
    return Answer(text=text, drip_seconds=seconds, **more)


def resets(where: Where = "before", **more: Any) -> Answer:
    """A TCP reset, before the first byte or after half of the answer."""
    return Answer(reset=where, **more)


def hangs_up(where: Where = "before", **more: Any) -> Answer:
    """The connection is closed in good order, before the first byte or after half of the answer."""
    return Answer(hang_up=where, **more)


def embeds(*vectors: Sequence[float], backwards: bool = False, **more: Any) -> Answer:
    """Vectors, one for each text of the request; `backwards` lists the last one first."""
    data = [{"object": "embedding", "index": n, "embedding": list(each)} for n, each in enumerate(vectors)]
    whole = {"object": "list", "model": "any", "data": data[::-1] if backwards else data}
    return Answer(raw=json.dumps({**whole, "usage": {"prompt_tokens": 5, "total_tokens": 5}}).encode(), **more)


def redirects(to: str, status: int = 307) -> Answer:
    """Send the client elsewhere."""
    return Answer(status=status, headers={"Location": to}, raw=b"")


def html(status: int = 200) -> Answer:
    """A web page, as a gateway or a login wall sends it."""
    page = b"<!doctype html><html><head><title>Gateway</title></head><body>Please sign in</body></html>"
    return Answer(status=status, raw=page, content_type="text/html; charset=utf-8")


def malformed(status: int = 200) -> Answer:
    """JSON that ends in the middle, in a stream as well."""
    return Answer(status=status, raw=b'{"id": "x", "choices": [{"index": 0, "message": {"role": "assi')


def empty(finish: str = "length", **more: Any) -> Answer:
    """No text at all; with "length", the way a model ends that spent its tokens on thinking."""
    return Answer(text="", finish=finish, **more)


def thinks(text: str = "fine", thought: str = "let me see", **more: Any) -> Answer:
    """Thinking inside the text, in <think> tags, as open models send it."""
    return Answer(text=f"<think>{thought}</think>\n{text}", **more)


def calls_tools(*names: str, text: str = "", **more: Any) -> Answer:
    """Tool calls instead of text."""
    return Answer(text=text, tool_calls=names or ("bash",), finish="tool_calls", **more)


def wrong_usage(usage: Mapping[str, Any] | None = None, **more: Any) -> Answer:
    """Usage fields of wrong types and signs; or exactly `usage`."""
    wrong = {"prompt_tokens": "many", "completion_tokens": -4, "total_tokens": None}
    wrong |= {"input_tokens": "many", "output_tokens": -4}
    return Answer(usage=wrong if usage is None else usage, **more)


def echoes_key(status: int = 401, **more: Any) -> Answer:
    """An error that repeats the key and the headers it came with, in the message."""
    return fails(status, error="Incorrect API key provided: {key} (Authorization: Bearer {key}, ?key={key})", **more)


# -- bytes


def error_body(answer: Answer, dialect: str, key: str) -> bytes:
    message = answer.error.replace("{key}", key)
    type_ = ERROR_TYPES.get(answer.status, "api_error")
    error: dict[str, Any] = {"type": type_, "message": message}
    if dialect == ANTHROPIC:
        return json.dumps({"type": "error", "error": error}).encode()
    return json.dumps({"error": {**error, "code": type_, "param": None}}).encode()


def whole_body(answer: Answer, dialect: str, asked_model: str) -> bytes:
    """The answer in one piece of JSON."""
    model = answer.model or asked_model
    whole = _anthropic_message(answer, model) if dialect == ANTHROPIC else _openai_completion(answer, model)
    return json.dumps(whole).encode()


def stream_events(answer: Answer, dialect: str, asked_model: str) -> list[bytes]:
    """The answer as server-sent events."""
    model = answer.model or asked_model
    if dialect == ANTHROPIC:
        return [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in _anthropic(answer, model)]
    return [f"data: {json.dumps(each)}\n\n".encode() for each in _openai(answer, model)] + [b"data: [DONE]\n\n"]


def _openai_usage(answer: Answer) -> Any:
    if not isinstance(answer.usage, tuple):
        return answer.usage
    sent, received = answer.usage
    usage: dict[str, Any] = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
    if answer.cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": answer.cached}
    return usage


def _openai_tools(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"index": n, "id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for n, name in enumerate(answer.tool_calls)
    ]


def _openai_completion(answer: Answer, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.tool_calls:
        message["tool_calls"] = [{k: v for k, v in each.items() if k != "index"} for each in _openai_tools(answer)]
    choice = {"index": 0, "message": message, "finish_reason": answer.finish}
    whole: dict[str, Any] = {"id": "c1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}
    if answer.usage is not None:
        whole["usage"] = _openai_usage(answer)
    return whole


def _openai(answer: Answer, model: str) -> Iterator[dict[str, Any]]:
    head: dict[str, Any] = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def delta(piece: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": piece, "finish_reason": finish}]}

    yield delta({"role": "assistant", "content": ""})
    if answer.thinking:
        yield delta({"reasoning_content": answer.thinking})
    for piece in pieces(answer.text):
        yield delta({"content": piece})
    for tool in _openai_tools(answer):
        yield delta({"tool_calls": [tool]})
    yield delta({}, answer.finish)
    if answer.usage is not None:
        yield {**head, "choices": [], "usage": _openai_usage(answer)}


def _anthropic_finish(answer: Answer) -> str:
    words = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
    return words.get(answer.finish, answer.finish)


def _anthropic_usage(answer: Answer) -> dict[str, Any]:
    if isinstance(answer.usage, tuple):
        sent, received = answer.usage
        cached = answer.cached or 0
        return {"input_tokens": sent - cached, "output_tokens": received, "cache_read_input_tokens": cached}
    return dict(answer.usage or {})


def _anthropic_blocks(answer: Answer) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": "s"})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    blocks += [{"type": "tool_use", "id": f"tool_{n}", "name": name, "input": {}} for n, name in _numbered(answer)]
    return blocks


def _numbered(answer: Answer) -> list[tuple[int, str]]:
    return list(enumerate(answer.tool_calls))


def _anthropic_message(answer: Answer, model: str) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _anthropic_blocks(answer),
        "stop_reason": _anthropic_finish(answer),
        "stop_sequence": None,
    }
    if answer.usage is not None:
        whole["usage"] = _anthropic_usage(answer)
    return whole


def _anthropic(answer: Answer, model: str) -> Iterator[dict[str, Any]]:
    usage = _anthropic_usage(answer)
    opening = {**_anthropic_message(answer, model), "content": [], "stop_reason": None}
    if usage:
        opening["usage"] = {**usage, "output_tokens": 1} if isinstance(answer.usage, tuple) else usage
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(_anthropic_blocks(answer)):
        kind = block["type"]
        start = {**block, "text": ""} if kind == "text" else {**block, "thinking": ""} if kind == "thinking" else block
        yield {"type": "content_block_start", "index": index, "content_block": start}
        if kind == "text":
            for piece in pieces(block["text"]):
                yield _delta(index, {"type": "text_delta", "text": piece})
        elif kind == "thinking":
            yield _delta(index, {"type": "thinking_delta", "thinking": block["thinking"]})
        else:
            yield _delta(index, {"type": "input_json_delta", "partial_json": "{}"})
        yield {"type": "content_block_stop", "index": index}
    ending: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": _anthropic_finish(answer), "stop_sequence": None},
    }
    if usage:
        ending["usage"] = {"output_tokens": usage.get("output_tokens")}
    yield ending
    yield {"type": "message_stop"}


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def pieces(text: str) -> list[str]:
    """The text in the pieces a stream sends: words with the space before them."""
    words = text.split(" ")
    return [word if n == 0 else f" {word}" for n, word in enumerate(words)] if text else []
