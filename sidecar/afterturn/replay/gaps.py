"""When a person was away: the pauses between what the agent did last and the next request (recap.md)."""

from afterturn.replay.stream import Turn


def asked_at(turn: Turn) -> int | None:
    """When the turn's request was made, epoch ms: the user's time, else the reply's; None where neither is known."""
    return turn.user_timestamp or turn.timestamp or None


def signs(turn: Turn) -> list[int]:
    """All times in a turn that are known, epoch ms."""
    times = (turn.user_timestamp, turn.timestamp, *(call.result_timestamp for call in turn.calls))
    return [time for time in times if time]


def last_sign(turn: Turn) -> int | None:
    """When the turn was over, epoch ms: the latest time in it; None where it has none."""
    return max(signs(turn), default=None)


def absence(before: int | None, after: int | None, away_ms: int) -> int | None:
    """How long the person was away, in ms, where that is longer than `away_ms`; else None.

    before: the agent's last sign, after: the next request, both epoch ms.
    """
    if before is None or after is None or after - before <= away_ms:
        return None
    return after - before
