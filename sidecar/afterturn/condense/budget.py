"""When a full context starts condensing (condense.md, 'When to condense')."""

WINDOW_CAP = 300_000
"""Tokens; a larger window counts as this, because fractions of a million are reached too late."""


# 0.35 - 0.1 is a little less than 0.25, and must not count as less.
_ROUNDING = 1e-9


def fraction_used(tokens: int | None, window: int | None) -> float | None:
    """Tokens in use as a part of the window; may be over 1. None where either is unknown."""
    if tokens is None or not window:
        return None
    return tokens / min(window, WINDOW_CAP)


def over_threshold(tokens: int | None, window: int | None, threshold: float | None) -> bool:
    """Whether the level trigger (`autoBudgetThreshold`) fires."""
    if threshold is None or tokens is None or not window:
        return False
    return tokens >= min(WINDOW_CAP, threshold * window) - _ROUNDING


def grew_by(fraction: float | None, baseline: float | None, delta: float | None) -> bool:
    """Whether the growth trigger (`budgetTurnDelta`) fires: this much more than at the last turn that was known."""
    if delta is None or fraction is None or baseline is None:
        return False
    return fraction - baseline >= delta - _ROUNDING


def trigger(
    tokens: int | None,
    window: int | None,
    baseline: float | None,
    threshold: float | None,
    delta: float | None,
) -> str | None:
    """ "budget", "delta" or None: what the context's size asks for at this turn end."""
    if over_threshold(tokens, window, threshold):
        return "budget"
    return "delta" if grew_by(fraction_used(tokens, window), baseline, delta) else None


def next_baseline(fraction: float | None, baseline: float | None) -> float | None:
    """The baseline for the next turn; an unknown fraction does not move it."""
    return baseline if fraction is None else fraction
