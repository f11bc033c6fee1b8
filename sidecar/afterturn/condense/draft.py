"""From the calls of a batch to its bullets and its result. Pure; every text is redacted here, once."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from afterturn.condense.bullets import Bullet, extractive_bullets, texts_by_call, written
from afterturn.condense.calls import Call, redacted_args
from afterturn.condense.footer import footer
from afterturn.condense.gates import is_oversized
from afterturn.condense.images import told_images
from afterturn.condense.labels import substitute_inline_refs
from afterturn.condense.ports import Redactor
from afterturn.condense.refs import short_id
from afterturn.condense.replacements import digest_replacement, shorter
from afterturn.condense.results import warning
from afterturn.condense.serialise import PromptedCall, capped_prose, capped_request, prompted_call
from afterturn.condense.standing import Standing, items, left
from afterturn_protocol.base import Usage
from afterturn_protocol.condense import CondenseResult, CondenseWarning
from afterturn_protocol.refs import Ref
from afterturn_protocol.settings import CondenseSettings

_LATER_CALLS = 20
_LATER_CHARS = 2000


class SafeCall(Struct, frozen=True):
    """A call without its secrets. args: any JSON; args_text: the same as text. images: what is said of them, or ""."""

    tool_name: str
    args: Any
    args_text: str
    text: str
    outcome: str
    images: str


class Material:
    """What is summarised: the calls without their secrets, and their extractive lines. Each made when asked for, once.

    Redacting and extracting are heavy for a large batch; whoever asks first does it beside the event loop.
    """

    def __init__(self, calls: Sequence[Call], redact: Redactor) -> None:
        self._calls = calls
        self._redact = redact
        self._lines: dict[int, list[str]] = {}
        self._counts: dict[str, int] = {}

    @cached_property
    def safe(self) -> list[SafeCall]:
        """The calls, redacted, in label order."""
        return [self._safe(call, name) for call, name in zip(self._calls, self.names, strict=True)]

    @cached_property
    def names(self) -> list[str]:
        """Their tools, redacted, in label order: the only names that labels, prompts and bullets know."""
        names = [call.tool_name for call in self._calls]
        safe = {name: self.hide(name) for name in dict.fromkeys(names)}
        return [safe[name] for name in names]

    def _safe(self, call: Call, name: str) -> SafeCall:
        args = redacted_args(call.args, self.hide)
        images = self.hide(told_images(call.images)) if call.images is not None else ""
        return SafeCall(name, json.loads(args), args, self.hide(call.text), call.outcome, images)

    def hide(self, text: str) -> str:
        """A text without its secrets, which are counted."""
        safe, counts = self._redact(text)
        for name, count in counts.items():
            self._counts[name] = self._counts.get(name, 0) + count
        return safe

    def context(self, request: str | None, prose: str | None) -> tuple[str, str]:
        """The user's request and the assistant's prose, redacted and cut for a prompt."""
        return capped_request(self.hide(request or "")), capped_prose(self.hide(prose or ""))

    def lines(self, position: int) -> list[str]:
        """One to three extractive lines about the call at `position`."""
        found = self._lines.get(position)
        if found is None:
            # The extractors take milliseconds to load, and refs resolve without them.
            from afterturn.condense.extract import ToolView, bullets

            call = self.safe[position]
            error = call.outcome == "error"
            view = ToolView(call.tool_name, call.args, call.text, error, call.outcome, call.images)
            later = self._words[position + 1 : position + 1 + _LATER_CALLS]
            found = self._lines[position] = bullets(view, wanted=frozenset[str]().union(*later))
        return found

    def bullets(self) -> list[Bullet]:
        """The extractive bullets of every call, in order."""
        positions = range(len(self._calls))
        return [bullet for position in positions for bullet in extractive_bullets(position, self.lines(position))]

    def prompted(self) -> list[PromptedCall]:
        """The calls as a model is shown them, numbered from 1."""
        from afterturn.condense.extract import salient

        return [
            _with_images(
                prompted_call(number, call.tool_name, _readable(call.args), call.text, call.outcome, salient),
                call.images,
            )
            for number, call in enumerate(self.safe, 1)
        ]

    def warnings(self) -> list[CondenseWarning]:
        """How many secrets were replaced so far, if any."""
        if not self._counts:
            return []
        listed = ", ".join(f"{name} {count}" for name, count in sorted(self._counts.items()))
        return [warning("redact", f"secrets were left out of summary and prompt: {listed}")]

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        """What the arguments of each call name."""
        from afterturn.condense.extract import words_of

        return [words_of(call.args_text[:_LATER_CHARS]) for call in self.safe]


class Draft(Struct, frozen=True):
    """A summary before its refs. bullets: a model's; None for the extractive ones."""

    bullets: Sequence[Bullet] | None
    usage: Usage | None
    warnings: Sequence[CondenseWarning]


def drafted_result(
    batch_id: str,
    standings: Sequence[Standing],
    draft: Draft,
    material: Material,
    given: Mapping[int, str],
    recovered: Mapping[int, str],
    settings: CondenseSettings,
) -> tuple[CondenseResult, dict[int, str]]:
    """The result of a batch, and its replacements by ref.

    given: replacements that stand already, by ref: earlier ones of the calls, and pointers of duplicates.
    """
    rows = left(standings)
    refs = [short_id(row.placed.ref) for row in rows if row.placed is not None]
    names = material.names
    chosen = material.bullets() if draft.bullets is None else draft.bullets
    body = substitute_inline_refs(written(chosen, names), refs, names)
    summary = body + footer(refs, settings.recovery_tool_name)
    replacements = dict(given)
    kept: list[tuple[int, int | None]] = []
    texts = texts_by_call(chosen)
    for position, row in enumerate(rows):
        ref = row.placed.ref if row.placed is not None else 0
        text = replacements.get(ref)
        if text is None:
            lines = texts.get(position) or material.lines(position)
            made = digest_replacement(lines, short_id(ref), settings.recovery_tool_name)
            text = shorter(made, len(row.call.text))
            if text is not None:
                replacements[ref] = text
        kept.append((len(row.call.text), None if text is None else len(text)))
    raw_chars = sum(chars for chars, _ in kept)
    if is_oversized(len(summary), kept):
        shown = items(standings, given, recovered, summarized=False)
        return _result(batch_id, "oversized", None, (), shown, raw_chars, draft, material), dict(given)
    shown = items(standings, replacements, recovered, summarized=True)
    summarised = [
        Ref(short_id=ref, tool_call_id=row.call.tool_call_id, result_timestamp=row.call.result_timestamp)
        for ref, row in zip(refs, rows, strict=True)
    ]
    return _result(batch_id, None, summary, summarised, shown, raw_chars, draft, material), replacements


def _result(
    batch_id: str,
    reason: str | None,
    summary: str | None,
    refs: Sequence[Ref],
    shown: Sequence[Any],
    raw_chars: int,
    draft: Draft,
    material: Material,
) -> CondenseResult:
    return CondenseResult(
        outcome="skipped" if reason else "summarized",
        reason=reason,
        batch_id=batch_id,
        summary_text=summary,
        refs=list(refs),
        items=list(shown),
        source="none" if reason else "extractive" if draft.bullets is None else "model",
        raw_chars=raw_chars,
        summary_chars=len(summary or ""),
        usage=draft.usage,
        warnings=[*material.warnings(), *draft.warnings],
    )


def _with_images(call: PromptedCall, images: str) -> PromptedCall:
    """A call that also says which images its result holds, behind the cut text, so that they are told in any case."""
    return replace(call, text="\n".join(filter(None, (call.text, images)))) if images else call


def _readable(args: Any) -> str:
    return json.dumps(args, ensure_ascii=False, separators=(",", ":"))
