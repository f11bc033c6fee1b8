"""What the capture service needs of the store, as Protocols and the plain values that cross them (store.md).

The store hands over `CaptureJobs`, `Traces`, `TraceVectors`, `TextIndex`, `TraceSearch`, `Outbox` and `ScoreMemos` as
one `CaptureStore`.
Rules that hold for all of them:

- Every text is a `str` that may hold lone surrogates. Bytes are opaque, but for vectors: little-endian float32.
- Every method that writes is one transaction, but for `Traces.delete`. `CaptureJobs.take_in` is on disk when it
  returns; the others survive the end of the process.
- `seq` grows in the order of commits, over the whole store, and is never given twice.
- A store that cannot be opened, read or written raises `StoreError`.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from msgspec import Struct

from afterturn.capture.memo import ScoreMemo
from afterturn.capture.rows import TraceRow
from afterturn_protocol.capture import CaptureDone, CaptureError, CaptureFailed, CaptureResult, CaptureStatusResult
from afterturn_protocol.events import StoredEvent
from afterturn_protocol.traces import ScoreUpdate, Trace, TraceHit

MAX_FAILURES = 3
"""Failures after which a job has failed for good (capture.md, 'Durability')."""

MAX_STARTS = 25
"""Starts after which a job that never came to an end has failed: it may be what ends the process each time."""

LEFT_TO_COMPLETERS_MS = 86_400_000
"""How long a job accepted under a completer is left alone by a sidecar without one (capture.md, 'Durability')."""


# --- jobs --------------------------------------------------------------------------------------------------------


class NewEpisode(Struct, frozen=True, kw_only=True):
    """An episode on its way in, without secrets already.

    job_id: the id its job gets, if it gets one; unlike any other.
    content_hash: 32 bytes, of the episode as sent, with its id and session.
    idempotency_key: the host's own key for the content.
    project: as sent; None means the session's.
    snapshot: the redacted episode, opaque.
    options: what else the run needs (closedBy, settings, number of redactions), opaque.
    with_completer: the accepting sidecar has a model to ask.
    """

    job_id: str
    episode_id: str
    session_id: str
    content_hash: bytes
    idempotency_key: str | None = None
    project: str | None = None
    snapshot: bytes
    options: bytes
    with_completer: bool


class Work(Struct, frozen=True, kw_only=True):
    """A job that is this sidecar's to do, for as long as its lease lasts. token: proves that nobody took over."""

    job_id: str
    token: int
    episode_id: str
    session_id: str
    project: str | None
    revision: int
    attempts: int
    snapshot: bytes
    options: bytes


class TakenEpisode(Struct, frozen=True, kw_only=True):
    """What became of a `NewEpisode`.

    status: "accepted" (on disk, under `job_id`), "duplicate" (known and unfinished), "done" (known and finished),
        "conflict" (its idempotency key stands for other content), "busy" (the session has too many unfinished jobs).
    job_id: the job that stands for it; "" for conflict and busy.
    revision: how often the episode's content has changed, from 1.
    done: the event that ended it; only with "done".
    work: the job, claimed; only with "accepted".
    """

    status: str
    job_id: str
    revision: int
    done: CaptureDone | None = None
    work: Work | None = None


class Claim(Struct, frozen=True, kw_only=True):
    """How a claim ended.

    work: the job; None where there is none to be had.
    wait_ms: without work, until when there may be some that is only held or put off; None: nothing waits.
    failed: events of jobs that were found to have been started too often, and are over.
    """

    work: Work | None
    wait_ms: int | None = None
    failed: Sequence[CaptureFailed] = ()


class Put(Struct, frozen=True, kw_only=True):
    """What a capture leaves.

    rows: to keep, in step order; a row replaces the one with its trace id, but for value, priority, r_human - and for
        vectors, where it brings none and its `content` is what it was.
    superseded: ids of rows of the episode that this revision does not have any more.
    missing: ids of those rows that shall get their vectors later.
    result: makes the result, at the end of the transaction, on the store's thread. Its `traces` are not kept: they
        are the rows.
    full: whether capture.done carries the traces too.
    """

    rows: Sequence[TraceRow]
    superseded: Sequence[str]
    missing: Collection[str]
    result: Callable[[], CaptureResult]
    full: bool


class Failed(Struct, frozen=True, kw_only=True):
    """What a failure led to.

    again_ms: the job is queued again, and due in so many ms.
    event: the job is over.
    Neither: it was not this sidecar's any more.
    """

    again_ms: int | None = None
    event: CaptureFailed | None = None


class CaptureJobs(Protocol):
    """Episodes that were taken in and are to be captured. `owner` is this sidecar, unlike any other on the store.

    A job is done by the sidecar that accepted it while that one lives, and by any other once it does not. One episode's
    revisions are done one after the other, oldest first.
    """

    async def take_in(
        self,
        new: NewEpisode,
        *,
        owner: str,
        max_queued: int,
        now_ms: int,
        lease_ms: int | None = None,
    ) -> TakenEpisode:
        """Keep an episode and its job in one durable transaction; opens and touches the session.

        lease_ms: claim an accepted job at once for so long, unless an older revision has to be done first.

        It is known by its idempotency key, or by episode, session and content hash. One that is known, and whose job
        failed, is accepted again.
        """
        ...

    async def claim(self, *, owner: str, has_completer: bool, lease_ms: int, now_ms: int) -> Claim:
        """Take the newest job that is due, for `lease_ms`. A lease of a process that is gone is over at once."""
        ...

    async def claimable(self, *, owner: str, has_completer: bool, lease_ms: int, now_ms: int) -> bool:
        """Whether `claim` would find anything to do. Writes nothing, and so holds nobody up."""
        ...

    async def renew(self, work: Work, *, stage: str, lease_ms: int, now_ms: int) -> bool:
        """Keep a job for `lease_ms` from now and say where it is; False if it is not this sidecar's any more."""
        ...

    async def give_back(self, work: Work, *, now_ms: int) -> bool:
        """Stop working on a job that is not done, without a failure; False if it was not this sidecar's any more."""
        ...

    async def leave(self, *, owner: str) -> None:
        """The sidecar ends: its unfinished jobs are anybody's."""
        ...

    async def finish(self, work: Work, put: Put, *, now_ms: int) -> CaptureDone | None:
        """Rows, the episode's list of them, the job's end and its event, all at once.

        None, and nothing is written, if the job is not this sidecar's any more.
        """
        ...

    async def fail(
        self, work: Work, stage: str, error: CaptureError, *, retry_after_ms: int | None, now_ms: int
    ) -> Failed:
        """The job failed: it is due again in `retry_after_ms`, or over after `MAX_FAILURES`, or with None at once."""
        ...

    async def retry(self, job_id: str, *, new_job_id: str, owner: str, with_completer: bool, now_ms: int) -> str | None:
        """Do a failed job again under a new id; the id of the job that stands for its episode now.

        That is the one given for a job that is not failed. None if it is not known, or nothing is left of its episode.
        """
        ...

    async def status(
        self, *, job_id: str | None = None, episode_id: str | None = None, session_ids: Collection[str] = ()
    ) -> CaptureStatusResult | None:
        """A job's state, or that of an episode's newest revision; an episode of one of these sessions goes first."""
        ...

    async def unfinished(self, session_ids: Collection[str]) -> int:
        """How many jobs of these sessions are queued or running."""
        ...


# --- traces ------------------------------------------------------------------------------------------------------


class Scope(Struct, frozen=True, kw_only=True):
    """Which projects are looked at (protocol.md, 'capture and traces').

    project: the one with this name; "*" is all.
    session_ids: without a project, the projects of these sessions. A session without project is one of its own.
    """

    project: str | None = None
    session_ids: Sequence[str] = ()


class TraceFilter(Struct, frozen=True, kw_only=True):
    """Which traces are meant; all that is given must hold.

    trace_ids: these.
    episode_id: of episodes with this id; where one is of a session of the scope, only of those.
    session_id: of this session.
    before: with a `ts` before this, epoch ms.
    scope: looked at with a project always, with sessions only where no ids are given.
    """

    trace_ids: Sequence[str] | None = None
    episode_id: str | None = None
    session_id: str | None = None
    before: int | None = None
    scope: Scope = Scope()


class Deleted(Struct, frozen=True, kw_only=True):
    """What a deletion ended: how many traces, and the events of the jobs that it ended."""

    count: int
    failed: Sequence[CaptureFailed] = ()


class Traces(Protocol):
    """The rows."""

    async def rows_of(self, session_id: str, episode_id: str) -> Sequence[TraceRow]:
        """Every stored row of an episode, superseded ones too, in step order."""
        ...

    async def page(self, which: TraceFilter, *, cursor: str | None, limit: int) -> tuple[Sequence[Trace], str | None]:
        """A page, and the cursor for the next one: an episode in step order, everything else newest first.

        Raises ValueError for a cursor that is none.
        """
        ...

    async def get(self, trace_ids: Sequence[str]) -> Sequence[Trace]:
        """The traces with these ids that are there, in the order asked for."""
        ...

    async def delete(self, which: TraceFilter, *, now_ms: int) -> Deleted:
        """Erase traces and all that was made from them; the text is in no file any more.

        Episodes that are meant as a whole go too: jobs that are not done end as failed, code "deleted", and the same
        episode can be taken in again. Of an episode of which single traces are erased nothing else goes.
        """
        ...

    async def update_scores(self, updates: Sequence[ScoreUpdate]) -> int:
        """Set what is given; how many traces were changed."""
        ...


class VectorCounts(Struct, frozen=True, kw_only=True):
    """How many traces that are not superseded have vectors of the model asked for, of another one, or none yet."""

    current: int
    stale: int
    missing: int


class TraceVectors(Protocol):
    """Vectors that come later than their rows (models.md, 'Embedders')."""

    async def missing(self, *, limit: int) -> Sequence[TraceRow]:
        """Rows that shall get vectors and have not failed too often, newest first."""
        ...

    async def stale(self, model: str, *, limit: int) -> Sequence[TraceRow]:
        """Rows whose vectors are not of this model."""
        ...

    async def add(self, rows: Sequence[TraceRow]) -> int:
        """Keep the vectors that these rows bring, where the stored row's `content` is the same; how many were kept.

        `trace.vectors` names model and dimension.
        """
        ...

    async def failed(self, trace_ids: Sequence[str]) -> None:
        """These could not be embedded; after six times they are left alone."""
        ...

    async def counts(self, model: str) -> VectorCounts:
        """How far the store is with this model."""
        ...


# --- search ------------------------------------------------------------------------------------------------------


class SearchQuery(Struct, frozen=True, kw_only=True):
    """What to look for.

    text: words; "" or None leaves full text out.
    vector, model: what the query's text means, and who says so; None leaves vectors out.
    kinds: the vectors to compare with, of "summary" and "action".
    """

    scope: Scope
    limit: int
    text: str | None = None
    vector: bytes | None = None
    model: str | None = None
    kinds: Sequence[str] = ("summary", "action")


class Found(Struct, frozen=True, kw_only=True):
    """What a search found, best first. stale: traces left out, as their vectors are another model's; None without."""

    hits: Sequence[TraceHit]
    stale: int | None


class TraceSearch(Protocol):
    """Full text and vectors, joined by reciprocal rank. Superseded traces are not found."""

    async def search(self, query: SearchQuery) -> Found:
        """The best hits. `scores.text` is BM25, higher is better; `summary` and `action` are cosines."""
        ...


class TextIndex(Protocol):
    """The full-text index, which follows the rows a moment later."""

    async def catch_up(self, *, limit: int = 200) -> bool:
        """Index at most `limit` rows that wait for it; whether more wait. Several processes may do so at once."""
        ...


# --- events and scores -------------------------------------------------------------------------------------------


class EventsPage(Struct, frozen=True, kw_only=True):
    """Events oldest first; next: the seq to ask with next time."""

    events: Sequence[StoredEvent]
    next: int


class Outbox(Protocol):
    """The events that ended jobs. Their traces are shown as they are now; deleted ones are left out."""

    async def since(self, seq: int, *, scope: Scope, session_id: str | None = None, limit: int) -> EventsPage:
        """The events after `seq`: of one session, or of a project, or of the sessions of the scope."""
        ...

    async def last(self) -> int:
        """The newest seq; 0 before the first."""
        ...

    async def before(self, at_ms: int) -> int:
        """The seq that all events of that time, epoch ms, and later ones come after."""
        ...


class ScoreMemos(Protocol):
    """Scores that were paid for, by episode."""

    def of(self, work: Work) -> ScoreMemo:
        """The memo of the job's episode; what is put after the job was lost or its episode deleted is dropped."""
        ...


class CaptureStore(Protocol):
    """All of it."""

    @property
    def jobs(self) -> CaptureJobs: ...
    @property
    def traces(self) -> Traces: ...
    @property
    def vectors(self) -> TraceVectors: ...
    @property
    def text_index(self) -> TextIndex: ...
    @property
    def search(self) -> TraceSearch: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def score_memos(self) -> ScoreMemos: ...
