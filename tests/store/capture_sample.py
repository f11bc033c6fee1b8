"""Episodes, traces and whole captures for tests, short to write."""

import struct
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from afterturn.capture.ports import Claim, NewEpisode, Put, Scope, SearchQuery, TakenEpisode, TraceFilter, Work
from afterturn.capture.rows import TraceRow
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.capture import CaptureDone, CaptureError, CaptureResult, LlmCalls, StageTimings
from afterturn_protocol.traces import Reflection, ToolCallDTO, Trace, TraceVectors
from tests.store.sample import key

LEASE_MS = 30_000
FAILED = CaptureError(code="internal", message="It went wrong.", retryable=True)


def episode(
    id: str = "e", *, text: str = "text", session: str = "s", job: str | None = None, **more: Any
) -> NewEpisode:
    """An episode on its way in; two have the same content if id, session and text are equal."""
    given: dict[str, Any] = {
        "job_id": job or f"job-{key(id, text, session).hex()[:8]}",
        "episode_id": id,
        "session_id": session,
        "content_hash": key("content", id, session, text),
        "snapshot": text.encode("utf-8", "surrogatepass"),
        "options": b"{}",
        "with_completer": False,
    }
    return NewEpisode(**{**given, **more})


async def take_in(
    store: SqliteStore,
    id: str = "e",
    *,
    owner: str = "me",
    now_ms: int = 1000,
    max_queued: int = 1000,
    lease_ms: int | None = None,
    **more: Any,
) -> TakenEpisode:
    """Take an episode in."""
    return await store.capture.jobs.take_in(
        episode(id, **more), owner=owner, max_queued=max_queued, now_ms=now_ms, lease_ms=lease_ms
    )


async def ask(
    store: SqliteStore, *, owner: str = "me", has_completer: bool = True, now_ms: int = 1000, lease_ms: int = LEASE_MS
) -> Claim:
    """Ask for a job."""
    return await store.capture.jobs.claim(owner=owner, has_completer=has_completer, lease_ms=lease_ms, now_ms=now_ms)


async def claim(store: SqliteStore, **more: Any) -> Work:
    """Ask for a job that there must be."""
    claimed = await ask(store, **more)
    assert claimed.work is not None, claimed
    return claimed.work


def vector(*leading: float, dimension: int = 64) -> bytes:
    """A unit vector with these leading components; the others are 0."""
    numbers = [*leading, *[0.0] * (dimension - len(leading))]
    length = sum(number * number for number in numbers) ** 0.5
    return struct.pack(f"<{dimension}f", *(number / length for number in numbers))


def row(
    id: str,
    user: str = "",
    agent: str = "",
    *,
    episode: str = "e",
    session: str = "s",
    step: int = 0,
    ts: int | None = None,
    calls: Sequence[ToolCallDTO] = (),
    reflection: str | None = None,
    summary: bytes | None = None,
    action: bytes | None = None,
    model: str = "m",
    content: str | None = None,
    tags: Sequence[str] = (),
    project: str | None = None,
) -> TraceRow:
    """A trace and its vectors."""
    data = summary or action
    vectors = TraceVectors(
        summary=summary is not None,
        action=action is not None,
        model=model if data else None,
        dimension=len(data) // 4 if data else None,
    )
    trace = Trace(
        trace_id=id, episode_id=episode, session_id=session, project=project, turn_id=f"turn {id}", step_index=step,
        ts=step if ts is None else ts, user_text=user, agent_text=agent, tool_calls=list(calls),
        reflection=Reflection(
            text=reflection, alpha=0.5 if reflection else 0.0, usable=reflection is not None,
            source="adapter" if reflection else "none",
        ),
        depth=0, is_subagent=False, superseded=False, tags=list(tags), error_signatures=[], truncated=False,
        value=0.0, r_human=None, priority=0.0, vectors=vectors, schema_version=1,
    )  # fmt: skip
    return TraceRow(
        trace=trace,
        content=key("row", content if content is not None else (user, agent)),
        summary_vector=summary,
        action_vector=action,
    )


def put(*rows: TraceRow, superseded: Sequence[str] = (), missing: Sequence[str] = (), full: bool = True) -> Put:
    """What a capture of these rows leaves."""

    def result() -> CaptureResult:
        return CaptureResult(
            episode_id=rows[0].trace.episode_id if rows else "e",
            session_id=rows[0].trace.session_id if rows else "s",
            trace_ids=[each.trace.trace_id for each in rows],
            traces=[each.trace for each in rows],
            started_at=1, completed_at=2,
            stage_timings=StageTimings(extract=1, normalize=1, reflect=0, alpha=0, embed=2, persist=3),
            llm_calls=LlmCalls(reflection_synth=0, alpha_scoring=0, batched_reflection=0),
            usage=None, warnings=[], state="done" if rows else "doneEmpty", redactions=1,
        )  # fmt: skip

    return Put(rows=rows, superseded=superseded, missing=missing, result=result, full=full)


async def capture(
    store: SqliteStore,
    *rows: TraceRow,
    text: str | None = None,
    owner: str = "me",
    project: str | None = None,
    superseded: Sequence[str] = (),
    missing: Sequence[str] = (),
    now_ms: int = 1000,
    index: bool = True,
) -> CaptureDone:
    """Take the rows' episode in, capture it and index it."""
    rows = tuple(replace(each, trace=replace(each.trace, project=project)) for each in rows)
    first = rows[0].trace
    said = text if text is not None else repr([each.trace.user_text for each in rows])
    taken = await take_in(
        store, first.episode_id, text=said, session=first.session_id, owner=owner, now_ms=now_ms, project=project
    )
    assert taken.status == "accepted"
    work = await claim(store, owner=owner, now_ms=now_ms)
    assert work.job_id == taken.job_id
    done = await store.capture.jobs.finish(work, put(*rows, superseded=superseded, missing=missing), now_ms=now_ms)
    assert done is not None
    while index and await store.capture.text_index.catch_up():
        pass
    return done


async def found(
    store: SqliteStore,
    text: str | None = None,
    *,
    project: str | None = "*",
    sessions: Sequence[str] = (),
    vector: bytes | None = None,
    model: str = "m",
    kinds: Sequence[str] = ("summary", "action"),
    limit: int = 10,
) -> list[str]:
    """The ids of the traces that a search finds, best first."""
    query = SearchQuery(
        scope=Scope(project=project, session_ids=sessions),
        limit=limit,
        text=text,
        vector=vector,
        model=model,
        kinds=kinds,
    )
    hits = (await store.capture.search.search(query)).hits
    return [hit.trace.trace_id for hit in hits]


async def listed(store: SqliteStore, **which: Any) -> list[str]:
    """The ids of the traces that a filter picks, in the order of pages."""
    page, _ = await store.capture.traces.page(TraceFilter(**which), cursor=None, limit=1000)
    return [trace.trace_id for trace in page]
