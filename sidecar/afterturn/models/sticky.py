"""Which of two models is asked while the configured one may be down (models.md, 'Completers').

After an outage the other model is asked for every call, and the configured one is tried by one call every ten
minutes. Times are seconds of a monotonic clock.
"""

from collections.abc import Hashable

PROBE_SECONDS = 600.0


class Outages:
    """The configured models that are down, and when each is to be tried again."""

    def __init__(self) -> None:
        self._probe_at: dict[Hashable, float] = {}

    def began(self, key: Hashable, now: float) -> None:
        """The model is down, or still is."""
        self._probe_at[key] = now + PROBE_SECONDS

    def over(self, key: Hashable) -> None:
        """The model has answered."""
        self._probe_at.pop(key, None)

    def down(self, key: Hashable) -> bool:
        """Whether the model counts as down."""
        return key in self._probe_at

    def take_turn(self, key: Hashable, now: float) -> bool:
        """Whether this call shall ask the configured model. While it is down, that is one call every ten minutes."""
        probe_at = self._probe_at.get(key)
        if probe_at is None:
            return True
        if now < probe_at:
            return False
        self._probe_at[key] = now + PROBE_SECONDS
        return True

    def clear(self) -> None:
        """Forget all of it: the settings have changed."""
        self._probe_at.clear()
