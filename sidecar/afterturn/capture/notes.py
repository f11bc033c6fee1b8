"""Warnings of one capture: what went less well, each kind once with its count (capture.md, 'Input', 'Reflection')."""

from collections.abc import Iterable
from typing import Any

from afterturn_protocol.capture import CaptureWarning

_PLAIN = {
    "content_null": "turn{s} without content {was} taken as empty",
    "role_unknown": "turn{s} with a role that is not known {was} ignored",
    "time_missing": "turn{s} without a time took that of the turn before",
    "tool_name_missing": "tool call{s} without a name {is} kept as unknown_tool",
    "unanswered_turn": "user turn{s} at the end got no answer and made no step",
    "injected": "text{s} that the host or this program put in {was} left out",
    "empty_step": "step{s} without any content {was} left out",
    "repeated_step": "step{s} like the step before {was} left out",
    "ungrounded": "reflection{s} named what the episode does not hold, and {was} dropped",
    "embedding_failed": "trace{s} without vectors for now; they are made later",
}
_STAGES = {
    "reflect": "reflection{s} could not be written",
    "alpha": "reflection{s} kept a neutral weight",
    "batch": "step{s} {was} not scored with one call",
}
_MODEL = {
    "llm_unavailable": "no model answered",
    "llm_timeout": "no model answered in time",
    "llm_output_malformed": "the answer could not be used",
    "llm_budget_exceeded": "the budget is used up",
    "llm_call_limit": "the limit of calls for one episode is reached",
}
EMPTY = "empty_episode"


def _message(stage: str, code: str, count: int) -> str:
    if code == EMPTY:
        return "the episode holds nothing to capture"
    said = _PLAIN[code] if code in _PLAIN else f"{_STAGES[stage]}: {_MODEL[code]}"
    forms = {"s": "", "was": "was", "is": "is"} if count == 1 else {"s": "s", "was": "were", "is": "are"}
    return f"{count} {said.format(**forms)}"


class Notes:
    """Collects warnings. The same kind of trouble is one warning, however often it comes."""

    __slots__ = ("_details", "_found")

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], int] = {}
        self._details: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, stage: str, code: str, count: int = 1, *, step: int | None = None, why: str | None = None) -> None:
        """Note `count` cases of a kind. step: index of the step it concerns; why: the first reason is kept."""
        if not count:
            return
        key = (stage, code)
        self._found[key] = self._found.get(key, 0) + count
        detail = self._details.setdefault(key, {})
        if step is not None:
            detail.setdefault("steps", []).append(step)
        if why is not None:
            detail.setdefault("reason", why)

    def warnings(self) -> list[CaptureWarning]:
        """All of them, in the order in which each kind was first seen."""
        return [
            CaptureWarning(
                stage=stage,
                code=code,
                message=_message(stage, code, count),
                detail={"count": count, **self._ordered(stage, code)},
            )
            for (stage, code), count in self._found.items()
        ]

    def _ordered(self, stage: str, code: str) -> dict[str, Any]:
        detail = self._details[stage, code]
        return {**detail, "steps": sorted(detail["steps"])} if "steps" in detail else detail


def joined(texts: Iterable[str | None], between: str = "\n\n") -> str:
    """The texts that hold anything, trimmed, with `between` in between."""
    return between.join([trimmed for text in texts if text and (trimmed := text.strip())])
