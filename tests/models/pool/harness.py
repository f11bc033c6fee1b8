"""A pool on a real store, with a scripted provider and a clock that moves only when somebody waits."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from afterturn.completion import Completion, PromptMessage, Purpose
from afterturn.models.pool import Pool
from afterturn.models.ports import Totals
from afterturn.models.provider import Prompt, ProviderFailure
from afterturn.redact import Redactor
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.base import Usage
from afterturn_protocol.events import UsageLimit
from afterturn_protocol.settings import ModelsSettings

PATIENCE_SECONDS = 10
NOON_MS = 20_000 * 86_400_000 + 43_200_000
MODEL, OTHER = "acme/big", "other/small"


class FakeClock:
    """Time that moves only when it is told to, or when somebody sleeps."""

    def __init__(self) -> None:
        self.ms = NOON_MS
        self.slept: list[float] = []

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.ms += round(seconds * 1000)
        await asyncio.sleep(0)


def usage(input: int | None = 100, output: int | None = 20, cost: float | None = None, model: str = MODEL) -> Usage:
    return Usage(model=model, input_tokens=input, output_tokens=output, cost=cost, calls=1)


def reply(text: str = "fine", stop: str = "stop", model: str = MODEL, **said: Any) -> Completion:
    return Completion(text=text, stop_reason=stop, model=model, usage=usage(model=model, **said))


def status(code: int, retry_after_ms: int | None = None) -> ProviderFailure:
    return ProviderFailure("status", f"the provider answered {code}", status=code, retry_after_ms=retry_after_ms)


Answer = Completion | Exception | Callable[[Prompt], "Completion | Exception"]


class ScriptedProvider:
    """Answers with the script's next entry, the last one for ever. While `gate` is unset, calls wait in it.

    takes_ms: how long each call takes on the clock, prepares_ms before it. unready: why no call can be made.
    """

    def __init__(self, clock: FakeClock, *script: Answer) -> None:
        self.script = list(script) or [reply()]
        self.clock = clock
        self.prompts: list[Prompt] = []
        self.running = 0
        self.most_running = 0
        self.cancelled = 0
        self.takes_ms = 0
        self.prepares_ms = 0
        self.unready: ProviderFailure | None = None
        self.closed = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def prepare(self, prompt: Prompt) -> None:
        self.clock.ms += self.prepares_ms
        if self.unready is not None:
            raise self.unready

    async def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        try:
            await self.gate.wait()
            self.clock.ms += self.takes_ms
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        outcome = answer(prompt) if callable(answer) else answer
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def close(self) -> None:
        self.closed = True

    @property
    def models(self) -> list[str | None]:
        """Which models were asked, in order."""
        return [prompt.model for prompt in self.prompts]


class Harness:
    """One sidecar's pool. Others may share the store."""

    def __init__(
        self,
        store: SqliteStore,
        *script: Answer,
        clock: FakeClock | None = None,
        offered: bool = False,
        **settings: Any,
    ) -> None:
        self.clock = clock or FakeClock()
        self.settings = ModelsSettings(**{"model": MODEL, **settings})
        self.provider = ScriptedProvider(self.clock, *script)
        self.store = store
        self.events: list[UsageLimit] = []
        self.made: list[str] = []
        self.chance = 1.0

        def make(name: str) -> ScriptedProvider:
            self.made.append(name)
            return self.provider

        self.pool = Pool(
            settings=lambda: self.settings,
            offered=lambda: offered,
            providers={name: lambda name=name: make(name) for name in ("host", "litellm")},
            store=lambda: store.models,
            redact=Redactor().redact,
            clock=self.clock,
            chance=lambda: self.chance,
            emit=self._emit,
        )

    def _emit(self, method: str, params: Any) -> None:
        assert method == "usage.limit"
        self.events.append(params)

    def change(self, **settings: Any) -> None:
        """Other settings come into force."""
        self.settings = replace(self.settings, **settings)
        self.pool.settings_changed()

    async def ask(self, text: str = "a prompt", **given: Any) -> Completion:
        """One call of condense's, unless said otherwise."""
        return await self.pool.complete(
            given.pop("purpose", "condense.batch"),
            given.pop("messages", [PromptMessage("system", "rules"), PromptMessage("user", text)]),
            **{**DEFAULTS, **given},
        )

    async def totals(self, since_ms: int | None = None) -> Totals:
        return await self.store.models.ledger.totals(since_ms)

    async def counted(self) -> list[tuple[int, int, int]]:
        """Every row of the ledger: tokens that count, whether still reserved, calls."""
        rows = self.store._engine.read(
            lambda connection: connection.execute(
                "SELECT tokens, pid IS NOT NULL, calls FROM model_calls ORDER BY call"
            ).fetchall(),
            key=self.store.models.ledger,
        )
        return await rows


DEFAULTS: Mapping[str, Any] = {
    "session_id": "s",
    "prompt_version": "1",
    "max_tokens": 100,
    "model": None,
    "reasoning": "off",
    "idle_timeout_ms": 20_000,
    "total_timeout_ms": 45_000,
    "max_calls": 3,
    "background": False,
}

PURPOSES: Sequence[Purpose] = (
    "condense.batch", "condense.fuse", "recap", "reflection.synth", "reflection.score", "reflection.batch"
)  # fmt: skip


async def until(true: Callable[[], bool]) -> None:
    """Let others run until something holds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not true():  # noqa: ASYNC110 (what holds is no event)
            await asyncio.sleep(0)


async def pass_by() -> None:
    """Let everything run that can; nothing that waits for the store is that slow."""
    for _ in range(20):
        await asyncio.sleep(0.001)
