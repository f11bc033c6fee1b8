"""Doing the jobs: claim, run, finish or fail, and tell (capture.md, 'Durability')."""

from collections.abc import Callable, Collection, Coroutine
from typing import Any

import anyio

from afterturn.capture.attempt import Attempt, Ending
from afterturn.capture.bell import Bell
from afterturn.capture.needs import CaptureNeeds
from afterturn.capture.ports import Work
from afterturn.capture.relay import Relay
from afterturn.capture.upkeep import Upkeep
from afterturn.store_error import StoreError
from afterturn_protocol.capture import Episode
from afterturn_protocol.settings import CaptureSettings

AT_ONCE = 2
"""Jobs worked on at once; their model calls share the pool's limit in any case."""

PAUSE_SECONDS = 2.0
"""How long nothing is claimed after the store failed; doubled with each failure in a row."""

LONGEST_NAP_SECONDS = 60.0

Spawn = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a task that outlives the call which starts it."""


class Worker:
    """Works while there are jobs to be had, sleeps while there are none. It begins with the first `kick`."""

    def __init__(self, needs: CaptureNeeds, relay: Relay, upkeep: Upkeep, spawn: Spawn) -> None:
        self._needs = needs
        self._relay = relay
        self._upkeep = upkeep
        self._spawn = spawn
        self._bell = Bell()
        self._started = False
        self._places = AT_ONCE
        self._attempts: dict[str, Attempt] = {}
        self._over: dict[str, Work] = {}  # jobs that the client was told have failed, and the store was not
        self._unanswered: dict[str, anyio.Event] = {}

    def kick(self) -> None:
        """There may be a job now. Nothing is claimed before the first of these (capture.md: start-up does nothing)."""
        if not self._started:
            self._started = True
            for _ in range(AT_ONCE):
                self._spawn(self._work())
        self._bell.ring()

    async def look(self) -> None:
        """Wake up if there is something to do: that another process has ended, or its job, rings no bell here.

        Raises StoreError.
        """
        needs = self._needs
        settings = needs.settings()
        if not self._started or not settings.enabled or len(self._attempts) >= AT_ONCE:
            return
        if self._over or await needs.store.jobs.claimable(
            owner=needs.owner,
            has_completer=self._has_completer(settings),
            lease_ms=settings.lease_seconds * 1000,
            now_ms=needs.clock.now_ms(),
        ):
            self._bell.ring()

    def running(self, session_ids: Collection[str]) -> int:
        """How many jobs of these sessions are being worked on here."""
        return sum(attempt.session_id in session_ids for attempt in self._attempts.values())

    def wait_for_answer(self, job_id: str) -> None:
        """Do not begin this job, which is about to be stored, before its request is `answered`."""
        self._unanswered[job_id] = anyio.Event()

    def answered(self, job_id: str) -> bool:
        """The request that brought this job has its answer; whether the job is being worked on already."""
        self._unanswered.pop(job_id).set()
        return job_id in self._attempts

    def reserve(self) -> bool:
        """Keep a place for a job, if there is one; it is given back by `begin`, or with `release`."""
        if not self._places:
            return False
        self._places -= 1
        return True

    def release(self) -> None:
        """A place is free: there may be a job for it."""
        self._places += 1
        self._bell.ring()

    def begin(self, work: Work, episode: Episode) -> None:
        """Do a job that was claimed as it was stored, in the place that was kept for it. episode: its snapshot."""

        async def do() -> None:
            try:
                await self._do(work, attempt)
            finally:
                self.release()

        attempt = self._attempts[work.job_id] = Attempt(self._needs, work, self._relay, self._upkeep, episode)
        self._spawn(do())

    def drop(self, job_id: str) -> None:
        """This job is over: what is made of it will not be kept."""
        attempt = self._attempts.get(job_id)
        if attempt is not None:
            attempt.lose()

    async def record(self) -> None:
        """Have the store know of the failures that only the client was told of. Raises StoreError."""
        for job_id, work in list(self._over.items()):
            seq = await Ending(self._needs, work).record()
            if seq is not None:
                self._relay.sent(seq)
            self._over.pop(job_id, None)

    async def _work(self) -> None:
        needs = self._needs
        pause_seconds = PAUSE_SECONDS
        while True:
            mark = self._bell.mark()
            try:
                wait_ms = await self._next()
            except StoreError as problem:
                needs.report(f"episodes are not captured for now: {problem}")
                await needs.clock.sleep(pause_seconds)
                pause_seconds = min(2 * pause_seconds, LONGEST_NAP_SECONDS)
            except Exception as problem:  # a bug must not end the worker; its text may hold what is secret
                needs.report(f"looking for episodes to capture failed: {type(problem).__name__}")
                await needs.clock.sleep(LONGEST_NAP_SECONDS)
            else:
                pause_seconds = PAUSE_SECONDS
                if wait_ms != 0:
                    nap_seconds = LONGEST_NAP_SECONDS if wait_ms is None else wait_ms / 1000
                    await self._bell.wait(mark, needs.clock, min(nap_seconds, LONGEST_NAP_SECONDS))

    async def _next(self) -> int | None:
        """Do one job; 0 if one was done, else how long none is to be had, in ms, or None. Raises StoreError."""
        needs = self._needs
        settings = needs.settings()
        if not settings.enabled:
            return None
        if not self.reserve():
            return None  # the bell rings when there is a place
        try:
            await self.record()
            claim = await needs.store.jobs.claim(
                owner=needs.owner,
                has_completer=self._has_completer(settings),
                lease_ms=settings.lease_seconds * 1000,
                now_ms=needs.clock.now_ms(),
            )
            for event in claim.failed:
                self._relay.send(event)
            work = claim.work
            if work is None:
                return claim.wait_ms
            self.drop(work.job_id)  # an attempt of this process that could not renew its lease
            attempt = self._attempts[work.job_id] = Attempt(needs, work, self._relay, self._upkeep)
            await self._do(work, attempt)
        finally:
            self._places += 1
        return 0

    def _has_completer(self, settings: CaptureSettings) -> bool:
        completer = self._needs.completer
        return completer is not None and completer.available("", settings.model)

    async def _do(self, work: Work, attempt: Attempt) -> None:
        try:
            if work.job_id in self._unanswered:
                await self._unanswered[work.job_id].wait()
            if await attempt.run():
                self._over[work.job_id] = work
        finally:
            if self._attempts.get(work.job_id) is attempt:
                del self._attempts[work.job_id]
