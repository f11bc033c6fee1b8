"""Reading what a model thinks of a reflection: α, usable, reason (seed core-capture, section 6)."""

import math
from typing import Any, cast

from msgspec import Struct

from afterturn.replies import json_values, number, truth
from afterturn.text import cut, one_line
from afterturn_protocol.traces import Reflection

_MAX_REASON_CHARS = 300


class UnreadableReplyError(Exception):
    """A reply that cannot be used. problem: a phrase that says why, fit to be told to the model."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the model's reply cannot be used: {problem}")
        self.problem = problem


class Score(Struct, frozen=True):
    """A model's verdict. alpha: 0 to 1, and 0 unless usable."""

    alpha: float
    usable: bool
    reason: str | None


def objects(reply: str) -> list[dict[str, Any]]:
    """The JSON objects of a reply, the last first: models think aloud before they answer."""
    return [cast("dict[str, Any]", value) for value in reversed(json_values(reply)) if isinstance(value, dict)]


def read_score(reply: str) -> Score:
    """The verdict in a reply. Raises UnreadableReplyError."""
    problem = UnreadableReplyError("it holds no JSON object")
    for fields in objects(reply):
        try:
            return score_of({**fields, "usable": truth(fields.get("usable"))})
        except UnreadableReplyError as wrong:
            problem = wrong
    raise problem


def score_of(fields: dict[str, Any]) -> Score:
    """The verdict in the fields of a JSON object. Raises UnreadableReplyError."""
    alpha = number(fields.get("alpha"))
    if alpha is None:
        raise UnreadableReplyError("alpha is no number")
    usable = fields.get("usable")
    if not isinstance(usable, bool):
        raise UnreadableReplyError("usable is neither true nor false")
    reason = fields.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise UnreadableReplyError("reason is no string")
    shown = cut(one_line(reason), _MAX_REASON_CHARS) if reason else None
    return Score(clamped(alpha) if usable else 0.0, usable, shown or None)


def clamped(alpha: float) -> float:
    """α within 0 and 1; what is no finite number is 0."""
    return min(max(alpha, 0.0), 1.0) if math.isfinite(alpha) else 0.0


def weighed(reflection: Reflection, score: Score, *, model: str, version: str) -> Reflection:
    """A reflection with the weight that a model gave it."""
    return Reflection(
        text=reflection.text,
        alpha=score.alpha,
        usable=score.usable,
        reason=score.reason,
        source=reflection.source,
        model=model,
        prompt_version=version,
    )
