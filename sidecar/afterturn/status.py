"""What `afterturn/status` and `afterturn doctor` tell: the process, providers, destinations, store, queue, usage."""

import os
import sys
from collections.abc import Callable
from typing import Protocol

from afterturn import PROTOCOL_VERSION, __version__
from afterturn.clock import Clock
from afterturn.rpc.connection import Connection
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
from afterturn_protocol.settings import Settings

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
    """Puts the report together. `host_samples` says whether the client offers to complete."""

    def __init__(
        self,
        facts: Facts,
        store_status: Callable[[], StoreStatus],
        host_samples: Callable[[], bool],
        batches: Callable[[], int],
        clock: Clock,
    ) -> None:
        self._facts = facts
        self._batches = batches
        self._store_status = store_status
        self._host_samples = host_samples
        self._clock = clock

    def report(self) -> StatusResult:
        """The state of the server now. Looks at the store's files, but does not open it."""
        settings = self._facts.settings
        return StatusResult(
            version=__version__,
            protocol_version=PROTOCOL_VERSION,
            process=ProcessStatus(
                pid=os.getpid(),
                rss_bytes=resident_bytes(),
                uptime_ms=int((self._clock.monotonic() - self._facts.started) * 1000),
                loaded_modules=[name for name in HEAVY_MODULES if name in sys.modules],
            ),
            providers=providers(settings, self._host_samples()),
            destinations=destinations(settings, self._host_samples()),
            store=self._store_status(),
            queue=QueueStatus(
                requests=self._facts.connection.requests_open,
                batches=self._batches(),
                capture_jobs=0,
                pending_embeddings=0,
            ),
            usage=UsageStatus(
                # What the host completes is not added up yet; each result of `condense/*` carries its own usage.
                today=Usage(model="*", input_tokens=0, output_tokens=0, cost=None, calls=0),
                limits=UsageLimits(
                    daily_tokens=settings.models.daily_tokens,
                    daily_cost_usd=settings.models.daily_cost_usd,
                    session_tokens=settings.models.session_tokens,
                ),
            ),
            settings_problems=self._facts.settings_problems,
        )


def providers(settings: Settings, host_samples: bool) -> list[ProviderStatus]:
    """Who answers condense's model calls: the host where it offers to, else nobody yet."""
    wanted = settings.models.provider
    model = settings.condense.model or settings.models.model
    if wanted in ("auto", "host") and host_samples:
        return [ProviderStatus(job="condense", provider="host", model=model, state="ready")]
    if wanted == "none" or (wanted == "auto" and model is None):
        return [ProviderStatus(job="condense", provider="none", model=None, state="ready")]
    reason = "the client does not offer sampling" if wanted == "host" else "this version only asks the host"
    return [ProviderStatus(job="condense", provider=wanted, model=model, state="unavailable", reason=reason)]


def destinations(settings: Settings, host_samples: bool) -> list[str]:
    """Every place data may be sent to. Empty: nothing leaves this machine."""
    return ["host: sampling/createMessage"] if host_samples and settings.models.provider in ("auto", "host") else []


def resident_bytes() -> int:
    """Resident memory of this process, in bytes."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
