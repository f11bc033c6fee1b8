"""From the calls of a batch to its bullets and its result. Pure; every text is redacted here, once."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from afterturn.condense.bullets import Bullet, extractive_bullets, texts_of, written
from afterturn.condense.calls import Call, redacted_args
from afterturn.condense.extract import ToolView, bullets, salient
from afterturn.condense.footer import footer
from afterturn.condense.gates import is_oversized
from afterturn.condense.identity import json_text
from afterturn.condense.labels import substitute_inline_refs
from afterturn.condense.refs import short_id
from afterturn.condense.replacements import digest_replacement, shorter
from afterturn.condense.serialise import PromptedCall, prompted_call
from afterturn.condense.standing import Standing, items, left
from afterturn_protocol.base import Usage
from afterturn_protocol.condense import CondenseResult, CondenseWarning, Ref
from afterturn_protocol.settings import CondenseSettings

_LATER_CALLS = 20
_LATER_CHARS = 2000


class SafeCall(Struct, frozen=True):
    """A call without its secrets. args: any JSON."""

    tool_name: str
    args: Any
    text: str
    outcome: str


class Extractive:
    """The extractive lines of the calls of a batch, made when asked for, once."""

    __slots__ = ("_calls", "_later", "_lines")

    def __init__(self, calls: Sequence[SafeCall]) -> None:
        self._calls = calls
        self._lines: dict[int, list[str]] = {}
        self._later: list[str] | None = None

    def __call__(self, position: int) -> list[str]:
        """One to three lines about the call at `position`."""
        lines = self._lines.get(position)
        if lines is None:
            lines = self._lines[position] = self._made(position)
        return lines

    def all(self) -> list[Bullet]:
        """The bullets of every call, in order."""
        return [
            bullet for position in range(len(self._calls)) for bullet in extractive_bullets(position, self(position))
        ]

    def _made(self, position: int) -> list[str]:
        if self._later is None:
            self._later = [json_text(call.args)[:_LATER_CHARS] for call in self._calls]
        call = self._calls[position]
        view = ToolView(call.tool_name, call.args, call.text, call.outcome == "error", call.outcome)
        return bullets(view, later=self._later[position + 1 : position + 1 + _LATER_CALLS])


class Draft(Struct, frozen=True):
    """A summary before its refs. source: "model" or "extractive"."""

    bullets: Sequence[Bullet]
    source: str
    usage: Usage | None
    warnings: Sequence[CondenseWarning]


def safe_calls(calls: Sequence[Call], hide: Callable[[str], str]) -> list[SafeCall]:
    """The calls with their args and results redacted."""
    return [SafeCall(call.tool_name, redacted_args(call.args, hide), hide(call.text), call.outcome) for call in calls]


def prompted_calls(calls: Sequence[SafeCall]) -> list[PromptedCall]:
    """The calls as a model is shown them, numbered from 1."""
    return [
        prompted_call(number, call.tool_name, _readable(call.args), call.text, call.outcome, salient)
        for number, call in enumerate(calls, 1)
    ]


def drafted_result(
    batch_id: str,
    standings: Sequence[Standing],
    draft: Draft,
    extractive: Extractive,
    given: Mapping[int, str],
    recovered: Mapping[int, str],
    settings: CondenseSettings,
) -> tuple[CondenseResult, dict[int, str]]:
    """The result of a batch, and its replacements by ref.

    given: replacements that stand already, by ref: earlier ones of the calls, and pointers of duplicates.
    """
    rows = left(standings)
    refs = [short_id(row.placed.ref) for row in rows if row.placed is not None]
    names = [row.call.tool_name for row in rows]
    body = substitute_inline_refs(written(draft.bullets, names), refs, names)
    summary = body + footer(refs, settings.recovery_tool_name)
    replacements = dict(given)
    kept: list[tuple[int, int | None]] = []
    for position, row in enumerate(rows):
        ref = row.placed.ref if row.placed is not None else 0
        text = replacements.get(ref)
        if text is None:
            lines = texts_of(draft.bullets, position) or extractive(position)
            made = digest_replacement(lines, short_id(ref), settings.recovery_tool_name)
            text = shorter(made, len(row.call.text))
            if text is not None:
                replacements[ref] = text
        kept.append((len(row.call.text), None if text is None else len(text)))
    raw_chars = sum(chars for chars, _ in kept)
    if is_oversized(len(summary), kept):
        shown = items(standings, given, recovered, summarized=False)
        return _result(batch_id, "oversized", None, (), shown, raw_chars, draft), dict(given)
    shown = items(standings, replacements, recovered, summarized=True)
    summarised = [
        Ref(short_id=ref, tool_call_id=row.call.tool_call_id, result_timestamp=row.call.result_timestamp)
        for ref, row in zip(refs, rows, strict=True)
    ]
    return _result(batch_id, None, summary, summarised, shown, raw_chars, draft), replacements


def _result(
    batch_id: str,
    reason: str | None,
    summary: str | None,
    refs: Sequence[Ref],
    shown: Sequence[Any],
    raw_chars: int,
    draft: Draft,
) -> CondenseResult:
    return CondenseResult(
        outcome="skipped" if reason else "summarized",
        reason=reason,
        batch_id=batch_id,
        summary_text=summary,
        refs=list(refs),
        items=list(shown),
        source="none" if reason else draft.source,
        raw_chars=raw_chars,
        summary_chars=len(summary or ""),
        usage=draft.usage,
        warnings=list(draft.warnings),
    )


def _readable(args: Any) -> str:
    return json.dumps(args, ensure_ascii=False, separators=(",", ":"))
