"""What was captured, read again: traces/* and events/since (protocol.md, 'capture and traces')."""

from collections.abc import Callable, Sequence
from functools import partial

import anyio

from afterturn.capture.embedder import EmbeddingError
from afterturn.capture.needs import CaptureNeeds
from afterturn.capture.ports import Scope, SearchQuery, TraceFilter
from afterturn.capture.refusals import RefusedError
from afterturn.capture.relay import Relay
from afterturn.misfits import InvalidInputError
from afterturn_protocol.capture import CaptureDone
from afterturn_protocol.events import EventsSinceParams, EventsSinceResult, StoredEvent
from afterturn_protocol.traces import (
    TracesDeleteParams,
    TracesDeleteResult,
    TracesGetParams,
    TracesGetResult,
    TracesListParams,
    TracesListResult,
    TracesSearchParams,
    TracesSearchResult,
    TracesUpdateScoreParams,
    TracesUpdateScoreResult,
)

DEFAULT_PAGE = 50
LARGEST_PAGE = 500
DEFAULT_HITS = 10
DEFAULT_EVENTS = 100
LARGEST_EVENTS = 1000
EVENTS_AT_ONCE = 50
MOST_TRACES = 1000
"""Traces in one answer of events/since; with more it ends early, as the next call goes on from there."""

MOST_IDS = 10_000
MEANING_SECONDS = 3.0
"""How long a search by words and meaning waits for its query's vector; words alone answer then."""

MODES = ("hybrid", "text", "vector")
KINDS = ("summary", "action")

AfterReply = Callable[[Callable[[], None]], None]
"""Runs what it is given once the answer is on its way."""


class RecallService:
    """Lists, finds, scores and erases traces. relay: sends the events of jobs that a deletion ends.

    Every method raises StoreError where the store fails, InvalidInputError for values that make no sense.
    """

    def __init__(self, needs: CaptureNeeds, relay: Relay) -> None:
        self._needs = needs
        self._relay = relay

    async def list(self, params: TracesListParams) -> TracesListResult:
        """`traces/list`: one page, an episode in step order, everything else newest first."""
        which = TraceFilter(
            episode_id=params.episode_id,
            session_id=params.session_id,
            scope=self._scope(params.project, params.session_id),
        )
        limit = _within("$.limit", params.limit, DEFAULT_PAGE, LARGEST_PAGE)
        try:
            traces, cursor = await self._needs.store.traces.page(which, cursor=params.cursor, limit=limit)
        except ValueError:
            raise InvalidInputError("$.cursor", "a cursor that traces/list gave") from None
        return TracesListResult(traces=list(traces), next_cursor=cursor)

    async def get(self, params: TracesGetParams) -> TracesGetResult:
        """`traces/get`: by id, in the order asked for."""
        _not_too_many("$.traceIds", params.trace_ids)
        traces = await self._needs.store.traces.get(params.trace_ids)
        found = {trace.trace_id for trace in traces}
        return TracesGetResult(traces=list(traces), missing=[each for each in params.trace_ids if each not in found])

    async def search(self, params: TracesSearchParams) -> TracesSearchResult:
        """`traces/search`: by words, by meaning, or by both."""
        if not params.query.strip():
            raise InvalidInputError("$.query", "text to look for")
        mode = _one_of("$.mode", params.mode, MODES) or "hybrid"
        kind = _one_of("$.vector", params.vector, KINDS)
        vector, model = (None, None) if mode == "text" else await self._meaning(params.query, needed=mode == "vector")
        found = await self._needs.store.search.search(
            SearchQuery(
                scope=self._scope(params.project, params.session_id),
                limit=_within("$.limit", params.limit, DEFAULT_HITS, LARGEST_PAGE),
                text=None if mode == "vector" else params.query,
                vector=vector,
                model=model,
                kinds=KINDS if kind is None else (kind,),
            )
        )
        return TracesSearchResult(hits=list(found.hits), stale=found.stale or None)

    async def delete(self, params: TracesDeleteParams, *, after_reply: AfterReply) -> TracesDeleteResult:
        """`traces/delete`: rows and all that was made from them; jobs of what is erased end as failed."""
        if all(
            each is None
            for each in (params.trace_ids, params.episode_id, params.session_id, params.project, params.before)
        ):
            raise InvalidInputError("$", "traceIds, episodeId, sessionId, project or before")
        _not_too_many("$.traceIds", params.trace_ids or ())
        which = TraceFilter(
            trace_ids=params.trace_ids,
            episode_id=params.episode_id,
            session_id=params.session_id,
            before=params.before,
            scope=self._scope(params.project, params.session_id),
        )
        await self._relay.ready()
        with self._relay.held():
            deleted = await self._needs.store.traces.delete(which, now_ms=self._needs.clock.now_ms())
            for event in deleted.failed:
                if event.seq is not None:
                    self._relay.sent(event.seq)
        for event in deleted.failed:
            after_reply(partial(self._relay.tell, event))
        return TracesDeleteResult(deleted=deleted.count)

    async def update_score(self, params: TracesUpdateScoreParams) -> TracesUpdateScoreResult:
        """`traces/updateScore`: values from outside; an unknown id changes nothing."""
        return TracesUpdateScoreResult(updated=await self._needs.store.traces.update_scores(params.updates))

    async def events_since(self, params: EventsSinceParams) -> EventsSinceResult:
        """`events/since`: the terminal events after a place in the order, oldest first."""
        if params.session_id is not None and params.project is not None:
            raise InvalidInputError("$", "either sessionId or project")
        scope = Scope(project=params.project, session_ids=list(self._needs.used()))
        left = _within("$.limit", params.limit, DEFAULT_EVENTS, LARGEST_EVENTS)
        events: list[StoredEvent] = []
        traces, seq, more = 0, params.seq, True
        while more and traces < MOST_TRACES:
            at_once = min(left - len(events), EVENTS_AT_ONCE)
            page = await self._needs.store.outbox.since(seq, scope=scope, session_id=params.session_id, limit=at_once)
            events += page.events
            seq = page.next
            more = len(page.events) == at_once and len(events) < left
            traces += sum(
                len(each.params.result.traces) for each in page.events if isinstance(each.params, CaptureDone)
            )
        return EventsSinceResult(events=events, next=seq)

    def _scope(self, project: str | None, session_id: str | None) -> Scope:
        """The given project; else that of the given session; else those of this connection's sessions."""
        if project is not None:
            return Scope(project=project)
        return Scope(session_ids=list(self._needs.used()) if session_id is None else [session_id])

    async def _meaning(self, query: str, *, needed: bool) -> tuple[bytes | None, str | None]:
        embedder = self._needs.embedder()
        kind, problem, retryable = "provider_unavailable", "no embedder is configured", False
        if embedder is not None:
            try:
                with anyio.move_on_after(None if needed else MEANING_SECONDS):
                    vectors = await embedder.embed([query])
                    return vectors[0], embedder.model
            except EmbeddingError as error:
                kind, problem, retryable = error.kind, error.message, error.retryable
        if needed:
            raise RefusedError(kind, f"there are no vectors to search with: {problem}", retryable=retryable)
        return None, None


def _within(path: str, given: int | None, default: int, most: int) -> int:
    if given is None:
        return default
    if given < 1:
        raise InvalidInputError(path, "integer >= 1")
    return min(given, most)


def _not_too_many(path: str, ids: Sequence[str]) -> None:
    if len(ids) > MOST_IDS:
        raise InvalidInputError(path, f"at most {MOST_IDS} ids")


def _one_of(path: str, given: str | None, words: Sequence[str]) -> str | None:
    if given is not None and given not in words:
        raise InvalidInputError(path, " or ".join(f'"{word}"' for word in words))
    return given
