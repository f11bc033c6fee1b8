"""Tokens and money of one call, as far as they are really known (case D04): unknown is None, never 0."""

from typing import Any

from msgspec import Struct


class Spent(Struct, frozen=True):
    """Tokens, and US dollars."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None


NOTHING_KNOWN = Spent()


def spent(litellm: Any, model: str, usage: Any) -> Spent:
    """What `usage`, litellm's object of that name or None, says. A field that cannot be true counts as missing.

    With its token counter off litellm puts 0 where the provider said nothing, and no prompt has 0 tokens.
    """
    sent = _tokens(getattr(usage, "prompt_tokens", None)) or None
    received = _tokens(getattr(usage, "completion_tokens", None)) or None
    cached = _tokens(getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None))
    if sent is None or (cached is not None and cached > sent):
        cached = None
    return Spent(sent, received, cached, _cost(litellm, model, usage, sent, received))


def spent_on_vectors(litellm: Any, model: str, usage: Any) -> Spent:
    """The same of an embedding, for which nothing is written."""
    sent = _tokens(getattr(usage, "prompt_tokens", None)) or None
    return Spent(input_tokens=sent, cost=_cost(litellm, model, usage, sent, 0))


def _tokens(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        return None
    return value


def _cost(litellm: Any, model: str, usage: Any, sent: int | None, received: int | None) -> float | None:
    if sent is None or received is None:
        return None
    try:
        parts = litellm.cost_per_token(model=model, prompt_tokens=sent, completion_tokens=received, usage_object=usage)
        cost = float(sum(parts))
    except Exception:  # litellm has no one class for "no price is known"
        return None
    return cost if 0 < cost < 1e6 else None
