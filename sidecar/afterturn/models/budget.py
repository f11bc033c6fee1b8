"""The budgets, as a call meets them (models.md, 'Budgets'; case D01)."""

from collections.abc import Callable
from typing import Any

from afterturn.clock import Clock
from afterturn.completion import CompleterError
from afterturn.models.ports import Denied, Intent, Ledger, Limits
from afterturn_protocol.events import UsageLimit
from afterturn_protocol.settings import ModelsSettings


class Budget:
    """Reserves before a call. emit: sends the event `usage.limit`."""

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
        """The reservation's number. Raises CompleterError `budget_exceeded` where a limit could be passed, StoreError.

        A limit that is reached is told once; which sidecar on the store tells it is open.
        """
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
