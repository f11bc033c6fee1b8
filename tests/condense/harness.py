"""A condense service on a store, with a scripted model, a clock that stands still, and its events collected."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import anyio

from afterturn.completion import CompleterError, Completion, PromptMessage
from afterturn.condense.needs import Needs
from afterturn.condense.ports import Store
from afterturn.condense.resolving import Originals
from afterturn.condense.service import CondenseService
from afterturn_protocol.base import Usage
from afterturn_protocol.condense import (
    Batch,
    CondenseOptions,
    CondenseReady,
    CondenseResult,
    CondenseTurnEndParams,
    CondenseTurnEndResult,
    ContextUsage,
    FlushParams,
    FuseParams,
    FuseResult,
    PlanParams,
    PlanResult,
    SummarizeParams,
    ToolCall,
)
from afterturn_protocol.refs import ResolveRefParams, ResolveRefResult
from afterturn_protocol.settings import CondenseSettings

Result = TypeVar("Result")

PATIENCE_SECONDS = 10
USAGE = Usage(model="fake/model", input_tokens=100, output_tokens=20, cost=None, calls=1)


class FakeClock:
    """Time that moves only when it is told to, or when somebody sleeps."""

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000
        self.slept = asyncio.Event()

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000

    async def sleep(self, seconds: float) -> None:
        self.ms += int(seconds * 1000)
        self.slept.set()
        await asyncio.sleep(0)


Answer = str | Completion | CompleterError


class FakeCompleter:
    """Answers with what `reply` gives for a prompt; keeps the prompts. While `gate` is unset, calls wait for it."""

    def __init__(self, reply: Callable[[str], Answer] | Answer) -> None:
        self.reply = reply
        self.prompts: list[str] = []
        self.asked: list[Mapping[str, Any]] = []
        self.present = True
        self.running = 0
        self.most_running = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.entered = asyncio.Event()

    def available(self, session_id: str, model: str | None) -> bool:
        return self.present

    async def complete(self, purpose: str, messages: Sequence[PromptMessage], **given: Any) -> Completion:
        prompt = "\n".join(message.content for message in messages)
        self.prompts.append(prompt)
        self.asked.append({"purpose": purpose, "messages": messages, **given})
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.entered.set()
        try:
            await self.gate.wait()
        finally:
            self.running -= 1
        answer = self.reply(prompt) if callable(self.reply) else self.reply
        if isinstance(answer, CompleterError):
            raise answer
        if isinstance(answer, str):
            return Completion(text=answer, stop_reason="stop", model="fake/model", usage=USAGE)
        return answer


def no_secrets(text: str) -> tuple[str, Mapping[str, int]]:
    """A redactor for tests: every SECRET followed by digits is one."""
    import re

    safe, count = re.subn(r"SECRET\d+", "[REDACTED:secret]", text)
    return safe, {"secret": count} if count else {}


class Harness:
    """One service, in one process or one of several that share a store."""

    _owners = itertools.count()

    def __init__(
        self,
        store: Store,
        completer: FakeCompleter | None = None,
        *,
        settings: CondenseSettings | None = None,
        clock: FakeClock | None = None,
        keep_raw: bool = True,
    ) -> None:
        self.settings = settings or CondenseSettings(min_batch_chars=0)
        self.clock = clock or FakeClock()
        self.completer = completer
        self.ready: list[CondenseReady] = []
        self.reports: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.store = store
        needs = Needs(
            store=store,
            settings=lambda: self.settings,
            redact=no_secrets,
            completer=completer,
            clock=self.clock,
            owner=f"process-{next(self._owners)}",
            keep_raw=lambda: keep_raw,
            report=self.reports.append,
        )
        self.originals = Originals(store.archive, self.clock)
        self.service = CondenseService(needs, spawn=self._spawn, emit=self._emit)

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        task = asyncio.get_running_loop().create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _emit(self, method: str, params: object) -> None:
        assert method == "condense.ready"
        assert isinstance(params, CondenseReady)
        self.ready.append(params)

    async def settle(self) -> list[CondenseResult]:
        """Wait for the background; what it brought."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while self._tasks:
                await asyncio.wait(list(self._tasks))
        brought, self.ready = self.ready, []
        return [each.result for each in brought]

    def stop(self) -> None:
        """The process dies: whatever runs in the background is gone."""
        for task in self._tasks:
            task.cancel()

    async def summarize(self, batch: Batch, session: str = "s", **options: Any) -> CondenseResult:
        arrivals: list[None] = []
        params = SummarizeParams(
            session_id=session, batch=batch, options=CondenseOptions(**options) if options else None
        )
        result = await self.service.summarize(params, arrived=lambda: arrivals.append(None))
        assert len(arrivals) == 1
        return result

    async def resolve(
        self,
        *refs: str,
        session: str = "s",
        offset: int | None = None,
        limit: int | None = None,
        grep: str | None = None,
    ) -> ResolveRefResult:
        params = ResolveRefParams(session_id=session, refs=list(refs), offset=offset, limit=limit, grep=grep)
        return await self.originals.resolve_ref(params)

    async def text(self, ref: str, session: str = "s") -> str:
        """The whole original behind one ref."""
        (record,) = (await self.resolve(ref, session=session, limit=1 << 40)).records
        return record.text

    async def turn_end(
        self,
        batch: Batch | None = None,
        *,
        final: bool = False,
        stop_reason: str | None = None,
        usage: tuple[int | None, int | None] | None = None,
        session: str = "s",
    ) -> CondenseTurnEndResult:
        params = CondenseTurnEndParams(
            session_id=session,
            batch=batch,
            final=final,
            stop_reason=stop_reason,
            usage=ContextUsage(tokens=usage[0], window=usage[1]) if usage else None,
        )
        arrivals: list[None] = []
        after: list[Callable[[], None]] = []
        running = set(self._tasks)
        result = await self.service.on_turn_end(params, arrived=lambda: arrivals.append(None), after_reply=after.append)
        assert len(arrivals) == 1
        assert self._tasks <= running, "work began before the answer"
        for effect in after:
            effect()
        return result

    async def flush(self, session: str = "s") -> int:
        after: list[Callable[[], None]] = []
        result = await self.service.flush(
            FlushParams(session_id=session), arrived=lambda: None, after_reply=after.append
        )
        for effect in after:
            effect()
        return result.batches

    async def resume(self, session: str = "s") -> int:
        after: list[Callable[[], None]] = []
        count = await self.service.resume(session, arrived=lambda: None, after_reply=after.append)
        for effect in after:
            effect()
        return count

    async def fuse(
        self, batch_ids: list[str] | None = None, short_ids: list[str] | None = None, session: str = "s"
    ) -> FuseResult:
        return await self.service.fuse(FuseParams(session_id=session, batch_ids=batch_ids, short_ids=short_ids))

    async def plan(self, session: str = "s") -> PlanResult:
        return await self.service.plan(PlanParams(session_id=session))


def call(name: str = "bash", text: str | None = "", **given: Any) -> ToolCall:
    """A tool call; its id is made of tool and text unless one is given. text None = no result yet."""
    given.setdefault("tool_call_id", f"{name}-{hash_of(text)}")
    return ToolCall(tool_name=name, result_text=text, **given)


def batch(*calls: ToolCall, turn: int = 1, **given: Any) -> Batch:
    """A batch of these calls."""
    return Batch(turn_index=turn, timestamp=1_700_000_000_000 + turn, tool_calls=list(calls), **given)


def big(word: str, lines: int = 100) -> str:
    """An output worth condensing, unlike that of any other word."""
    return "".join(f"{word} line {number} of some output that nobody reads twice\n" for number in range(lines))


def hash_of(text: str | None) -> str:
    from hashlib import blake2b

    return blake2b((text or "").encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def bullets(*named: str) -> str:
    """A model's reply: the label of each call, `N:tool`, with a bullet that is always grounded."""
    return "\n".join(f"- [[{name}]] did its work" for name in named)


def same(one: CondenseResult, other: CondenseResult) -> bool:
    """Whether two results are the same bytes but for what they cost."""
    from msgspec.structs import replace

    return replace(one, usage=None) == replace(other, usage=None)


async def gathered(*work: Callable[[], Awaitable[Result]]) -> list[Result]:
    """What all of these give, done at the same time."""
    results: list[Result] = []

    async def run(each: Callable[[], Awaitable[Result]]) -> None:
        results.append(await each())

    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as group:
            for each in work:
                group.start_soon(run, each)
    return results
