"""What the pool needs of one way to a model: a single call, nothing around it (models.md, 'Completers')."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from afterturn.completion import Completion, PromptMessage, Purpose

MAX_REPLY_CHARS = 128_000
"""What is read of a reply; longer ones are cut."""

FailureKind = Literal["timeout", "connection", "status", "malformed", "refused", "crashed", "unavailable"]


class Prompt(Struct, frozen=True, kw_only=True):
    """One call as it leaves. Already redacted and within every budget.

    model: "provider/id", as the settings or the session name it; None leaves it to the host.
    idle_timeout_ms: the provider may be silent for so long, from the moment the call is with it.
    total_timeout_ms: the call may take so long in all, from the same moment.
    """

    purpose: Purpose
    messages: Sequence[PromptMessage]
    session_id: str
    max_tokens: int
    model: str | None
    reasoning: str
    idle_timeout_ms: int
    total_timeout_ms: int


class ProviderFailure(Exception):
    """A call that brought no completion. The message is fit for a log: no key, no text of the provider's.

    kind: "timeout" (our deadline), "connection", "status" (the provider answered with an error), "malformed" (an
        answer that is no completion), "refused" (the host said no), "crashed" (the worker went), "unavailable"
        (the call could not be made at all: nothing installed, nothing offered).
    status: the provider's HTTP status, where there was one.
    retry_after_ms: how long the provider asks to be left alone.
    called: whether the provider may have worked on it, and so may bill it.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        retry_after_ms: int | None = None,
        called: bool = True,
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        self.status = status
        self.retry_after_ms = retry_after_ms
        self.called = called


class Provider(Protocol):
    """One way to a model."""

    async def prepare(self, prompt: Prompt) -> None:
        """Have ready what the call needs, within limits of its own. Raises ProviderFailure."""
        ...

    async def complete(self, prompt: Prompt) -> Completion:
        """One call, within the prompt's time limits. Raises ProviderFailure. Cancelling really ends the call."""
        ...

    async def close(self) -> None:
        """Let go of what the provider holds (processes, sockets). Nothing is called afterwards."""
        ...
