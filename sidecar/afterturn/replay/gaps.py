"""When a person was away: the pauses between what the agent did last and the next request (recap.md)."""

from afterturn.replay.stream import Turn


def asked_at(turn: Turn) -> int | None:
    """When the turn's request was made, epoch ms: the user's time, else the reply's; None where neither is known."""
    return turn.user_timestamp or turn.timestamp or None


def last_sign(turn: Turn) -> int | None:
    """When the turn was over, epoch ms: the latest time in it; None where it has none."""
    times = [turn.user_timestamp or 0, turn.timestamp, *(call.result_timestamp or 0 for call in turn.calls)]
    return max(times) or None


def absence(before: int | None, after: int | None, away_seconds: float) -> int | None:
    """How long the person was away, in ms, where that is longer than `away_seconds`; else None.

    before: the agent's last sign, after: the next request, both epoch ms.
    """
    if before is None or after is None or after - before <= away_seconds * 1000:
        return None
    return after - before
