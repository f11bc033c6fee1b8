"""What `afterturn/status` and `afterturn doctor` tell: the process, providers, destinations, store, queue, usage."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from afterturn import PROTOCOL_VERSION, __version__
from afterturn.clock import Clock
from afterturn.models.choosing import Choice, choices, destinations
from afterturn.rpc.connection import Connection
from afterturn.store_error import StoreError
from afterturn.usage import DAY_MS, NO_USE, UNKNOWN_USE
from afterturn_protocol.base import Usage
from afterturn_protocol.service import (
    ProcessStatus,
    ProviderStatus,
    QueueStatus,
    SettingsProblem,
    StatusResult,
    StoreStatus,
    UsageLimits,
    UsageStatus,
)
from afterturn_protocol.settings import EmbeddingsSettings, Settings

if TYPE_CHECKING:
    from afterturn.models.pool import Pool
    from afterturn.models.ports import Ledger

PATIENCE_SECONDS = 2.0
"""A report does not wait longer for a store that others have locked."""

EMBEDDINGS = "embeddings"
"""The job of who embeds, among the providers."""

HEAVY_MODULES = ("litellm", "openai", "httpx", "numpy", "pygls", "lsprotocol", "typer", "rich")


class Facts(Protocol):
    """Where the report's figures come from."""

    connection: Connection
    started: float

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        ...

    @property
    def settings_problems(self) -> list[SettingsProblem]:
        """What could not be used of them."""
        ...


class Status:
    """Puts the report together. `host_samples` says whether the client offers to complete.

    pool: None as long as no model could be asked. captures: how many capture jobs and vectors are not done.
    embedder_rests: why the embedder is left alone for now, if it is.
    """

    def __init__(
        self,
        facts: Facts,
        store_status: Callable[[], StoreStatus],
        host_samples: Callable[[], bool],
        batches: Callable[[], int],
        pool: "Callable[[], Pool | None]",
        ledger: "Callable[[], Ledger]",
        captures: Callable[[], Awaitable[tuple[int, int]]],
        embedder_rests: Callable[[], str | None],
        clock: Clock,
    ) -> None:
        self._facts = facts
        self._batches = batches
        self._store_status = store_status
        self._host_samples = host_samples
        self._pool = pool
        self._ledger = ledger
        self._captures = captures
        self._embedder_rests = embedder_rests
        self._clock = clock

    async def report(self) -> StatusResult:
        """The state of the server now. A store that is not there yet is not made for it."""
        settings, pool = self._facts.settings, self._pool()
        store = self._store_status()
        jobs, vectors = await self._captures()
        return StatusResult(
            version=__version__,
            protocol_version=PROTOCOL_VERSION,
            process=ProcessStatus(
                pid=os.getpid(),
                rss_bytes=resident_bytes(),
                uptime_ms=int((self._clock.monotonic() - self._facts.started) * 1000),
                loaded_modules=[name for name in HEAVY_MODULES if name in sys.modules],
            ),
            providers=providers(settings, self._host_samples(), pool, self._embedder_rests()),
            destinations=destinations(settings, self._host_samples()),
            store=store,
            queue=QueueStatus(
                requests=self._facts.connection.requests_open,
                batches=self._batches(),
                capture_jobs=jobs,
                pending_embeddings=vectors,
                model_calls=pool.running if pool is not None else 0,
                model_calls_waiting=pool.waiting if pool is not None else 0,
            ),
            usage=UsageStatus(
                today=NO_USE if store.bytes is None and store.problem is None else await self._used_today(),
                limits=UsageLimits(
                    daily_tokens=settings.models.daily_tokens,
                    daily_cost_usd=settings.models.daily_cost_usd,
                    session_tokens=settings.models.session_tokens,
                ),
            ),
            settings_problems=self._facts.settings_problems,
        )

    async def _used_today(self) -> Usage:
        now_ms = self._clock.now_ms()
        try:
            sums = await asyncio.wait_for(self._ledger().totals(now_ms - now_ms % DAY_MS), PATIENCE_SECONDS)
        except (StoreError, TimeoutError):
            return UNKNOWN_USE  # the report says elsewhere what the store's trouble is
        return sums.total


def providers(
    settings: Settings, host_samples: bool, pool: "Pool | None" = None, embedder_rests: str | None = None
) -> list[ProviderStatus]:
    """Who answers each job's model calls, and who embeds. pool: knows who is left alone for now."""
    jobs = [_provider(job, choice, pool) for job, choice in choices(settings, host_samples).items()]
    return [*jobs, _embeddings(settings.embeddings, embedder_rests)]


def _provider(job: str, choice: Choice, pool: "Pool | None") -> ProviderStatus:
    refusal = pool.refusal(choice.model) if pool is not None and choice.usable else None
    if choice.reason is not None:
        return ProviderStatus(
            job=job, provider=choice.provider, model=choice.model, state="unavailable", reason=choice.reason
        )
    if refusal is not None:
        return ProviderStatus(
            job=job, provider=choice.provider, model=choice.model, state="paused", reason=refusal.message
        )
    return ProviderStatus(job=job, provider=choice.provider, model=choice.model, state="ready")


def _embeddings(settings: EmbeddingsSettings, rests: str | None) -> ProviderStatus:
    from afterturn.embeddings.choice import chosen_model

    model, state, reason = settings.model, "ready" if rests is None else "paused", rests
    try:
        model = chosen_model(settings)
    except ValueError as problem:
        state, reason = "unavailable", str(problem)
    return ProviderStatus(job=EMBEDDINGS, provider=settings.provider, model=model, state=state, reason=reason)


def resident_bytes() -> int:
    """Resident memory of this process, in bytes."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
