"""Capture services on one store: each as a process of its own, with a scripted outside and a clock that is told."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import anyio
import msgspec
from msgspec.structs import replace

from afterturn.capture.embedder import Embedder
from afterturn.capture.needs import CaptureNeeds
from afterturn.capture.ports import Scope
from afterturn.capture.recall import RecallService
from afterturn.capture.service import CaptureService
from afterturn.completion import Completer
from afterturn.store_error import StoreError
from afterturn_protocol.capture import (
    CaptureDone,
    CaptureDrainParams,
    CaptureFailed,
    CaptureRetryParams,
    CaptureStarted,
    CaptureStatusParams,
    CaptureStatusResult,
    EpisodeFinalizedParams,
    EpisodeFinalizedResult,
)
from afterturn_protocol.events import StoredEvent
from afterturn_protocol.settings import CaptureSettings
from afterturn_protocol.traces import Trace, TracesDeleteParams, TracesSearchParams
from tests.capture.harness import FakeCompleter, hide, says, score, user

PATIENCE_SECONDS = 10


class Process:
    """One sidecar: its services, what it sent, and what it reported."""

    _ids = itertools.count(1)

    def __init__(
        self,
        store: Any,
        clock: Any,
        *,
        completer: Completer | None = None,
        embedder: Embedder | None = None,
        owner: str | None = None,
        **settings: Any,
    ) -> None:
        self.store = store
        self.clock = clock
        self.settings = CaptureSettings(**settings)
        self.completer = completer
        self.embedder = embedder
        self.congested = False
        self.killed = False
        self.used: dict[str, int] = {}
        self.sent: list[tuple[str, Any]] = []
        self.reports: list[str] = []
        self.failures: list[BaseException] = []
        self._tasks: dict[asyncio.Task[None], anyio.CancelScope] = {}
        self._arrived = asyncio.Event()
        number = next(self._ids)
        self.owner = owner or f"owner-{number}"
        job_ids = itertools.count(1)
        needs = CaptureNeeds(
            store=_Cutable(self, store),
            settings=lambda: self.settings,
            completer=completer,
            embedder=lambda: self.embedder,
            redact=hide,
            clock=clock,
            owner=self.owner,
            new_id=lambda: f"job-{number}-{next(job_ids)}",
            used=lambda: self.used,
            emit=self._emit,
            congested=lambda: self.congested,
            report=self.reports.append,
        )
        self.service = CaptureService(needs, spawn=self.spawn)
        self.recall = RecallService(needs, self.service.relay)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        scope = anyio.CancelScope()

        async def run() -> None:
            with scope:
                try:
                    await work
                except Exception as problem:
                    self.failures.append(problem)
                    raise

        task = asyncio.get_running_loop().create_task(run())
        self._tasks[task] = scope
        task.add_done_callback(self._tasks.pop)

    def _emit(self, method: str, params: Any) -> None:
        assert not self.congested
        names = {"capture.started": CaptureStarted, "capture.done": CaptureDone, "capture.failed": CaptureFailed}
        assert type(params) is names[method]
        self.sent.append((method, params))
        self._arrived.set()

    def use(self, session_id: str = "s1") -> None:
        """The client uses a session, a second ago."""
        self.used.setdefault(session_id, self.clock.now_ms())
        self.service.resume()

    async def stop(self) -> None:
        """The process ends as a process does that may save."""
        await self.cut(0.2)
        await self.service.leave()

    async def cut(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Its tasks end."""
        for task, scope in list(self._tasks.items()):
            scope.cancel()
            assert task
        if self._tasks:
            _, left = await asyncio.wait(list(self._tasks), timeout=seconds)
            assert not left

    async def cut_off(self) -> None:
        """The process is killed: nothing that it wants to save on the way reaches the store."""
        self.killed = True
        await self.cut()

    # -- requests: each with its answer and, after that, what follows it

    async def request(self, call: Callable[[Callable[[Callable[[], None]], None]], Any]) -> Any:
        after: list[Callable[[], None]] = []
        before = len(self.sent)
        try:
            result = await call(after.append)
            started = [params.job_id for name, params in self.sent[before:] if name == "capture.started"]
            # One that is known stands for a job that follows another answer.
            known = getattr(result, "status", None) in ("duplicate", "done")
            assert known or getattr(result, "job_id", None) not in started
            return result
        finally:
            for effect in after:
                effect()

    async def finalize(
        self, id: str = "e1", *turns: dict[str, Any], session: str = "s1", **more: Any
    ) -> EpisodeFinalizedResult:
        self.used.setdefault(session, self.clock.now_ms())
        params = finalized(id, *turns, session=session, **more)
        arrivals: list[None] = []
        result = await self.request(
            lambda after: self.service.episode_finalized(
                params, arrived=lambda: arrivals.append(None), after_reply=after
            )
        )
        assert len(arrivals) == (result.status != "skipped")
        return result

    async def retry(self, job_id: str) -> str:
        result = await self.request(
            lambda after: self.service.retry(CaptureRetryParams(job_id=job_id), after_reply=after)
        )
        return result.job_id

    async def status(self, **which: Any) -> CaptureStatusResult:
        return await self.service.status(CaptureStatusParams(**which))

    async def drain(self, timeout_ms: int | None = None) -> int:
        return (await self.service.drain(CaptureDrainParams(timeout_ms=timeout_ms))).remaining

    async def delete(self, **which: Any) -> int:
        result = await self.request(lambda after: self.recall.delete(TracesDeleteParams(**which), after_reply=after))
        return result.deleted

    # -- what is stored

    async def outbox(self) -> Sequence[StoredEvent]:
        return (await self.store.outbox.since(0, scope=Scope(project="*"), limit=1000)).events

    async def found(self, query: str, **more: Any) -> list[str]:
        hits = (await self.recall.search(TracesSearchParams(query=query, **more))).hits
        return [hit.trace.trace_id for hit in hits]

    async def until_found(self, query: str, trace_ids: Sequence[str]) -> None:
        """Wait until exactly these are found: the index follows the rows a moment later."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while await self.found(query) != list(trace_ids):  # noqa: ASYNC110
                await asyncio.sleep(0.002)

    async def traces(self, trace_ids: Sequence[str]) -> Sequence[Trace]:
        return await self.store.traces.get(trace_ids)

    async def until_embedded(self) -> None:
        """Wait until no row waits for a vector."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while (await self.store.vectors.counts("any")).missing:  # noqa: ASYNC110
                await asyncio.sleep(0.002)

    # -- events

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait in real time, with the clock standing still, for what needs no time to pass."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while not holds():  # noqa: ASYNC110 - what is waited for happens in threads and services that tell nobody
                await asyncio.sleep(0.002)

    async def pass_time(self, *, until: Callable[[], bool], step_seconds: float = 1.0) -> None:
        """Let time pass in steps, each with a moment for the store's threads, until something holds."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while not until():
                await self.clock.wait(step_seconds)
                await asyncio.sleep(0.002)

    async def event(self, method: str) -> Any:
        """The next event of this name, taken out of what was sent."""
        await self.until(lambda: any(name == method for name, _ in self.sent))
        index = next(index for index, (name, _) in enumerate(self.sent) if name == method)
        return self.sent.pop(index)[1]

    async def done(self) -> CaptureDone:
        """The end of a job that was begun here."""
        await self.event("capture.started")
        return await self.event("capture.done")

    def names(self) -> list[str]:
        return [name.removeprefix("capture.") for name, _ in self.sent]

    def ends(self) -> list[str]:
        """The jobs that were said to have ended."""
        return [params.job_id for name, params in self.sent if name != "capture.started"]


class _Cutable:
    """A store that a killed process reaches no more."""

    def __init__(self, process: Process, store: Any) -> None:
        self._process = process
        self._store = store

    def __getattr__(self, part: str) -> Any:
        if self._process.killed:
            raise StoreError("killed")
        return getattr(self._store, part)


def finalized(id: str = "e1", *turns: dict[str, Any], session: str = "s1", **more: Any) -> EpisodeFinalizedParams:
    """Params of an episode; without turns, one question with an answer and its reflection."""
    given = turns or (user(f"question of {id}"), says(f"answer of {id}", reflection=f"because {id} wanted it"))
    timed = [{"ts": 1000 + index, **turn} for index, turn in enumerate(given)]
    params = {"episode": {"id": id, "sessionId": session, "startedAt": 0, "turns": timed}, **more}
    return msgspec.convert(params, EpisodeFinalizedParams)


def untimed(done: CaptureDone) -> CaptureDone:
    """An event as it is whenever it was made."""
    return replace(done, result=replace(done.result, started_at=0, completed_at=0))


class GatedCompleter(FakeCompleter):
    """Answers once the gate is open."""

    def __init__(self) -> None:
        super().__init__(reflection_batch="no json", reflection_score=score())
        self.gate = asyncio.Event()

    async def complete(self, purpose: Any, messages: Any, **more: Any) -> Any:
        self.asked.append(purpose)
        await self.gate.wait()
        return await super().complete(purpose, messages, **more)


class FlakyStore:
    """A capture store whose methods fail while they are named in `failing`, such as "jobs.finish"; "*" is all."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.failing: set[str] = set()
        self.breaking: dict[str, Exception] = {}
        self.calls: list[str] = []

    def __getattr__(self, part: str) -> Any:
        return _FlakyPart(self, part, getattr(self._store, part))

    def check(self, name: str) -> None:
        self.calls.append(name)
        if name in self.breaking:
            raise self.breaking[name]
        if self.failing & {name, "*"}:
            raise StoreError("the disk is full")


class _FlakyPart:
    def __init__(self, store: FlakyStore, name: str, part: Any) -> None:
        self._store, self._name, self._part = store, name, part

    def __getattr__(self, method: str) -> Any:
        call = getattr(self._part, method)
        if method == "of":
            return lambda work: _FlakyPart(self._store, "memo", call(work))

        async def checked(*given: Any, **more: Any) -> Any:
            self._store.check(f"{self._name}.{method}")
            return await call(*given, **more)

        return checked
