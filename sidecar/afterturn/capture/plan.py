"""Which model calls an episode needs (seed core-capture, section 6a; capture.md, 'Reflection, α, batch')."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from afterturn_protocol.settings import CaptureSettings


class Plan(Struct, frozen=True):
    """What is asked of a model. most_calls: the most logical calls that can come of it, a refused batch included."""

    mode: Literal["none", "batch", "per_step"]
    most_calls: int


def made_plan(has_reflection: Sequence[bool], settings: CaptureSettings, *, can_ask: bool) -> Plan:
    """The plan for the steps that are still to be scored, of which some have a reflection."""
    with_text = sum(has_reflection)
    without = len(has_reflection) - with_text
    to_write = without if settings.synth_reflections else 0
    to_score = with_text + to_write if settings.alpha_scoring else 0
    if not can_ask or not to_write + to_score:
        return Plan("none", 0)
    one_by_one = to_write + to_score
    if not settings.max_llm_calls_per_episode:
        return Plan("per_step", 0)  # so that a warning says of which steps nothing is asked
    if settings.batch_mode == "per_episode":
        return _limited("batch", one_by_one + 1, settings)
    if settings.batch_mode == "auto" and len(has_reflection) <= settings.batch_threshold:
        return _limited("batch", one_by_one + 1, settings)
    return _limited("per_step", one_by_one, settings)


def _limited(mode: Literal["batch", "per_step"], calls: int, settings: CaptureSettings) -> Plan:
    return Plan(mode, min(calls, settings.max_llm_calls_per_episode))
