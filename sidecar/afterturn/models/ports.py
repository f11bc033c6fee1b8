"""What the pool needs of the store: the ledger of model calls, and the memory of completions (models.md, 'Budgets')."""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from msgspec import Struct

from afterturn.completion import Purpose
from afterturn_protocol.base import Usage


class Limits(Struct, frozen=True, kw_only=True):
    """What may be used; None is no limit. Tokens a day, US dollars a day, tokens a session. Days are UTC."""

    daily_tokens: int | None
    daily_cost_usd: float | None
    session_tokens: int | None


EMBEDDING: Final = "embedding"
"""The purpose of calls that make vectors."""


class Intent(Struct, frozen=True, kw_only=True):
    """A call that is about to be made. prompt_tokens: estimated. max_tokens: of the reply.

    session_id: None for a call that is of no one session.
    """

    session_id: str | None
    purpose: Purpose | Literal["embedding"]
    model: str
    prompt_tokens: int
    max_tokens: int


class Denied(Struct, frozen=True, kw_only=True):
    """A call that could pass a limit. scope: the setting's name, such as "dailyTokens".

    used: settled and reserved. first: nobody was told yet. resumes_at: epoch ms; None where it does not go on.
    """

    scope: str
    limit: float
    used: float
    first: bool
    resumes_at: int | None


class Totals(Struct, frozen=True):
    """Sums of settled calls; what is unknown of one call is unknown in each sum that holds it. by_day: by ISO date."""

    total: Usage
    by_purpose: dict[str, Usage]
    by_model: dict[str, Usage]
    by_day: dict[str, Usage]


class Ledger(Protocol):
    """Every model call of every sidecar on the store. Raises StoreError, as every port of the store."""

    async def reserve(self, intent: Intent, limits: Limits, *, now_ms: int) -> int | Denied:
        """Count a call before it is made, in one transaction with the check: the reservation's number, or Denied.

        What processes reserved that ended without settling counts no longer, but for what their prompts cost.
        """
        ...

    async def settle(self, number: int, usage: Usage) -> None:
        """The call was made. What its usage leaves unknown stays as it was reserved."""
        ...

    async def release(self, number: int) -> None:
        """The call was not made, or costs nothing."""
        ...

    async def totals(self, since_ms: int | None) -> Totals:
        """What was used since then; None for all that is kept."""
        ...


class Remembered(Struct, frozen=True):
    """A completion that was paid for before."""

    text: str
    model: str


class Recalled(Struct, frozen=True):
    """What `Memo.find` found. epoch: the session's life that a new completion belongs to."""

    epoch: int
    found: Remembered | None


class Memo(Protocol):
    """Completions by what was asked. Bounded in age and number; each is erased with the session it was made in."""

    async def find(self, session_id: str, keys: Sequence[bytes], *, now_ms: int) -> Recalled:
        """The completion under the first of the keys that has one."""
        ...

    async def keep(self, session_id: str, epoch: int, key: bytes, completion: Remembered, *, now_ms: int) -> None:
        """Keep a completion, in place of an older one, unless the session was deleted since `epoch`."""
        ...
