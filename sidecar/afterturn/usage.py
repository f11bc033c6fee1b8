"""Adding up what model calls cost (protocol.md, 'Shared shapes')."""

from afterturn_protocol.base import Usage

DAY_MS = 86_400_000
"""Days are days in UTC."""

NO_USE = Usage(model="*", input_tokens=0, output_tokens=0, cost=0.0, calls=0)
"""The sum of no calls."""

UNKNOWN_USE = Usage(model="*", input_tokens=None, output_tokens=None, cost=None, calls=0)
"""What is said where the store cannot be read."""


def unknown_use(model: str) -> Usage:
    """One call of which nothing is known but that it was made."""
    return Usage(model=model, input_tokens=None, output_tokens=None, cost=None, calls=1)


def added(total: Usage | None, more: Usage | None) -> Usage | None:
    """The sum of two usages; what is unknown in one is unknown in the sum."""
    if total is None or more is None:
        return total or more
    return Usage(
        model=total.model if total.model == more.model else "*",
        input_tokens=_sum(total.input_tokens, more.input_tokens),
        output_tokens=_sum(total.output_tokens, more.output_tokens),
        cached_tokens=_sum(total.cached_tokens, more.cached_tokens),
        cost=None if total.cost is None or more.cost is None else total.cost + more.cost,
        calls=total.calls + more.calls,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
