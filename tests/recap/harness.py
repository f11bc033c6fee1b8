"""A recap service with a model, a host and a store under the test's control, and time that moves when it is told to."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import afterturn.recap.drafting  # noqa: F401 (loaded, so that no thread has to do it within a test)
from afterturn.completion import CompleterError, Completion, PromptMessage
from afterturn.recap.ports import ContextUnavailable, Found, KeptRecap, Needs
from afterturn.recap.service import RecapService
from afterturn_protocol.base import Message, ModelChoice, ModelInfo, ToolUse, Usage
from afterturn_protocol.context import RecapContext
from afterturn_protocol.lifecycle import RecapCapability
from afterturn_protocol.recap import (
    Recap,
    RecapFocusParams,
    RecapInputParams,
    RecapNowParams,
    RecapNowResult,
    RecapTurnEndParams,
)
from afterturn_protocol.session import SavedRecap, SessionChangedParams, SessionOpenParams
from afterturn_protocol.settings import RecapSettings
from tests.clocks import ManualClock
from tests.clocks import settle as settle

USAGE = Usage(model="anthropic/claude-haiku-5-5", input_tokens=900, output_tokens=40, cost=None, calls=1)
OPUS = ModelInfo(
    provider="anthropic",
    id="claude-opus-5",
    available=[ModelChoice(provider="anthropic", id="claude-haiku-5-5")],
)
CAN_SHOW = RecapCapability(can_show=True)


class Model:
    """Answers with `reply`, once `gate` is open; keeps what it was asked."""

    def __init__(self) -> None:
        self.reply: str | Completion | CompleterError = "You are fixing the login redirect in auth.py."
        self.asked: list[dict[str, Any]] = []
        self.finished = 0
        self.present = True
        self.gate = asyncio.Event()
        self.gate.set()

    def available(self, session_id: str, model: str | None) -> bool:
        return self.present

    async def complete(self, purpose: str, messages: Sequence[PromptMessage], **given: Any) -> Completion:
        self.asked.append({"purpose": purpose, "messages": messages, **given})
        await self.gate.wait()
        self.finished += 1
        if isinstance(self.reply, CompleterError):
            raise self.reply
        if isinstance(self.reply, Completion):
            return self.reply
        return Completion(text=self.reply, stop_reason="stop", model=given["model"], usage=USAGE)


class Host:
    """Answers `host/getContext` for the sessions it holds, once `gate` is open."""

    def __init__(self, contexts: dict[str, RecapContext] | None) -> None:
        self.contexts = contexts
        self.asked = 0
        self.broken = False
        self.gate = asyncio.Event()
        self.gate.set()

    def offered(self) -> bool:
        return self.contexts is not None

    async def get(self, session_id: str) -> RecapContext:
        self.asked += 1
        await self.gate.wait()
        if self.broken or self.contexts is None or session_id not in self.contexts:
            raise ContextUnavailable("the client answered with an error")
        return self.contexts[session_id]


class Recaps:
    """`RecapStore` in memory. `broken`: the store fails."""

    def __init__(self) -> None:
        self.kept: dict[str, KeptRecap] = {}
        self.epochs: dict[str, int] = {}
        self.broken = False

    async def find(self, session_id: str) -> Found | None:
        await asyncio.sleep(0)
        if self.broken:
            return None
        return Found(epoch=self.epochs.get(session_id, 0), kept=self.kept.get(session_id))

    async def keep(self, session_id: str, epoch: int, recap: KeptRecap, *, now_ms: int) -> bool:
        await asyncio.sleep(0)
        if self.broken or self.epochs.get(session_id, 0) != epoch:
            return False
        self.kept[session_id] = recap
        return True

    def delete(self, session_id: str) -> None:
        self.kept.pop(session_id, None)
        self.epochs[session_id] = self.epochs.get(session_id, 0) + 1


class Harness:
    """One client's recap service. Its events are in `events`, oldest first, as (method, params)."""

    def __init__(
        self,
        *,
        settings: RecapSettings | None = None,
        capability: RecapCapability | None = CAN_SHOW,
        contexts: dict[str, RecapContext] | None = None,
        store: Recaps | None = None,
        model: Model | None = None,
        with_model: bool = True,
    ) -> None:
        self.settings = settings or RecapSettings()
        self.clock = ManualClock()
        self.model = model or Model()
        self.host = Host(contexts)
        self.store = store or Recaps()
        self.events: list[tuple[str, Any]] = []
        self.reports: list[str] = []
        self.told: list[str] = []
        self._ids = 0
        self._tasks: set[asyncio.Task[None]] = set()
        needs = Needs(
            store=lambda: self.store,
            settings=lambda: self.settings,
            capability=lambda: capability,
            default_model=lambda: None,
            by_host=lambda: True,
            completer=self.model if with_model else None,
            host_context=self.host,
            redact=lambda text: text.replace("SECRET7", "[REDACTED:secret]"),
            clock=self.clock,
            new_id=self._new_id,
            emit=lambda method, params: self.events.append((method, params)),
            tell=self.told.append,
            report=self.reports.append,
        )
        self.service = RecapService(needs, spawn=self._spawn)

    def _new_id(self) -> str:
        self._ids += 1
        return f"r{self._ids}"

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End what is still waiting."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- what the host tells, each as a call that is answered at once

    def _call(self, tell: Callable[..., None], *given: Any) -> None:
        after: list[Callable[[], None]] = []
        count = len(self.events)
        tell(*given, after.append)
        assert len(self.events) == count, "an event came before the answer"
        for effect in after:
            effect()

    def open(self, session: str = "s", **given: Any) -> None:
        given = {"has_history": True, "reason": "resume", "model": OPUS, **given}
        self._call(self.service.opened, SessionOpenParams(session_id=session, **given))

    def blur(self, session: str = "s", at: int | None = None) -> None:
        self._call(self.service.focus, RecapFocusParams(session_id=session, focused=False, at=at))

    def focus(self, session: str = "s", at: int | None = None) -> None:
        self._call(self.service.focus, RecapFocusParams(session_id=session, focused=True, at=at))

    def turn_start(self, session: str = "s") -> None:
        self._call(self.service.turn_start, session)

    def turn_end(self, session: str = "s", context: RecapContext | None = None, **given: Any) -> None:
        self._call(self.service.turn_end, RecapTurnEndParams(session_id=session, context=context, **given))

    def typed(self, session: str = "s") -> None:
        self._call(self.service.input, RecapInputParams(session_id=session, kind="typed"))

    def submit(self, session: str = "s") -> None:
        self._call(self.service.input, RecapInputParams(session_id=session, kind="submitted"))

    def change(self, kind: str = "message", session: str = "s", **given: Any) -> None:
        self._call(self.service.changed, SessionChangedParams(session_id=session, kind=kind, **given))

    def dismiss(self, session: str = "s") -> None:
        self._call(self.service.dismiss, session)

    async def now(self, session: str = "s", context: RecapContext | None = None) -> RecapNowResult:
        arrivals: list[None] = []
        params = RecapNowParams(session_id=session, context=context)
        given = await self.service.now(params, arrived=lambda: arrivals.append(None))
        assert len(arrivals) == 1
        return given

    async def get(self, session: str = "s") -> Recap | None:
        return (await self.service.get(session)).recap

    async def away(self, session: str = "s") -> None:
        """The person is away for as long as it takes."""
        self.blur(session)
        await self.clock.wait(90)

    # -- what came of it

    @property
    def calls(self) -> int:
        """How often the model was asked."""
        return len(self.model.asked)

    @property
    def heard(self) -> str:
        """The events, as short words."""
        return " ".join(_word(method, params) for method, params in self.events)

    def recaps(self) -> list[Recap]:
        return [params for method, params in self.events if method == "recap.ready"]


def _word(method: str, params: Any) -> str:
    match method:
        case "recap.ready":
            return f"ready({params.trigger},{params.origin})"
        case "recap.cleared":
            return f"cleared({params.reason})"
        case "recap.skipped":
            return f"skipped({params.trigger},{params.reason})"
        case _:
            return f"failed({params.error.code})"


def user(text: str) -> Message:
    return Message(role="user", content=text)


def said(text: str) -> Message:
    return Message(role="assistant", content=text)


def ran(id: str, command: str, output: str, *, failed: bool = False) -> list[Message]:
    """One command of the agent, with what came of it."""
    return [
        Message(role="assistant", content="", tool_calls=[ToolUse(id=id, name="bash", input={"command": command})]),
        Message(role="tool", content=output, tool_call_id=id, tool_name="bash", is_error=failed),
    ]


def work(step: int = 1, *, revision: int | None = None, model: ModelInfo | None = OPUS) -> RecapContext:
    """A session in which something was done; unlike that of any other step."""
    messages = [user("Fix the login redirect in auth.py"), *ran("c1", f"grep -n redirect auth.py # {step}", "12: go")]
    return RecapContext(messages=messages, model=model, revision=revision)


def saved(text: str = "You are fixing the login redirect.", current: bool | None = True) -> SavedRecap:
    return SavedRecap(text=text, model="anthropic/claude-haiku-5-5", current=current)
