"""One model call through litellm: arguments in, a completion or a failure out, and no word of the provider's."""

import time
from collections.abc import Callable
from typing import Any

from afterturn.models.provider import MAX_REPLY_CHARS
from afterturn.models.worker.exchange import Exchange, current_exchange
from afterturn.models.worker.messages import Call, Embed, Failed, FailedKind, Reply
from afterturn.models.worker.reasoning import effort_for_none
from afterturn.models.worker.retry_after import retry_after_ms
from afterturn.models.worker.spending import NOTHING_KNOWN, Spent, spent

TEMPERATURE = 0
STOP_REASONS = {"length": "length", "content_filter": "error"}
"""Of litellm's words; any other is a normal end."""


class _Gathered:
    """What the pieces of a stream come to."""

    __slots__ = ("chars", "finish", "texts", "tools", "usage")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.chars = 0
        self.tools = False
        self.usage: Any = None
        self.finish: str | None = None

    def add(self, chunk: Any) -> None:
        self.usage = getattr(chunk, "usage", None) or self.usage
        for choice in getattr(chunk, "choices", None) or ():
            delta = getattr(choice, "delta", None)
            content = getattr(delta, "content", None)
            if isinstance(content, str):
                self.texts.append(content[: max(MAX_REPLY_CHARS - self.chars, 0)])
                self.chars += len(content)
            if getattr(delta, "tool_calls", None) or getattr(delta, "function_call", None):
                self.tools = True


async def completed(litellm: Any, call: Call, on_bytes: Callable[[], None]) -> Reply | Failed:
    """Make the call. Cancelling closes its connection. on_bytes: called whenever the provider sends something."""
    exchange = Exchange(on_bytes, streams=True)
    current_exchange.set(exchange)
    gathered = _Gathered()
    try:
        stream = await litellm.acompletion(**arguments(litellm, call))
        try:
            async for chunk in stream:
                on_bytes()
                gathered.add(chunk)
                if gathered.chars > MAX_REPLY_CHARS:
                    break
        finally:
            # The provider's own word; in the chunks litellm puts one where there was none.
            finish = getattr(stream, "received_finish_reason", None)
            gathered.finish = "length" if gathered.chars > MAX_REPLY_CHARS else finish
            await _close(stream)
    except Exception as problem:  # litellm raises whatever its parts raise; each becomes a code
        if gathered.finish is None or exchange.broken:
            return failed(call, exchange, type(problem).__name__)
        gathered.usage = None  # the answer was whole, and what came after it could not be read
    return _reply(litellm, call, gathered)


def arguments(litellm: Any, call: Call) -> dict[str, Any]:
    """What litellm is called with. It never repeats a call: that is the pool's part (models.md, 'Completers')."""
    given: dict[str, Any] = {
        "model": call.model,
        "messages": [{"role": role, "content": content} for role, content in call.messages],
        "max_tokens": call.max_tokens,
        "temperature": TEMPERATURE,
        "stream": True,
        "stream_options": {"include_usage": True},
        **access_arguments(call),
    }
    effort = _effort(litellm, call.model) if call.reasoning_off else None
    if effort is not None:
        given["reasoning_effort"] = effort
    return given


def access_arguments(call: Call | Embed) -> dict[str, Any]:
    """Those that any call takes: with what the provider is reached, once."""
    given: dict[str, Any] = {
        "timeout": call.limit_seconds,
        "num_retries": 0,
        "max_retries": 0,
        "drop_params": True,
    }
    if call.api_key is not None:
        given["api_key"] = call.api_key
    if call.api_base is not None:
        given["api_base"] = call.api_base
    if call.headers:
        given["extra_headers"] = call.headers
    return given


def failed(call: Call | Embed, exchange: Exchange, name: str) -> Failed:
    """Why there is no answer, by what was seen of the HTTP. name: the class of litellm's exception."""

    def failure(kind: FailedKind, message: str, **more: Any) -> Failed:
        return Failed(id=call.id, kind=kind, message=f"{call.model}: {message}", called=exchange.asked, **more)

    if exchange.broken:
        return failure("connection", "the connection failed" if exchange.asked else "there is no connection")
    if exchange.status is not None and exchange.status >= 300:
        wait = retry_after_ms(exchange.retry_after, time.time_ns() // 1_000_000)
        message = f"the provider answered with status {exchange.status}"
        return failure("status", message, status=exchange.status, retry_after_ms=wait)
    if exchange.tried:
        what = "completion" if isinstance(call, Call) else "set of vectors"
        return failure("malformed", f"the provider's answer is no {what} ({name})")
    return failure("unavailable", f"litellm cannot make this call ({name}): are the model's name and its key right?")


def _reply(litellm: Any, call: Call, gathered: _Gathered) -> Reply | Failed:
    text = "".join(gathered.texts)
    if gathered.finish is None:
        return Failed(id=call.id, kind="malformed", message=f"{call.model}: the provider's answer is no completion")
    if not text and gathered.tools:
        return Failed(id=call.id, kind="malformed", message=f"{call.model}: the model called a tool and wrote nothing")
    known: Spent = spent(litellm, call.model, gathered.usage) if gathered.usage is not None else NOTHING_KNOWN
    return Reply(
        id=call.id,
        text=text.encode("utf-8", "surrogatepass"),
        stop_reason=STOP_REASONS.get(gathered.finish, "stop"),
        input_tokens=known.input_tokens,
        output_tokens=known.output_tokens,
        cached_tokens=known.cached_tokens,
        cost=known.cost,
    )


def _effort(litellm: Any, model: str) -> str | None:
    provider, _, name = model.partition("/")
    try:
        known = litellm.get_model_info(model)
    except Exception:  # what litellm raises for a model that is not in its table is a plain Exception
        return None
    return effort_for_none(provider, name, known)


async def _close(stream: Any) -> None:
    """Let go of the connection, also when the stream was left in the middle."""
    inner = getattr(stream, "completion_stream", None)
    close = getattr(inner, "close", None) or getattr(inner, "aclose", None)
    if close is not None:
        done = close()
        if hasattr(done, "__await__"):
            await done
