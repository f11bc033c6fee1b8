"""The breaker of one model at one destination: when it is not asked at all (models.md, 'Completers'; case P04).

Times are seconds of a monotonic clock. Nothing here waits.
"""

from msgspec import Struct

from afterturn.models.failures import FailureClass

TERMINAL_SECONDS = 3600.0
TRANSIENT_SECONDS = 60.0
UNPROVEN_CALLS = 2
"""How many calls may be in flight at a model that has not answered yet, so that a wrong key costs no more."""


class Refusal(Struct, frozen=True):
    """Why a call is not made. left_seconds: until one may be made again."""

    message: str
    terminal: bool
    left_seconds: float


class Breaker:
    """Counts failures in a row; opens, and lets a single call try once it was open for long enough.

    wait_reason: with what the provider asked to be left alone.
    """

    __slots__ = ("_open_until", "_proven", "_reason", "_strikes", "_terminal", "_tripped", "_wait_until", "wait_reason")

    def __init__(self) -> None:
        self._proven = False
        self._tripped = False
        self._open_until = 0.0
        self._terminal = False
        self._reason = ""
        self._strikes: dict[str, int] = {}
        self._wait_until = 0.0
        self.wait_reason = ""

    def refusal(self, now: float) -> Refusal | None:
        """Why it is open; None if it is not."""
        if now >= self._open_until:
            return None
        return Refusal(self._reason, self._terminal, self._open_until - now)

    def wait_seconds(self, now: float) -> float:
        """How much longer the provider asked to be left alone; 0 for not at all."""
        return max(self._wait_until - now, 0.0)

    def most_in_flight(self, now: float) -> int | None:
        """How many calls may be in flight; None for any number, also while it is open, since then none is made."""
        if self._proven or now < self._open_until:
            return None
        return 1 if self._tripped else UNPROVEN_CALLS

    def succeeded(self) -> None:
        """A call was answered."""
        self._proven, self._tripped, self._open_until = True, False, 0.0
        self._strikes.clear()

    def failed(self, kind: FailureClass, message: str, pause_seconds: float | None, now: float) -> bool:
        """A call failed; whether that opens the breaker, which is news.

        pause_seconds: what the provider asked for. It knows when it goes on, so the failure does not count.
        """
        if pause_seconds is not None and kind.retry:
            self._wait_until = max(self._wait_until, now + pause_seconds)
            self.wait_reason = message
            return False
        strikes = self._strikes[kind.name] = self._strikes.get(kind.name, 0) + 1
        if strikes < kind.strikes:
            return False
        was_open = now < self._open_until
        self._proven, self._tripped = False, True
        self._terminal = kind.terminal
        self._reason = message
        self._open_until = max(self._open_until, now + (TERMINAL_SECONDS if kind.terminal else TRANSIENT_SECONDS))
        return not was_open
