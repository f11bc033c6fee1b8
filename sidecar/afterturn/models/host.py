"""The provider `host`: the client completes with its own models and keys (models.md, 'host').

No key is ever seen here.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from afterturn.completion import CompleterError, Completion, PromptMessage, Purpose
from afterturn.rpc.errors import RequestFailed
from afterturn.wire.codec import InvalidParams, Malformed, ParamsDecoder
from afterturn_protocol.base import Usage
from afterturn_protocol.sampling import CreateMessageParams, CreateMessageResult, SamplingMessage, SamplingUsage

Ask = Callable[[str, Any, float], Awaitable[Any]]
"""`Connection.request`: method, params, timeout in seconds; gives the raw result, raises RequestFailed."""


class HostCompleter:
    """Asks the client. `offered` says whether it declared `sampling`, `allowed` whether the settings want it asked."""

    def __init__(self, ask: Ask, offered: Callable[[], bool], allowed: Callable[[], bool]) -> None:
        self._ask = ask
        self._offered = offered
        self._allowed = allowed
        self._result = ParamsDecoder(CreateMessageResult)

    def available(self, session_id: str, model: str | None) -> bool:
        """Whether a call could leave at all."""
        return self._offered() and self._allowed()

    async def complete(
        self,
        purpose: Purpose,
        messages: Sequence[PromptMessage],
        *,
        session_id: str,
        prompt_version: str,
        max_tokens: int,
        model: str | None,
        reasoning: str,
        idle_timeout_ms: int,
        total_timeout_ms: int,
        max_calls: int,
        background: bool,
    ) -> Completion:
        """One completion by the client, within `total_timeout_ms`. Raises CompleterError.

        The client sends its answer whole, so there is nothing to measure idleness by; it is asked once.
        """
        params = CreateMessageParams(
            purpose=purpose,
            system="\n\n".join(each.content for each in messages if each.role == "system") or None,
            messages=[
                SamplingMessage(role=each.role, content=each.content) for each in messages if each.role != "system"
            ],
            max_tokens=max_tokens,
            reasoning=reasoning,
            cache="none",
            model=model,
            session_id=session_id,
        )
        try:
            raw = await self._ask("sampling/createMessage", params, total_timeout_ms / 1000)
            result: CreateMessageResult = self._result.decode(raw)
        except RequestFailed as problem:
            raise CompleterError("provider_unavailable", str(problem), retryable=True) from None
        except (InvalidParams, Malformed) as problem:
            detail = f"the client's answer is no completion: {problem}"
            raise CompleterError("provider_error", detail, retryable=True) from None
        return Completion(
            text=result.text,
            stop_reason=result.stop_reason,
            model=result.model,
            usage=_usage(result.model, result.usage),
        )


def _usage(model: str, reported: SamplingUsage | None) -> Usage:
    """The client's word in our terms; what it did not say is unknown, not 0."""
    if reported is None:
        return Usage(model=model, input_tokens=None, output_tokens=None, cost=None, calls=1)
    return Usage(
        model=reported.model or model,
        input_tokens=reported.input_tokens,
        output_tokens=reported.output_tokens,
        cached_tokens=reported.cached_tokens,
        cost=reported.cost,
        calls=1 if reported.calls is None else reported.calls,
    )
