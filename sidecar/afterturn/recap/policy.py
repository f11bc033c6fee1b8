"""What the settings and the client allow, in the machine's terms (recap.md, 'Options' and the timers)."""

import math

from msgspec import Struct

from afterturn_protocol.lifecycle import RecapCapability
from afterturn_protocol.settings import RecapSettings

SHORTEST_SECONDS = 5.0
LONGEST_SECONDS = 604_800.0
"""A week; a longer time is a mistake."""


class Policy(Struct, frozen=True, kw_only=True):
    """What holds now. Durations in ms.

    auto: draft by itself. can_show: the client can show a recap. reads_focus: focus reports count; where
    they do not, the idle timer stands in for them.
    trusts_focus: the client says that it reports focus, so that silence means that the person is there.
    during_active: draft also while the agent works. explain: tell why nothing was drafted.
    """

    auto: bool = True
    can_show: bool = True
    away_ms: int = 90_000
    idle_ms: int = 120_000
    reads_focus: bool = True
    trusts_focus: bool = False
    during_active: bool = False
    explain: bool = False


def policy_of(settings: RecapSettings, capability: RecapCapability | None) -> Policy:
    """The policy of these settings with a client that declared this."""
    defaults = RecapSettings()
    reporting = capability and capability.focus_reporting
    return Policy(
        auto=settings.auto,
        can_show=capability is not None and capability.can_show,
        away_ms=duration_ms(settings.away_seconds, defaults.away_seconds),
        idle_ms=duration_ms(settings.idle_seconds, defaults.idle_seconds),
        reads_focus=settings.focus_reporting and reporting != "unsupported",
        trusts_focus=reporting == "supported",
        during_active=settings.during_active,
        explain=settings.explain,
    )


def duration_ms(seconds: float, default: float) -> int:
    """A timer's length: never so short that it fires at once, and the default for what is no length of time."""
    if not math.isfinite(seconds) or not 0 <= seconds <= LONGEST_SECONDS:
        seconds = default
    return round(max(seconds, SHORTEST_SECONDS) * 1000)
