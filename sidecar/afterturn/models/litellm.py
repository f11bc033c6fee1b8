"""The provider `litellm`: any provider/model that litellm knows, from a worker process (models.md, 'litellm').

litellm takes seconds to import, prints, and can hang; behind the process it does all that to nobody but itself.
"""

import asyncio
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct

from afterturn.child.idling import Idling
from afterturn.clock import Clock
from afterturn.completion import Completion
from afterturn.models.access import Access, access_to
from afterturn.models.embedding import Embeddings
from afterturn.models.provider import FailureKind, Prompt, ProviderFailure
from afterturn.models.worker.messages import Broken, Call, Embed, Reply
from afterturn.models.worker_environment import worker_environment
from afterturn.models.worker_process import WorkerProcess
from afterturn_protocol.base import Usage
from afterturn_protocol.settings import ModelsSettings

START_SECONDS = 15.0
"""A call waits so long for the worker's start."""
LONGEST_START_SECONDS = 60.0
"""Loading litellm takes longer on a busy machine. The start goes on while calls fail, or no call would ever be made."""
BROKEN_SECONDS = 60.0
LONGEST_BACKOFF_SECONDS = 60.0
EXTRA_SECONDS = 5.0
"""litellm's own timeout is so much longer than the call's, which is ours to keep."""


class _Unstarted(Struct, frozen=True):
    """A start that failed."""

    kind: FailureKind
    message: str


class LitellmProvider:
    """Implements Provider. The worker starts with the first call and stops after `workerIdleSeconds` without one.

    A worker that ended unasked is started again by the next call; if that one ends as well before it has answered
    anything, calls fail at once for a while that doubles each time, and say for how long. A missing or broken litellm
    is looked for again after BROKEN_SECONDS.
    """

    def __init__(
        self,
        settings: Callable[[], ModelsSettings],
        clock: Clock,
        environ: Mapping[str, str],
        python: str = sys.executable,
        start_seconds: float = START_SECONDS,
        longest_start_seconds: float = LONGEST_START_SECONDS,
    ) -> None:
        """settings: those in force, asked for each call. environ: the server's. python: runs the worker.

        start_seconds: how long a call waits for the worker's start, which does not count against the call.
        longest_start_seconds: when a start is given up.
        """
        self._settings = settings
        self._clock = clock
        self._environ = environ
        self._python = python
        self._start_seconds = start_seconds
        self._longest_start_seconds = longest_start_seconds
        self._worker: WorkerProcess | None = None
        self._starting: asyncio.Task[WorkerProcess | _Unstarted] | None = None
        self._idling = Idling(
            clock, lambda: settings().worker_idle_seconds, self._stop_worker, started=self._until_started
        )
        self._crashes = 0
        self._not_before = 0.0
        self._last_failure = _Unstarted("crashed", "the model worker ended")
        self._closed = False

    @property
    def worker_pid(self) -> int | None:
        """The process id of the worker that takes calls now."""
        return self._worker.pid if self._worker is not None and self._worker.alive else None

    async def prepare(self, prompt: Prompt) -> None:
        """See Provider: the model is named, its key is there, and the worker runs."""
        self._access(prompt)
        with self._idling.in_use():
            await self._running()

    async def complete(self, prompt: Prompt) -> Completion:
        """See Provider. Both limits run from the moment the call is with the worker."""
        model, access = self._access(prompt)
        with self._idling.in_use():
            worker = await self._running()
            call = Call(
                id=worker.next_id(),
                model=model,
                messages=[(each.role, _encodable(each.content)) for each in prompt.messages],
                max_tokens=prompt.max_tokens,
                reasoning_off=prompt.reasoning == "off",
                api_key=access.api_key,
                api_base=access.api_base,
                headers=access.headers,
                credentials=access.credentials,
                limit_seconds=prompt.total_timeout_ms / 1000 + EXTRA_SECONDS,
            )
            with self._answering():
                reply = await worker.call(call, prompt.idle_timeout_ms / 1000, prompt.total_timeout_ms / 1000)
        return _completion(model, reply)

    async def embed(self, texts: Sequence[str], model: str, access: Access, seconds: float) -> Embeddings:
        """One vector for each text, in order. Raises ProviderFailure.

        model: "provider/id". seconds: limit, from the moment the call is with the worker.
        """
        with self._idling.in_use():
            worker = await self._running()
            call = Embed(
                id=worker.next_id(),
                model=model,
                texts=[_encodable(text) for text in texts],
                api_key=access.api_key,
                api_base=access.api_base,
                headers=access.headers,
                credentials=access.credentials,
                limit_seconds=seconds + EXTRA_SECONDS,
            )
            with self._answering():
                made = await worker.embed(call, seconds)
        # An embedding writes nothing, and no provider has a cache for it.
        usage = Usage(
            model=model, input_tokens=made.input_tokens, output_tokens=0, cached_tokens=0, cost=made.cost, calls=1
        )
        return Embeddings(made.vectors, usage)

    @contextmanager
    def _answering(self) -> Generator[None, None, None]:
        """A worker that answers, be it with a failure, does not crash."""
        try:
            yield
        except ProviderFailure as failure:
            if failure.kind in ("status", "malformed", "connection"):
                self._crashes = 0
            raise
        self._crashes = 0

    async def close(self) -> None:
        """End the worker, also one that is starting. Calls in flight fail as crashed."""
        self._closed = True
        self._idling.close()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._worker is not None:
            await self._worker.stop()

    def _access(self, prompt: Prompt) -> tuple[str, Access]:
        if prompt.model is None or "/" not in prompt.model:
            detail = 'no model is set, or it is not named "provider/id" (models.model)'
            raise ProviderFailure("unavailable", detail, called=False)
        return prompt.model, access_to(prompt.model, self._settings(), self._environ)

    # -- starting

    async def _running(self) -> WorkerProcess:
        if self._closed:
            raise ProviderFailure("unavailable", "the model worker is closed", called=False)
        if self._worker is not None and self._worker.alive:
            return self._worker
        if self._starting is None:
            self._check_backoff()
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._started)
        try:
            async with asyncio.timeout(self._start_seconds):
                started = await asyncio.shield(self._starting)
        except TimeoutError:
            raise ProviderFailure("crashed", _not_within(self._start_seconds), called=False) from None
        except asyncio.CancelledError:
            if not self._closed:
                raise
            raise ProviderFailure("unavailable", "the model worker is closed", called=False) from None
        if isinstance(started, _Unstarted):
            raise ProviderFailure(started.kind, started.message, called=False)
        return started

    def _check_backoff(self) -> None:
        left = self._not_before - self._clock.monotonic()
        if left > 0:
            last = self._last_failure
            raise ProviderFailure(last.kind, last.message, retry_after_ms=int(left * 1000) + 1, called=False)

    async def _start(self) -> WorkerProcess | _Unstarted:
        worker = WorkerProcess(asyncio.get_running_loop(), self._crashed)
        try:
            async with asyncio.timeout(self._longest_start_seconds):
                await worker.start(self._python, worker_environment(self._environ))
                said = await asyncio.shield(worker.ready)
        except TimeoutError:
            await worker.stop()
            return self._unstarted("crashed", _not_within(self._longest_start_seconds))
        except OSError as problem:
            return self._unstarted("crashed", f"the model worker could not be started: {problem.strerror}")
        except asyncio.CancelledError:
            await worker.stop()
            raise
        if said is None:
            return _Unstarted("crashed", "the model worker ended while it started")
        if isinstance(said, Broken):
            await worker.stop()
            self._not_before = self._clock.monotonic() + BROKEN_SECONDS
            self._last_failure = _Unstarted("unavailable", said.problem)
            return self._last_failure
        self._worker = worker
        return worker

    def _started(self, task: asyncio.Task[WorkerProcess | _Unstarted]) -> None:
        self._starting = None

    def _unstarted(self, kind: FailureKind, message: str) -> _Unstarted:
        self._crashed()
        self._last_failure = _Unstarted(kind, message)
        return self._last_failure

    def _crashed(self) -> None:
        self._crashes += 1
        self._last_failure = _Unstarted("crashed", "the model worker keeps ending unasked")
        if self._crashes > 1:
            delay = min(2.0 ** (self._crashes - 2), LONGEST_BACKOFF_SECONDS)
            self._not_before = self._clock.monotonic() + delay

    # -- idling

    async def _until_started(self) -> None:
        if self._starting is not None:
            await asyncio.wait([self._starting])

    async def _stop_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.stop()


def _completion(model: str, reply: Reply) -> Completion:
    usage = Usage(
        model=model,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cached_tokens=reply.cached_tokens,
        cost=reply.cost,
        calls=1,
    )
    return Completion(
        text=reply.text.decode("utf-8", "surrogatepass"), stop_reason=reply.stop_reason, model=model, usage=usage
    )


def _not_within(seconds: float) -> str:
    return f"the model worker did not start within {seconds:g} s"


def _encodable(text: str) -> str:
    """The text with lone surrogates replaced: no provider's JSON can carry them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
