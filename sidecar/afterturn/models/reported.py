"""Usage as a provider reports it, read tolerantly: a figure that makes no sense is unknown, and costs no reply."""

from collections.abc import Mapping
from typing import Any, cast

from afterturn_protocol.base import Usage

_MOST_COUNT = 10**9
_MOST_COST = 10.0**6
MAX_MODEL_CHARS = 200


def usage_of(model: str, reported: Any) -> Usage:
    """The report in our terms. model: who answered, where the report does not say so.

    reported: an object with the fields of `SamplingUsage` in camelCase; anything else says nothing.
    """
    said: Mapping[str, Any] = cast("Mapping[str, Any]", reported) if isinstance(reported, dict) else {}
    named = said.get("model")
    calls = count_of(said.get("calls"))
    return Usage(
        model=(named if isinstance(named, str) and named else model)[:MAX_MODEL_CHARS],
        input_tokens=count_of(said.get("inputTokens")),
        output_tokens=count_of(said.get("outputTokens")),
        cached_tokens=count_of(said.get("cachedTokens")),
        cost=cost_of(said.get("cost")),
        calls=1 if calls is None else calls,
    )


def count_of(value: Any) -> int | None:
    """A whole number from 0 to a thousand million, also written as 12.0; else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_COUNT else None


def cost_of(value: Any) -> float | None:
    """A number from 0 to a million; else None."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        cost = float(value)
    except OverflowError:
        return None
    return cost if 0 <= cost <= _MOST_COST else None
