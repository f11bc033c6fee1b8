"""Calls of models: each waits for a place, reserves its budget, is made, and is settled (models.md, 'Completers')."""

import asyncio
import logging
from collections.abc import Callable, Hashable, Mapping

import anyio

from afterturn.clock import Clock
from afterturn.completion import CompleterError, Completion
from afterturn.models.asking import Question, Tally, Target
from afterturn.models.backoff import pause_seconds
from afterturn.models.breaker import Breaker, Refusal
from afterturn.models.budget import Budget
from afterturn.models.failures import asked_pause_ms, billable, classify, completer_error
from afterturn.models.ports import Intent
from afterturn.models.provider import Prompt, Provider, ProviderFailure
from afterturn.models.slots import Slots, rank_of
from afterturn.usage import unknown_use
from afterturn_protocol.base import Usage

log = logging.getLogger("afterturn.models")

BACKSTOP_SECONDS = 20.0
"""A provider that does not end a call by itself gets so much longer: a worker's start has its own limit of 15 s."""

MOST_KEYS = 256


class Down(Exception):
    """The target does not answer for now; another one may. error: what the job is told if there is none."""

    def __init__(self, error: CompleterError) -> None:
        super().__init__(error.message)
        self.error = error


class Calls:
    """Makes the calls of the whole process.

    providers: made on first use, by name. concurrency: how many calls may be in flight now. chance: random numbers
    from 0 to 1.
    """

    def __init__(
        self,
        *,
        providers: Mapping[str, Callable[[], Provider]],
        budget: Budget,
        concurrency: Callable[[], int],
        clock: Clock,
        chance: Callable[[], float],
    ) -> None:
        self._makers = providers
        self._providers: dict[str, Provider] = {}
        self._budget = budget
        self._clock = clock
        self._chance = chance
        self._breakers: dict[Hashable, Breaker] = {}
        self._answering: dict[Hashable, str] = {}
        self.slots = Slots(concurrency, lambda key: self._breaker(key).most_in_flight(clock.monotonic()))

    def refusal(self, target: Target) -> Refusal | None:
        """Why the target is not asked for now; None if it is."""
        breaker = self._breakers.get(target.key)
        if breaker is None:
            return None
        now = self._clock.monotonic()
        wait = breaker.wait_seconds(now)
        return breaker.refusal(now) or (Refusal(breaker.wait_reason, False, wait) if wait > 0 else None)

    def clear(self) -> None:
        """What was given up may work now: the settings have changed."""
        self._breakers.clear()
        self.slots.grant()

    async def close(self) -> None:
        """Let go of the providers. Nothing is asked afterwards."""
        providers, self._providers = self._providers, {}
        for provider in providers.values():
            await provider.close()

    async def tried(
        self, question: Question, target: Target, tally: Tally, max_tokens: int, calls: int, seconds: float
    ) -> Completion:
        """Ask a target up to `calls` times within `seconds`. Raises Down, CompleterError."""
        clock, breaker = self._clock, self._breaker(target.key)
        ends_at = tally.spent + seconds
        rank = rank_of(question.purpose, question.background)
        failures = 0
        while True:
            wait = breaker.wait_seconds(clock.monotonic())
            if wait > 0:
                await self._pause(wait, tally, ends_at, _left_alone(wait, breaker.wait_reason))
            async with self.slots.hold(rank, target.key):
                now = clock.monotonic()
                refusal = breaker.refusal(now)
                if refusal is not None:
                    raise Down(tally.costed(_refused(refusal)))
                if breaker.wait_seconds(now) > 0:
                    continue
                try:
                    completion = await self._once(question, target, tally, max_tokens, ends_at - tally.spent)
                except ProviderFailure as problem:
                    failure = problem
                else:
                    breaker.succeeded()
                    return completion
                failures += 1
                kind, asked_ms = classify(failure), asked_pause_ms(failure)
                asked = None if asked_ms is None else asked_ms / 1000
                if breaker.failed(kind, failure.message, asked, clock.monotonic()):
                    log.warning("calls to %s stop for now: %s", target.label, failure.message)
            error = tally.costed(completer_error(failure, kind, True, None))
            if not kind.retry or failures >= calls:
                down = kind.outage or breaker.refusal(clock.monotonic()) is not None
                raise Down(error) if down else error
            if asked is None:
                await self._pause(pause_seconds(failures, self._chance()), tally, ends_at, error)

    async def _pause(self, seconds: float, tally: Tally, ends_at: float, otherwise: CompleterError) -> None:
        """Wait, where the time allows it. Raises Down with `otherwise`."""
        if tally.spent + seconds >= ends_at:
            raise Down(tally.costed(otherwise))
        await self._clock.sleep(seconds)
        tally.spent += seconds

    async def _once(
        self, question: Question, target: Target, tally: Tally, max_tokens: int, seconds: float
    ) -> Completion:
        """One call, reserved before and settled after. Raises ProviderFailure, CompleterError."""
        if seconds <= 0:
            raise ProviderFailure("timeout", "no time is left", called=False)
        intent = Intent(
            session_id=question.session_id,
            purpose=question.purpose,
            model=self._answering.get(target.key, target.label),
            prompt_tokens=question.prompt_tokens,
            max_tokens=max_tokens,
        )
        number = await self._reserved(intent, tally)
        usage: Usage | None = None
        charged = False
        try:
            await asyncio.sleep(0)  # whoever is cancelled by now is not asked for
            prompt = _prompt(question, target, max_tokens, seconds)
            provider = await self._prepared(target, prompt)
            tally.calls += 1
            charged = True
            completion = await self._timed(provider, prompt, tally, seconds)
            usage = completion.usage or unknown_use(completion.model)
            tally.add(usage)
            self._answered_by(target, completion.model)
            return completion
        except ProviderFailure as failure:
            if charged and not failure.called:
                tally.calls -= 1
            charged = billable(failure)
            if charged:
                tally.add(unknown_use(target.label))
            raise
        finally:
            await self._settled(number, target, usage, charged)

    async def _reserved(self, intent: Intent, tally: Tally) -> int:
        try:
            return await self._budget.reserve(intent)
        except CompleterError as problem:
            raise tally.costed(problem) from None

    async def _settled(self, number: int, target: Target, usage: Usage | None, charged: bool) -> None:
        if charged:
            await self._budget.settle(number, usage or unknown_use(target.label))
        else:
            await self._budget.release(number, target.label)

    async def _prepared(self, target: Target, prompt: Prompt) -> Provider:
        """The provider, ready for the call. That takes no time of the call's: it has limits of its own."""
        provider = self._provider(target.provider)
        try:
            with anyio.fail_after(BACKSTOP_SECONDS):
                await provider.prepare(prompt)
        except TimeoutError:
            raise ProviderFailure("crashed", "the provider was not ready in time", called=False) from None
        return provider

    async def _timed(self, provider: Provider, prompt: Prompt, tally: Tally, seconds: float) -> Completion:
        """The provider's call, with its time counted."""
        began = self._clock.monotonic()
        try:
            with anyio.fail_after(seconds + BACKSTOP_SECONDS):
                return await provider.complete(prompt)
        except TimeoutError:
            raise ProviderFailure("timeout", "the provider did not end its call in time") from None
        finally:
            tally.spent += self._clock.monotonic() - began

    def _answered_by(self, target: Target, model: str) -> None:
        """A host chooses its model: the price to expect of the next call is that of the one that answered last."""
        if len(self._answering) >= MOST_KEYS:
            self._answering.clear()
        self._answering[target.key] = model

    def _provider(self, name: str) -> Provider:
        provider = self._providers.get(name)
        if provider is None:
            provider = self._providers[name] = self._makers[name]()
        return provider

    def _breaker(self, key: Hashable) -> Breaker:
        breaker = self._breakers.get(key)
        if breaker is None:
            if len(self._breakers) >= MOST_KEYS:  # any client may name any number of models
                del self._breakers[next(iter(self._breakers))]
            breaker = self._breakers[key] = Breaker()
        return breaker


def _prompt(question: Question, target: Target, max_tokens: int, seconds: float) -> Prompt:
    return Prompt(
        purpose=question.purpose,
        messages=question.messages,
        session_id=question.session_id,
        max_tokens=max_tokens,
        model=target.model,
        reasoning=question.reasoning,
        idle_timeout_ms=question.idle_timeout_ms,
        total_timeout_ms=max(int(seconds * 1000), 1),
    )


def _refused(refusal: Refusal) -> CompleterError:
    kind = "provider_error" if refusal.terminal else "provider_unavailable"
    return CompleterError(
        kind,
        refusal.message,
        retryable=not refusal.terminal,
        retry_after_ms=None if refusal.terminal else int(refusal.left_seconds * 1000) + 1,
        terminal=refusal.terminal,
    )


def _left_alone(seconds: float, reason: str) -> CompleterError:
    return CompleterError(
        "provider_unavailable",
        f"the provider asked to be left alone for a while: {reason}",
        retryable=True,
        retry_after_ms=int(seconds * 1000) + 1,
    )
