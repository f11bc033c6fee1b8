"""Durable events read again, and the events that belong to no other noun (protocol.md, 'Events')."""

from typing import Any

from afterturn_protocol.shape import Count, Int, Millis, Shape


class EventsSinceParams(Shape, frozen=True, kw_only=True):
    """Params of `events/since`.

    seq: the last one that is known; 0 for all that are kept.
    session_id: only this session's; omitted, and no project: those of this connection's sessions.
    project: only this project's; "*" is all.
    limit: most events in one answer.
    """

    seq: Int
    session_id: str | None = None
    project: str | None = None
    limit: Count | None = None


class StoredEvent(Shape, frozen=True, kw_only=True):
    """A durable event as it was sent.

    seq: its place in the store's order of commits.
    method: "capture.done" or "capture.failed".
    params: its params.
    """

    seq: Int
    method: str
    params: Any


class EventsSinceResult(Shape, frozen=True, kw_only=True):
    """Result of `events/since`.

    events: oldest first.
    next: the `seq` to ask with next time.
    """

    events: list[StoredEvent]
    next: Int


class UsageLimit(Shape, frozen=True, kw_only=True):
    """Params of the event `usage.limit`: a limit is reached, and model calls stop. Sent once.

    scope: which: "dailyTokens", "dailyCostUsd", "sessionTokens".
    limit: the limit, in tokens or US dollars.
    used: what is used, in the same.
    resumes_at: when it goes on, epoch ms; null where it does not.
    """

    scope: str
    limit: float
    used: float
    resumes_at: Millis | None
