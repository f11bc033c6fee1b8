"""The pool: every model call of the process goes through it (models.md, 'Completers').

A question is answered from memory, joins an identical one that is under way, or is asked: of the configured model,
then, in an outage, of the fallback. Each call waits for a place, reserves its budget, is made, and is settled.
Failures, breakers, places, budgets and memory are modules of their own; here they meet.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import anyio.to_thread
from msgspec.structs import replace

from afterturn.clock import Clock
from afterturn.completion import CompleterError, Completion, PromptMessage, Purpose
from afterturn.models.asking import (
    MOST_REPLY_TOKENS,
    Question,
    Tally,
    Target,
    ended,
    is_whole,
    memo_key,
    wants_room,
)
from afterturn.models.breaker import Refusal
from afterturn.models.budget import Budget
from afterturn.models.calls import Calls, Down
from afterturn.models.choosing import Choice, choose, destination, fallback_of
from afterturn.models.estimate import prompt_tokens
from afterturn.models.failures import store_failure
from afterturn.models.flights import Flights
from afterturn.models.ports import Ledger, Memo, Remembered
from afterturn.models.provider import MAX_REPLY_CHARS, Provider
from afterturn.models.sticky import Outages
from afterturn.store_error import StoreError
from afterturn_protocol.settings import ModelsSettings

log = logging.getLogger("afterturn.models")

HEAVY_CHARS = 24_000

Redact = Callable[[str], tuple[str, Mapping[str, int]]]


class ModelStore(Protocol):
    """What is needed of the store."""

    @property
    def ledger(self) -> Ledger:
        """The ledger of model calls."""
        ...

    @property
    def memo(self) -> Memo:
        """The memory of completions."""
        ...


class Pool:
    """Behind the `Completer` of all three jobs (models/lazy.py).

    settings: as they are now. offered: whether the client declared `sampling`. providers: made on first use, by name.
    store: opened on first use. redact: hides secrets. chance: random numbers from 0 to 1. emit: sends an event.
    """

    def __init__(
        self,
        *,
        settings: Callable[[], ModelsSettings],
        offered: Callable[[], bool],
        providers: Mapping[str, Callable[[], Provider]],
        store: Callable[[], ModelStore],
        redact: Redact,
        clock: Clock,
        chance: Callable[[], float],
        emit: Callable[[str, Any], None],
    ) -> None:
        self._settings = settings
        self._offered = offered
        self._store = store
        self._redact = redact
        self._clock = clock
        self._outages = Outages()
        self._flights = Flights()
        self._calls = Calls(
            providers=providers,
            budget=Budget(lambda: store().ledger, settings, clock, emit),
            concurrency=lambda: settings().concurrency,
            clock=clock,
            chance=chance,
        )

    # -- what the jobs call --------------------------------------------------------------------------------

    async def complete(
        self,
        purpose: Purpose,
        messages: Sequence[PromptMessage],
        *,
        session_id: str,
        prompt_version: str,
        max_tokens: int,
        model: str | None,
        reasoning: str,
        idle_timeout_ms: int,
        total_timeout_ms: int,
        max_calls: int,
        background: bool,
        fresh: bool = False,
    ) -> Completion:
        """One completion; see `Completer`. `total_timeout_ms` runs from the moment the call has a place.

        A reply that is still cut or empty after the one retry with more room comes as it is. Raises CompleterError.
        """
        targets = self._targets(model)
        hidden = await self._hidden(messages)
        question = Question(
            purpose=purpose,
            messages=hidden,
            session_id=session_id,
            epoch=0,
            prompt_version=prompt_version,
            prompt_tokens=prompt_tokens(hidden),
            max_tokens=max_tokens,
            reasoning=reasoning,
            idle_timeout_ms=idle_timeout_ms,
            total_timeout_ms=total_timeout_ms,
            background=background,
        )
        keys = [memo_key(question, each.model) for each in targets]
        try:
            recalled = await self._store().memo.find(session_id, [] if fresh else keys, now_ms=self._clock.now_ms())
        except StoreError as problem:
            raise store_failure(problem) from None
        if recalled.found is not None:
            return Completion(text=recalled.found.text, stop_reason="stop", model=recalled.found.model, usage=None)
        question = replace(question, epoch=recalled.epoch)

        async def make() -> Completion:
            return await self._answer(question, targets, Tally(max(max_calls, 1), total_timeout_ms / 1000))

        if fresh:
            return await make()
        completion, another = await self._flights.join(keys[0], make)
        return replace(completion, usage=None) if another else completion

    # -- what the process calls ----------------------------------------------------------------------------

    def settings_changed(self) -> None:
        """What was given up may work now."""
        self._calls.clear()
        self._outages.clear()

    def refusal(self, model: str | None) -> Refusal | None:
        """Why this model is not asked for now; None if it is, or if there is none."""
        choice = choose(self._settings(), model, self._offered())
        return self._calls.refusal(self._target(choice, choice.model)) if choice.usable else None

    @property
    def running(self) -> int:
        """Calls in flight."""
        return self._calls.slots.running

    @property
    def waiting(self) -> int:
        """Calls that wait for a place."""
        return self._calls.slots.waiting

    async def close(self) -> None:
        """Let go of the providers. Nothing is asked afterwards."""
        await self._calls.close()

    # -- one question --------------------------------------------------------------------------------------

    def _targets(self, model: str | None) -> list[Target]:
        """The model to ask, then the one for its outages."""
        models = self._settings()
        choice = choose(models, model, self._offered())
        if not choice.usable:
            reason = choice.reason or "no model is configured, and the client offers none"
            raise CompleterError("provider_unavailable", reason, retryable=False, terminal=True, called=False)
        names = [choice.model, *filter(None, [fallback_of(models, choice)])]
        return [self._target(choice, name) for name in names]

    def _target(self, choice: Choice, model: str | None) -> Target:
        return Target(choice.provider, model, destination(self._settings(), choice.provider, model))

    async def _answer(self, question: Question, targets: Sequence[Target], tally: Tally) -> Completion:
        """Ask the targets in turn, and keep what came. Raises CompleterError."""
        first, now = targets[0], self._clock.monotonic()
        probing = len(targets) > 1 and self._outages.down(first.key)
        if len(targets) > 1 and not self._outages.take_turn(first.key, now):
            targets = targets[1:]
        for target in targets:
            others = target is not targets[-1]
            # A call for the next model is kept back, and half of the time where this one is known to be down.
            calls = max(tally.calls_left - 1, 1) if others else tally.calls_left
            seconds = tally.seconds_left / 2 if others and probing else tally.seconds_left
            try:
                completion = await self._calls.tried(question, target, tally, question.max_tokens, calls, seconds)
            except Down as down:
                if others:
                    self._outages.began(target.key, self._clock.monotonic())
                if not others or not tally.calls_left or not tally.seconds_left:
                    raise tally.costed(down.error) from None
                continue
            if target is first:
                self._outages.over(target.key)
            return await self._kept(question, target, await self._whole(question, target, completion, tally), tally)
        raise AssertionError("a question has at least one target")

    async def _whole(self, question: Question, target: Target, reply: Completion, tally: Tally) -> Completion:
        """The reply, or that of the one retry with more room where it was cut or empty."""
        more = min(question.max_tokens * 2, MOST_REPLY_TOKENS)
        if not wants_room(reply) or more <= question.max_tokens or not tally.calls_left or not tally.seconds_left:
            return reply
        try:
            return await self._calls.tried(question, target, tally, more, 1, tally.seconds_left)
        except (CompleterError, Down):
            return reply

    async def _kept(self, question: Question, target: Target, reply: Completion, tally: Tally) -> Completion:
        """The reply without secrets, with what all of it cost, and kept where it is whole."""
        text = await self._hide(reply.text[:MAX_REPLY_CHARS])
        if is_whole(reply):
            remembered = Remembered(text, reply.model)
            key = memo_key(question, target.model)
            try:
                await self._store().memo.keep(
                    question.session_id, question.epoch, key, remembered, now_ms=self._clock.now_ms()
                )
            except StoreError as problem:
                log.warning("a completion could not be kept: %s", problem)
        return replace(reply, text=text, stop_reason=ended(reply), usage=tally.usage, spent_seconds=tally.spent)

    async def _hidden(self, messages: Sequence[PromptMessage]) -> list[PromptMessage]:
        return [PromptMessage(each.role, await self._hide(each.content)) for each in messages]

    async def _hide(self, text: str) -> str:
        if len(text) < HEAVY_CHARS:
            return self._redact(text)[0]
        return (await anyio.to_thread.run_sync(self._redact, text))[0]
