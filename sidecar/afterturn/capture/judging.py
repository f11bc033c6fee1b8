"""The reflection of a step as it is decided: what each outcome gives (seed core-capture, sections 5 and 6)."""

from afterturn.capture.steps import Step
from afterturn_protocol.traces import Reflection

NEUTRAL = 0.5
SCORING_PROMPTS = ("reflection-score-", "reflection-batch-")


def nothing(reason: str | None = None, *, model: str | None = None, version: str | None = None) -> Reflection:
    """No reflection. reason, model, version: where a model was asked for one."""
    return Reflection(
        text=None, alpha=0.0, usable=False, reason=reason, source="none", model=model, prompt_version=version
    )


def unscored(text: str, source: str, *, model: str | None = None, version: str | None = None) -> Reflection:
    """A reflection that no model has weighed: neutral."""
    return Reflection(text=text, alpha=NEUTRAL, usable=True, source=source, model=model, prompt_version=version)


def given(step: Step, found: str | None) -> Reflection:
    """What a step brings itself: the host's reflection, else the one found in its text, else none."""
    if step.given is not None:
        return unscored(step.given, "adapter")
    return unscored(found, "extracted") if found else nothing()


def is_scored(reflection: Reflection) -> bool:
    """Whether a model has weighed it."""
    return reflection.text is not None and (reflection.prompt_version or "").startswith(SCORING_PROMPTS)


def is_settled(reflection: Reflection, *, write: bool, score: bool) -> bool:
    """Whether nothing is left to ask a model, with the switches as they are."""
    if reflection.text is None:
        return not write or reflection.prompt_version is not None
    return not score or is_scored(reflection)
