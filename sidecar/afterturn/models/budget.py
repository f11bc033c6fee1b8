"""The budgets, as a call meets them (models.md, 'Budgets'; case D01)."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio

from afterturn.clock import Clock
from afterturn.completion import CompleterError
from afterturn.models.failures import store_failure
from afterturn.models.ports import Denied, Intent, Ledger, Limits
from afterturn.store_error import StoreError
from afterturn_protocol.base import Usage
from afterturn_protocol.events import UsageLimit
from afterturn_protocol.settings import ModelsSettings

log = logging.getLogger("afterturn.models")


class Budget:
    """Reserves before a call and settles after it, whoever is cancelled meanwhile. emit: sends `usage.limit`."""

    def __init__(
        self,
        ledger: Callable[[], Ledger],
        settings: Callable[[], ModelsSettings],
        clock: Clock,
        emit: Callable[[str, Any], None],
    ) -> None:
        self._ledger = ledger
        self._settings = settings
        self._clock = clock
        self._emit = emit

    async def reserve(self, intent: Intent) -> int:
        """The reservation's number, to be settled or released.

        Raises CompleterError: `budget_exceeded` where a limit could be passed, `store_unavailable` where nothing can
        be counted. The store reserves also for a caller that is cancelled: then it is given back.
        """
        reserving = asyncio.get_running_loop().create_task(self._reserved(intent))
        with anyio.CancelScope(shield=True):
            try:
                return await asyncio.shield(reserving)
            except asyncio.CancelledError:
                with suppress(CompleterError, StoreError):
                    await self._ledger().release(await reserving)
                raise
            except StoreError as problem:
                raise store_failure(problem) from None
        raise AssertionError("a shield lets no cancellation through")

    async def settle(self, number: int, usage: Usage) -> None:
        """The call was made. Where it cannot be counted that is logged: it is over, and stays reserved."""
        await self._ended(usage.model, lambda: self._ledger().settle(number, usage))

    async def release(self, number: int, model: str) -> None:
        """The call was not made, or costs nothing."""
        await self._ended(model, lambda: self._ledger().release(number))

    async def _reserved(self, intent: Intent) -> int:
        """A limit that is reached is told once; which sidecar on the store tells it is open."""
        settings, now_ms = self._settings(), self._clock.now_ms()
        limits = Limits(
            daily_tokens=settings.daily_tokens,
            daily_cost_usd=settings.daily_cost_usd,
            session_tokens=settings.session_tokens,
        )
        answer = await self._ledger().reserve(intent, limits, now_ms=now_ms)
        if not isinstance(answer, Denied):
            return answer
        if answer.first:
            told = UsageLimit(scope=answer.scope, limit=answer.limit, used=answer.used, resumes_at=answer.resumes_at)
            self._emit("usage.limit", told)
        goes_on = answer.resumes_at is not None
        raise CompleterError(
            "budget_exceeded",
            f"the limit models.{answer.scope} is reached",
            retryable=goes_on,
            retry_after_ms=max(answer.resumes_at - now_ms, 0) if answer.resumes_at is not None else None,
            called=False,
        )

    async def _ended(self, model: str, end: Callable[[], Any]) -> None:
        with anyio.CancelScope(shield=True):
            try:
                await end()
            except StoreError as problem:
                log.warning("the use of %s could not be counted: %s", model, problem)
