"""The provider `host`: the client completes with its own models and keys (models.md, 'host').

No key is ever seen here.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from afterturn.completion import Completion
from afterturn.models.provider import Prompt, ProviderFailure
from afterturn.models.reported import usage_of
from afterturn.rpc.errors import RequestFailed
from afterturn.wire.codec import InvalidParams, Malformed, ParamsDecoder
from afterturn_protocol.sampling import CreateMessageParams, SamplingMessage
from afterturn_protocol.shape import Shape

Ask = Callable[[str, Any, float], Awaitable[Any]]
"""`Connection.request`: method, params, timeout in seconds; gives the raw result, raises RequestFailed."""

_LATER_SECONDS = 5.0


class _Answer(Shape, frozen=True, kw_only=True):
    """`CreateMessageResult`, but for its usage: a figure that makes no sense must not cost a reply that is paid for."""

    text: str
    stop_reason: str
    model: str
    usage: Any = None


class HostProvider:
    """Asks the client. `offered` says whether it declared `sampling`."""

    def __init__(self, ask: Ask, offered: Callable[[], bool]) -> None:
        self._ask = ask
        self._offered = offered
        self._answer = ParamsDecoder(_Answer)

    async def prepare(self, prompt: Prompt) -> None:
        """The client must offer it. Raises ProviderFailure."""
        if not self._offered():
            raise ProviderFailure("unavailable", "the client does not offer sampling", called=False)

    async def complete(self, prompt: Prompt) -> Completion:
        """One completion by the client, within the total limit. Raises ProviderFailure.

        The client sends its answer whole, so there is nothing to measure idleness by. Cancelling tells the client.
        """
        seconds = prompt.total_timeout_ms / 1000
        try:
            with anyio.fail_after(seconds):
                raw = await self._ask("sampling/createMessage", _params(prompt), seconds + _LATER_SECONDS)
            answer: _Answer = self._answer.decode(raw)
        except TimeoutError:
            raise ProviderFailure("timeout", "the client did not answer in time") from None
        except RequestFailed as problem:
            raise ProviderFailure("refused", str(problem)) from None
        except (InvalidParams, Malformed) as problem:
            raise ProviderFailure("malformed", f"the client's answer is no completion: {problem}") from None
        return Completion(
            text=answer.text,
            stop_reason=answer.stop_reason,
            model=answer.model,
            usage=usage_of(answer.model, answer.usage),
        )

    async def close(self) -> None:
        """Nothing is held."""


def _params(prompt: Prompt) -> CreateMessageParams:
    return CreateMessageParams(
        purpose=prompt.purpose,
        system="\n\n".join(each.content for each in prompt.messages if each.role == "system") or None,
        messages=[
            SamplingMessage(role=each.role, content=each.content) for each in prompt.messages if each.role != "system"
        ],
        max_tokens=prompt.max_tokens,
        reasoning=prompt.reasoning,
        cache="none",
        model=prompt.model,
        session_id=prompt.session_id,
    )
