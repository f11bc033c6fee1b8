"""The server about itself: status and usage (protocol.md, 'service')."""

from afterturn_protocol.base import Usage
from afterturn_protocol.shape import Count, Int, Millis, Shape


class ProcessStatus(Shape, frozen=True, kw_only=True):
    """The server's process.

    pid: its process id.
    rss_bytes: resident memory, in bytes.
    uptime_ms: time since start, in ms.
    loaded_modules: which of the heavy modules are loaded, such as litellm or numpy.
    """

    pid: Int
    rss_bytes: Count
    uptime_ms: Count
    loaded_modules: list[str]


class ProviderStatus(Shape, frozen=True, kw_only=True):
    """Who answers one job's model calls.

    job: "condense", "recap", "capture" or "embeddings".
    provider: "host", "litellm", "local" or "none".
    model: "provider/id"; null where none is set.
    state: "ready", "paused" after failures, "unavailable".
    reason: why it is not ready.
    """

    job: str
    provider: str
    model: str | None
    state: str
    reason: str | None = None


class StoreStatus(Shape, frozen=True, kw_only=True):
    """The store.

    backend: "sqlite" or "postgres".
    path: its file; null for a server.
    bytes: its size on disk, in bytes; null where unknown.
    problem: why it cannot be used.
    """

    backend: str
    path: str | None
    bytes: Count | None
    problem: str | None = None


class QueueStatus(Shape, frozen=True, kw_only=True):
    """The work that is waiting or running.

    requests: requests in flight on this connection.
    batches: batches waiting or running in the background.
    capture_jobs: capture jobs that are not finished.
    pending_embeddings: traces that wait for their vectors.
    model_calls: model calls in flight.
    model_calls_waiting: model calls that wait for one of the few places (`models.concurrency`).
    """

    requests: Count
    batches: Count
    capture_jobs: Count
    pending_embeddings: Count
    model_calls: Count
    model_calls_waiting: Count


class UsageLimits(Shape, frozen=True, kw_only=True):
    """The limits on model use; null means none.

    daily_tokens: tokens a day.
    daily_cost_usd: US dollars a day.
    session_tokens: tokens a session.
    """

    daily_tokens: Count | None
    daily_cost_usd: float | None
    session_tokens: Count | None


class UsageStatus(Shape, frozen=True, kw_only=True):
    """Model use today, over all sidecars on the store.

    today: what was used.
    limits: what may be used.
    """

    today: Usage
    limits: UsageLimits


class SettingsProblem(Shape, frozen=True, kw_only=True):
    """A setting that could not be used and fell to its default.

    path: such as condense.minBatchChars.
    problem: one sentence for a person.
    """

    path: str
    problem: str


class StatusResult(Shape, frozen=True, kw_only=True):
    """Result of `afterturn/status`.

    version: the package's version.
    protocol_version: the version this connection speaks.
    process: the server's process.
    providers: who answers model calls, job by job.
    destinations: every place that data may be sent to; empty means nothing leaves the machine.
    store: the store.
    queue: the work that is waiting or running.
    usage: model use today.
    settings_problems: settings that could not be used.
    """

    version: str
    protocol_version: Int
    process: ProcessStatus
    providers: list[ProviderStatus]
    destinations: list[str]
    store: StoreStatus
    queue: QueueStatus
    usage: UsageStatus
    settings_problems: list[SettingsProblem]


class UsageParams(Shape, frozen=True, kw_only=True):
    """Params of `afterturn/usage`.

    since: epoch ms; omitted means all that is kept.
    """

    since: Millis | None = None


class UsageResult(Shape, frozen=True, kw_only=True):
    """Result of `afterturn/usage`.

    total: the sum.
    by_purpose: such as condense.batch or recap, and embedding.
    by_model: by "provider/id".
    by_day: by date, such as 2026-02-28, in UTC.
    """

    total: Usage
    by_purpose: dict[str, Usage]
    by_model: dict[str, Usage]
    by_day: dict[str, Usage]
