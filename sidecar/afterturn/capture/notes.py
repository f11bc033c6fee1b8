"""Warnings of one capture: what went less well, each kind once with its count (capture.md, 'Input', 'Reflection')."""

from collections.abc import Iterable
from typing import Any

from afterturn_protocol.capture import CaptureWarning

_PLAIN = {
    "content_null": "turns without content were taken as empty",
    "role_unknown": "turns with a role that is not known were ignored",
    "time_missing": "turns without a time took that of the turn before them",
    "tool_name_missing": "tool calls without a name are kept as unknown_tool",
    "unanswered_turn": "user turns at the end got no answer and make no step",
    "injected": "texts that the host or this program put in were left out",
    "empty_step": "steps without any content were left out",
    "repeated_step": "steps that repeat the step before them were left out",
    "ungrounded": "reflections named what the episode does not hold, and were dropped",
    "embedding_failed": "traces have no vectors yet; they are made later",
}
_STAGES = {
    "reflect": "reflections could not be written",
    "alpha": "reflections keep a neutral weight",
    "batch": "steps are not scored with one call",
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
    return f"{count} {_PLAIN[code]}" if code in _PLAIN else f"{count} {_STAGES[stage]}: {_MODEL[code]}"


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
