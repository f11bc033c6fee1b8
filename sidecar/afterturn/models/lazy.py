"""The way to the models, as the jobs get it: the pool is loaded with the first call, since most servers make none."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from afterturn.completion import Completion, PromptMessage, Purpose
from afterturn.models.choosing import choose
from afterturn_protocol.settings import ModelsSettings

if TYPE_CHECKING:
    from afterturn.models.pool import Pool


class LazyCompleter:
    """A `Completer`. settings: as they are now. offered: the client declared `sampling`. pool: made on first use."""

    def __init__(
        self, settings: Callable[[], ModelsSettings], offered: Callable[[], bool], pool: "Callable[[], Pool]"
    ) -> None:
        self._settings = settings
        self._offered = offered
        self._pool = pool

    def available(self, session_id: str, model: str | None) -> bool:
        """Whether a call could leave at all."""
        return choose(self._settings(), model, self._offered()).usable

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
        """See `Pool.complete`."""
        return await self._pool().complete(
            purpose,
            messages,
            session_id=session_id,
            prompt_version=prompt_version,
            max_tokens=max_tokens,
            model=model,
            reasoning=reasoning,
            idle_timeout_ms=idle_timeout_ms,
            total_timeout_ms=total_timeout_ms,
            max_calls=max_calls,
            background=background,
            fresh=fresh,
        )
