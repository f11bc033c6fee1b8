"""One attempt at one job (capture.md, 'Durability').

A job is worked on under a lease that is renewed while it lasts. Whatever happens here - a lost lease, a store that
fails, a bug, the end of the process - leaves the job either ended with exactly one terminal event, or to be done.
"""

import anyio

from afterturn.capture.drafts import STAGES
from afterturn.capture.needs import CaptureNeeds
from afterturn.capture.ports import MAX_FAILURES, Failed, Put, Work
from afterturn.capture.relay import Relay
from afterturn.capture.runner import Captured, EpisodeWork, run, with_persist
from afterturn.capture.runner import Needs as RunnerNeeds
from afterturn.capture.snapshots import JobOptions, unpacked
from afterturn.capture.upkeep import Upkeep
from afterturn.store_error import StoreError
from afterturn_protocol.capture import CaptureDone, CaptureError, CaptureFailed, CaptureResult, CaptureStarted, Episode

RETRY_MS = 2_000
"""How long after its first failure a job is tried again; each further one doubles it."""

STORE_PAUSES_SECONDS = (2.0, 4.0)
"""How long a store that cannot even keep a failure is left alone before it is tried again; then the job has failed."""

RENEWALS = 3
"""Renewals in the time of one lease."""

_STORE_FAILED = CaptureError(code="store_unavailable", message="The store could not be written", retryable=True)
_INTERNAL = CaptureError(code="internal", message="Capturing failed", retryable=True)


class Ending:
    """The end of a job that failed, written."""

    def __init__(self, needs: CaptureNeeds, work: Work) -> None:
        self._needs = needs
        self._work = work

    async def fail(self, stage: str, error: CaptureError) -> Failed:
        """Have the job tried again, or ended after too many failures. Raises StoreError."""
        retry_ms = RETRY_MS * 2 ** min(self._work.attempts - 1, MAX_FAILURES)
        return await self._fail(stage, error, retry_ms)

    async def record(self) -> int | None:
        """End it for good as one that could not be stored; the event's place in the order. Raises StoreError."""
        event = (await self._fail("persist", _STORE_FAILED, None)).event
        return None if event is None else event.seq

    async def _fail(self, stage: str, error: CaptureError, retry_ms: int | None) -> Failed:
        needs = self._needs
        return await needs.store.jobs.fail(
            self._work, stage, error, retry_after_ms=retry_ms, now_ms=needs.clock.now_ms()
        )


class _LostLease(Exception):
    """Another sidecar has taken over, or the episode was deleted: what was made here is dropped."""


class Attempt:
    """Runs a job to its end, or puts it back. episode: its snapshot, where this process has just stored it."""

    def __init__(
        self, needs: CaptureNeeds, work: Work, relay: Relay, upkeep: Upkeep, episode: Episode | None = None
    ) -> None:
        self._needs = needs
        self._work = work
        self._relay = relay
        self._upkeep = upkeep
        self._episode = episode
        self._stage = STAGES[0]
        self._scope: anyio.CancelScope | None = None
        self._lost = False

    @property
    def session_id(self) -> str:
        """The session of the episode."""
        return self._work.session_id

    def lose(self) -> None:
        """Stop: the job is not this attempt's any more."""
        self._lost = True
        if self._scope is not None:
            self._scope.cancel()

    async def run(self) -> bool:
        """Do it; whether it failed without the store knowing, which the client was told."""
        work = self._work
        self._relay.begun(CaptureStarted(job_id=work.job_id, episode_id=work.episode_id, session_id=work.session_id))
        ended = False
        try:
            over = await self._run()
            ended = True
        finally:
            if not ended:
                with anyio.CancelScope(shield=True):
                    await self._give_back()
        return over

    async def _run(self) -> bool:
        """Once; again while the store fails altogether, which it may do for a moment."""
        for pause_seconds in (*STORE_PAUSES_SECONDS, None):
            try:
                await self._under_lease()
            except _LostLease:
                # Its end is somebody else's to write, but it was begun here.
                self._relay.follow(self._work.session_id)
                return False
            except StoreError as problem:
                self._needs.report(f"an episode could not be stored: {problem}")
                if await self._failed("persist", _STORE_FAILED):
                    return False
            except Exception as problem:
                # A bug costs this job an attempt, not the process its worker. Its text may hold what is secret.
                self._needs.report(f"capturing failed in stage {self._stage}: {type(problem).__name__}")
                await self._failed(self._stage, _INTERNAL)
                return False
            else:
                self._upkeep.wake()
                return False
            if pause_seconds is not None:
                await self._needs.clock.sleep(pause_seconds)
        self._relay.send(self._failure())
        return True

    async def _under_lease(self) -> None:
        """The job's end, written and told. Raises _LostLease, StoreError, and whatever a bug raises."""
        done: CaptureDone | None = None
        problem: Exception | None = None
        async with anyio.create_task_group() as tasks:
            self._scope = tasks.cancel_scope
            if self._lost:
                tasks.cancel_scope.cancel()
            tasks.start_soon(self._renew)
            try:
                done = await self._captured()
                if done is not None:
                    self._relay.send(done)  # not after the renewing task, whose end takes turns of the event loop
            except Exception as raised:
                problem = raised  # handed on below, so that the group does not wrap it
            tasks.cancel_scope.cancel()
        self._scope = None
        if problem is not None:
            raise problem
        if done is None:
            raise _LostLease

    async def _renew(self) -> None:
        needs = self._needs
        lease_ms = needs.settings().lease_seconds * 1000
        while True:
            await needs.clock.sleep(lease_ms / 1000 / RENEWALS)
            now_ms = needs.clock.now_ms()
            try:
                if not await needs.store.jobs.renew(self._work, stage=self._stage, lease_ms=lease_ms, now_ms=now_ms):
                    self.lose()
            except StoreError:
                continue  # the run itself will meet it, and says so

    async def _captured(self) -> CaptureDone | None:
        needs, work = self._needs, self._work
        options = unpacked(work.options, JobOptions)
        made = await run(
            RunnerNeeds(completer=needs.completer, embedder=needs.embedder(), redact=needs.redact, clock=needs.clock),
            EpisodeWork(
                episode=self._episode or unpacked(work.snapshot, Episode),
                project=work.project,
                settings=options.settings,
                redactions=options.redactions,
                scores=needs.store.score_memos.of(work),
                # A first revision has none: rows come with the end of one, and what comes after that is another.
                known=() if work.revision == 1 else await needs.store.traces.rows_of(work.session_id, work.episode_id),
                at_stage=self._at_stage,
            ),
        )
        self._at_stage("persist")
        with anyio.CancelScope(shield=True):  # once it is on its way, how it ends has to be known
            return await needs.store.jobs.finish(work, self._put(made, options), now_ms=needs.clock.now_ms())

    def _put(self, made: Captured, options: JobOptions) -> Put:
        clock = self._needs.clock
        before = clock.monotonic()

        def result() -> CaptureResult:
            return with_persist(made.result, round((clock.monotonic() - before) * 1000))

        return Put(
            rows=made.rows,
            superseded=made.superseded,
            missing=made.missing,
            result=result,
            full=options.settings.result_detail == "full",
        )

    def _at_stage(self, stage: str) -> None:
        self._stage = stage

    async def _failed(self, stage: str, error: CaptureError) -> bool:
        """Have it tried again or ended; False where not even that could be written."""
        try:
            failed = await Ending(self._needs, self._work).fail(stage, error)
        except StoreError:
            return False
        if failed.event is not None:
            self._relay.send(failed.event)
        return True

    def _failure(self) -> CaptureFailed:
        """The store fails for good: the client is told now, and the store when it can be (protocol.md, 'Events')."""
        work = self._work
        return CaptureFailed(
            job_id=work.job_id,
            seq=None,
            episode_id=work.episode_id,
            session_id=work.session_id,
            stage="persist",
            error=_STORE_FAILED,
        )

    async def _give_back(self) -> None:
        try:
            await self._needs.store.jobs.give_back(self._work, now_ms=self._needs.clock.now_ms())
        except StoreError as problem:
            self._needs.report(f"a job could not be given back, and waits until its lease is over: {problem}")
