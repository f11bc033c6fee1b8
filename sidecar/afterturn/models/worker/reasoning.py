"""How a model is told not to reason, in litellm's one word for it, `reasoning_effort`."""

from collections.abc import Mapping
from typing import Any


def effort_for_none(provider: str, model: str, known: Mapping[str, Any]) -> str | None:
    """The least effort that the model's API accepts; None where nothing is to be said, which is off for most.

    provider, model: as litellm splits them. known: what litellm's table says of the model, empty if nothing.
    A word that an API does not know is an error that no repeat heals, so it is said only where it is known.
    """
    if not known.get("supports_reasoning"):
        return None
    if known.get("supports_none_reasoning_effort"):
        return "none"
    if provider == "anthropic":
        return "none"  # litellm leaves it out, or says "disabled" to the models that think unasked
    if provider in ("gemini", "vertex_ai") and "gemini" in model:
        return "minimal" if "2.5-pro" in model else "none"  # 2.5 Pro refuses a budget of 0
    if known.get("supports_minimal_reasoning_effort"):
        return "minimal"
    if provider in ("openai", "azure") and known.get("supports_low_reasoning_effort") is not False:
        return "low"
    return None
