"""The capture service: one method for each method of the wire (protocol.md, 'capture and traces')."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from afterturn.capture.drafts import SMALL_CHARS, size
from afterturn.capture.needs import CaptureNeeds
from afterturn.capture.ports import NewEpisode, TakenEpisode
from afterturn.capture.reading import checked, redacted
from afterturn.capture.refusals import RefusedError
from afterturn.capture.relay import Relay
from afterturn.capture.snapshots import JobOptions, content_hash, packed
from afterturn.capture.upkeep import Upkeep
from afterturn.capture.worker import Worker
from afterturn.misfits import InvalidInputError
from afterturn.store_error import StoreError
from afterturn_protocol.capture import (
    CaptureDrainParams,
    CaptureDrainResult,
    CaptureRetryParams,
    CaptureRetryResult,
    CaptureStatusParams,
    CaptureStatusResult,
    Episode,
    EpisodeFinalizedParams,
    EpisodeFinalizedResult,
)
from afterturn_protocol.settings import CaptureSettings

BUSY_RETRY_MS = 5_000
DRAIN_LOOK_SECONDS = 0.05
LEAVE_SECONDS = 0.3

INTAKE_THREADS = 2
"""Episodes made ready at once: more would only take the interpreter from the event loop."""

AfterReply = Callable[[Callable[[], None]], None]
"""Runs what it is given once the answer is on its way."""


class CaptureService:
    """Takes episodes in and has them captured. spawn: starts a task in the background.

    Every method raises StoreError where the store fails, InvalidInputError for values that make no sense, and
    RefusedError.
    """

    def __init__(self, needs: CaptureNeeds, *, spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self._needs = needs
        self._arriving = 0  # episodes on their way to the disk
        self._resumed = False
        self._intake = anyio.CapacityLimiter(INTAKE_THREADS)
        self.relay = Relay(needs, spawn, dropped=self._dropped, others_ended=self._others_ended)
        self.upkeep = Upkeep(needs, spawn)
        self.worker = Worker(needs, self.relay, self.upkeep, spawn)

    def resume(self) -> None:
        """The host is at work: take up what is unfinished, and what was left behind (capture.md, 'Durability')."""
        if not self._resumed:
            self._resumed = True
            self.relay.start()
            self.upkeep.wake()
        self.worker.kick()

    async def go_on(self) -> None:
        """The host is still at work: see what was left behind since it was last. Raises StoreError."""
        if self._resumed:
            self.upkeep.wake_index()
            await self.worker.look()
        else:
            self.resume()

    async def episode_finalized(
        self, params: EpisodeFinalizedParams, *, arrived: Callable[[], None], after_reply: AfterReply
    ) -> EpisodeFinalizedResult:
        """`capture/episodeFinalized`: answered when the episode without its secrets and its job are on disk."""
        settings = self._needs.settings()
        options = checked(params, settings)
        if params.project == "*":
            raise InvalidInputError("$.project", 'the name of one project: "*" stands for all')
        skipped = _skipped(params, settings, options)
        if skipped is not None:
            return EpisodeFinalizedResult(
                job_id=None, episode_id=params.episode.id, revision=0, status="skipped", reason=skipped
            )
        job_id = self._needs.new_id()
        self.worker.wait_for_answer(job_id)
        after_reply(partial(self._answered, job_id))
        self._arriving += 1
        try:
            taken = await self._take_in(params, job_id, options)
        finally:
            self._arriving -= 1
        arrived()
        _refuse(taken, settings.max_queued_jobs)
        if taken.done is not None:
            after_reply(partial(self.relay.replay, taken.done))
        return EpisodeFinalizedResult(
            job_id=taken.job_id, episode_id=params.episode.id, revision=taken.revision, status=taken.status
        )

    async def _take_in(self, params: EpisodeFinalizedParams, job_id: str, options: CaptureSettings) -> TakenEpisode:
        needs = self._needs
        with_completer = self._has_completer(params.episode.session_id, options)
        make = partial(_new_episode, params, job_id, options, needs, with_completer)
        if size(params.episode) <= SMALL_CHARS:
            new, episode = make()
        else:
            new, episode = await anyio.to_thread.run_sync(make, limiter=self._intake)
        await self.relay.ready()  # another sidecar may be about to finish this very episode
        await self.worker.record()
        # As a task of its own: a request that is cancelled must not leave behind a claimed job that nobody does.
        return await asyncio.shield(asyncio.ensure_future(self._store(new, episode, options)))

    async def _store(self, new: NewEpisode, episode: Episode, options: CaptureSettings) -> TakenEpisode:
        """Keep the episode, and begin with its job where there is a place for it."""
        needs = self._needs
        work = None
        reserved = self.worker.reserve()
        try:
            taken = await needs.store.jobs.take_in(
                new,
                owner=needs.owner,
                max_queued=options.max_queued_jobs,
                now_ms=needs.clock.now_ms(),
                lease_ms=options.lease_seconds * 1000 if reserved else None,
            )
            work = taken.work
            if work is not None:
                self.worker.begin(work, episode)
        finally:
            if reserved and work is None:
                self.worker.release()
        return taken

    async def status(self, params: CaptureStatusParams) -> CaptureStatusResult:
        """`capture/status`: of a job, or of an episode's newest revision."""
        if (params.job_id is None) == (params.episode_id is None):
            raise InvalidInputError("$", "either jobId or episodeId")
        found = await self._needs.store.jobs.status(
            job_id=params.job_id, episode_id=params.episode_id, session_ids=self._needs.used()
        )
        if found is None:
            raise RefusedError("unknown_job", "No such job is known", retryable=False)
        return found

    async def drain(self, params: CaptureDrainParams) -> CaptureDrainResult:
        """`capture/drain`: how many jobs are left, at once or when none is or the time is over.

        A job counts until its event is on its way.
        """
        needs = self._needs
        await self.go_on()
        until = needs.clock.monotonic() + (params.timeout_ms or 0) / 1000
        while True:
            arriving, used = self._arriving, needs.used()
            stored = await needs.store.jobs.unfinished(used)
            remaining = arriving + max(stored, self.worker.running(used))
            left = until - needs.clock.monotonic()
            if not remaining or left <= 0:
                return CaptureDrainResult(remaining=remaining)
            await needs.clock.sleep(min(left, DRAIN_LOOK_SECONDS))

    async def left(self) -> tuple[int, int]:
        """Unfinished jobs of the client's sessions, and traces that wait for vectors; 0 where it cannot be told."""
        store = self._needs.store
        try:
            return await store.jobs.unfinished(self._needs.used()), (await store.vectors.counts("")).missing
        except StoreError:
            return 0, 0

    async def retry(self, params: CaptureRetryParams, *, after_reply: AfterReply) -> CaptureRetryResult:
        """`capture/retry`: a failed job again, under a new id."""
        needs = self._needs
        new_id = needs.new_id()
        self.worker.wait_for_answer(new_id)
        after_reply(partial(self._answered, new_id))
        await self.worker.record()
        job_id = await needs.store.jobs.retry(
            params.job_id,
            new_job_id=new_id,
            owner=needs.owner,
            with_completer=self._has_completer("", needs.settings()),
            now_ms=needs.clock.now_ms(),
        )
        if job_id is None:
            raise RefusedError("unknown_job", "No such job is known, or nothing is left of it", retryable=False)
        return CaptureRetryResult(job_id=job_id)

    async def leave(self) -> None:
        """The process ends: what it has not done is anybody's, at the latest when it is seen to be gone."""
        self.upkeep.end()
        with anyio.move_on_after(LEAVE_SECONDS):
            await self._needs.store.jobs.leave(owner=self._needs.owner)

    def _has_completer(self, session_id: str, settings: CaptureSettings) -> bool:
        completer = self._needs.completer
        return completer is not None and completer.available(session_id, settings.model)

    async def _others_ended(self) -> None:
        await self.worker.look()

    def _dropped(self, job_id: str) -> None:
        self.worker.drop(job_id)

    def _answered(self, job_id: str) -> None:
        at_work = self.worker.answered(job_id)
        if not (self._resumed and at_work):
            self.resume()


def _skipped(params: EpisodeFinalizedParams, settings: CaptureSettings, options: CaptureSettings) -> str | None:
    if not settings.enabled:
        return "disabled"
    return "abandoned" if params.closed_by == "abandoned" and not options.capture_abandoned else None


def _new_episode(
    params: EpisodeFinalizedParams,
    job_id: str,
    settings: CaptureSettings,
    needs: CaptureNeeds,
    with_completer: bool,
) -> tuple[NewEpisode, Episode]:
    """The episode as it is kept, packed and not. Heavy: hashes, redacts and packs all of it."""
    episode, redactions = redacted(params.episode, needs.redact)
    new = NewEpisode(
        job_id=job_id,
        episode_id=params.episode.id,
        session_id=params.episode.session_id,
        content_hash=content_hash(params.episode),
        idempotency_key=params.idempotency_key,
        project=params.project,
        snapshot=packed(episode),
        options=packed(JobOptions(settings=settings, redactions=redactions)),
        with_completer=with_completer,
    )
    return new, episode


def _refuse(taken: TakenEpisode, most: int) -> None:
    if taken.status == "conflict":
        raise RefusedError("conflict", "The idempotency key stands for other content", retryable=False)
    if taken.status == "busy":
        message = f"The session has {most} unfinished jobs already"
        raise RefusedError("busy", message, retryable=True, retry_after_ms=BUSY_RETRY_MS)
