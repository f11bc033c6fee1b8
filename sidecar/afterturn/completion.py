"""What the three jobs need of a model: the port, its values, and how it fails (models.md, 'Completers')."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from afterturn_protocol.base import Usage

Purpose = Literal[
    "condense.batch", "condense.fuse", "recap", "reflection.synth", "reflection.score", "reflection.batch"
]


class PromptMessage(Struct, frozen=True):
    """One message of a prompt; `role` is "system" or "user"."""

    role: str
    content: str


class Completion(Struct, frozen=True, kw_only=True):
    """A model's reply. `stop_reason`: "stop", "length", "error" or "aborted"; only the first is an answer.

    spent_seconds: how much of the total limit it took, to which waiting for a place does not belong.
    """

    text: str
    stop_reason: str
    model: str
    usage: Usage | None
    spent_seconds: float = 0.0


class CompleterError(Exception):
    """A reply that did not come.

    kind: "provider_unavailable", "deadline", "budget_exceeded", "provider_error", ...
    retryable: whether the same call can succeed later, after `retry_after_ms` if that is known.
    terminal: nothing will change until the settings do (credentials, unknown model).
    called: whether the provider was asked at all; False means that it cost nothing.
    usage: what it cost nevertheless.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retryable: bool,
        retry_after_ms: int | None = None,
        terminal: bool = False,
        called: bool = True,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
        self.terminal = terminal
        self.called = called
        self.usage = usage


class Completer(Protocol):
    """A way to a model (models.md). Deadlines, budgets, memo, priorities and back-off are behind it."""

    def available(self, session_id: str, model: str | None) -> bool:
        """Whether there is a model to ask at all; False means that no call could ever leave."""
        ...

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
        fresh: bool = False,
    ) -> Completion:
        """Ask a model. `max_calls`: how often the provider may be asked at most, repeats included.

        model: "provider/id"; None means `models.model`, and with the host its own choice.
        fresh: never answer from memory (recap.md, `recap/now`).
        usage of what is answered from memory is None: it was paid for before.

        Raises CompleterError. Cancelling ends the provider's call.
        """
        ...
