"""Identical calls at the same time are one call (models.md, 'Memo')."""

from collections.abc import Awaitable, Callable

import anyio

from afterturn.completion import CompleterError, Completion


class _Flight:
    __slots__ = ("done", "outcome")

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.outcome: Completion | CompleterError | None = None


class Flights:
    """The calls under way, by the key of what they ask."""

    def __init__(self) -> None:
        self._flights: dict[bytes, _Flight] = {}

    async def join(self, key: bytes, make: Callable[[], Awaitable[Completion]]) -> tuple[Completion, bool]:
        """What `make` brings, or what a call with the same key brings that is under way; whether it was another's.

        A caller that is cancelled ends its own call only; one that waited for it then makes the call itself.
        Raises CompleterError; another's failure comes without its cost.
        """
        while (flight := self._flights.get(key)) is not None:
            await flight.done.wait()
            if isinstance(flight.outcome, Completion):
                return flight.outcome, True
            if flight.outcome is not None:
                raise _without_cost(flight.outcome)
        flight = self._flights[key] = _Flight()
        try:
            flight.outcome = completion = await make()
            return completion, False
        except CompleterError as problem:
            flight.outcome = problem
            raise
        finally:
            del self._flights[key]
            flight.done.set()


def _without_cost(problem: CompleterError) -> CompleterError:
    return CompleterError(
        problem.kind,
        problem.message,
        retryable=problem.retryable,
        retry_after_ms=problem.retry_after_ms,
        terminal=problem.terminal,
        called=problem.called,
    )
