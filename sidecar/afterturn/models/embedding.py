"""Embedding calls: each reserves its budget, is made, and is settled (models.md, 'Budgets', 'Embedders')."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from afterturn.models.access import Access
from afterturn.models.budget import Budget
from afterturn.models.estimate import text_tokens
from afterturn.models.failures import billable
from afterturn.models.ports import EMBEDDING, Intent
from afterturn.models.provider import ProviderFailure
from afterturn.usage import unknown_use
from afterturn_protocol.base import Usage


class Embeddings(Struct, frozen=True):
    """A vector for each text, in order, and what they cost. A vector is little-endian float32 of unit length."""

    vectors: list[bytes]
    usage: Usage


class EmbeddingProvider(Protocol):
    """A way to embedding models."""

    async def embed(self, texts: Sequence[str], model: str, access: Access, seconds: float) -> Embeddings:
        """One call. Raises ProviderFailure."""
        ...


class EmbeddingCalls:
    """Makes the embedding calls of the whole process."""

    def __init__(self, provider: EmbeddingProvider, budget: Budget) -> None:
        self._provider = provider
        self._budget = budget

    async def embed(self, texts: Sequence[str], model: str, access: Access, seconds: float) -> list[bytes]:
        """One vector for each text, in order: little-endian float32 of unit length.

        model: "provider/id". seconds: limit, from the moment the call is with the provider. Raises ProviderFailure,
        and CompleterError where it may not be made: `budget_exceeded`, `store_unavailable`.
        """
        intent = Intent(
            session_id=None,
            purpose=EMBEDDING,
            model=model,
            prompt_tokens=text_tokens(texts),
            max_tokens=0,
        )
        number = await self._budget.reserve(intent)
        # Cancelled, the provider may have worked on it.
        usage: Usage | None = unknown_use(model)
        try:
            made = await self._provider.embed(texts, model, access, seconds)
            usage = made.usage
            return made.vectors
        except ProviderFailure as failure:
            usage = usage if billable(failure) else None
            raise
        finally:
            if usage is None:
                await self._budget.release(number, model)
            else:
                await self._budget.settle(number, usage)
