"""A session's context as one bounded prompt, and all that is known without asking a model (recap.md, 'Input').

The prompt is one user message: roles and tool calls in their native form would need the tools themselves.
"""

from collections.abc import Sequence

from afterturn.completion import PromptMessage
from afterturn.marks import unforgeable_mark
from afterturn.prompts import recap as words
from afterturn.recap.evidence import Evidence, deeds_of
from afterturn.recap.facts import facts_text
from afterturn.recap.gate import has_activity
from afterturn.recap.input import RecapInput as RecapInput
from afterturn.recap.material import Unit, content_hash, units_of
from afterturn.recap.requests import is_genuine
from afterturn.recap.steps import Step, steps_of
from afterturn.recap.truncating import Redact
from afterturn.recap.window import text_of, window
from afterturn_protocol.context import RecapContext
from afterturn_protocol.settings import RecapSettings

_MARK_CHARS = 16
# Less room than this holds no session; the hash stands for as much all the same.
_MIN_ROOM = 2000
_MAX_EVIDENCE = 300
_PROSPECT_CHARS = 6000
_SUMMARIES = ("compaction", "branchSummary")
_ASKED = ("user", "first request", "latest request")


def build_input(
    context: RecapContext, settings: RecapSettings, redact: Redact, away_since_ms: int | None
) -> RecapInput:
    """Everything about a recap of this context.

    redact: takes secrets out of a text. away_since_ms: when the person left, epoch ms; None if that is not known.
    Pure; tens of ms for long contexts, so it belongs in a worker thread.
    """
    messages = context.messages
    shown = window(messages)
    first = _first_request(context)
    summary = _summary(context)
    if not shown and not first.strip() and not summary.strip():
        return empty_input()
    room = settings.max_prompt_chars - len(words.prompt("0" * _MARK_CHARS, ""))
    units = units_of(messages, shown, first, summary, max(room, _MIN_ROOM), redact)
    # Also of steps before the window: what they show is true all the same.
    evidence = _evidence(units, steps_of(messages, most=_MAX_EVIDENCE))
    facts = facts_text(messages, first or summary, away_since_ms, evidence, redact, settings.max_chars)
    return RecapInput(
        messages=_prompt(units, settings.max_prompt_chars),
        context_hash=content_hash(units),
        empty=False,
        gate=has_activity(messages),
        facts=facts or None,
        evidence=evidence,
    )


def empty_input() -> RecapInput:
    """For a session of which nothing is known."""
    return RecapInput(
        messages=(), context_hash=content_hash([]), empty=True, gate=False, facts=None, evidence=Evidence("", "", ())
    )


def _first_request(context: RecapContext) -> str:
    if context.first_user_request is not None:
        return context.first_user_request
    return next((text_of(message) for message in context.messages if is_genuine(message)), "")


def _summary(context: RecapContext) -> str:
    if context.summary is not None:
        return context.summary.text
    found = [message for message in context.messages if message.kind in _SUMMARIES and not message.omitted]
    # A host may keep an old one behind the active one; where times are known, they decide.
    dated = [message.timestamp or 0 for message in found]
    return text_of(found[max(range(len(found)), key=lambda at: (dated[at], at))]) if found else ""


def _evidence(units: Sequence[Unit], steps: Sequence[Step]) -> Evidence:
    source = "\n".join(unit.text for unit in units)
    prospects = "\n".join(unit.text[-_PROSPECT_CHARS:] for unit in units if unit.prospect)
    asked = "\n".join(unit.text for unit in units if unit.kind in _ASKED)
    return Evidence(source, prospects, deeds_of(steps), asked)


def _prompt(units: Sequence[Unit], limit: int) -> tuple[PromptMessage, ...]:
    """The prompt, or nothing where `limit` holds none."""
    if not units:
        return ()
    mark = unforgeable_mark([unit.text for unit in units])
    text = words.prompt(mark, "\n\n".join(words.entry(mark, unit.kind, unit.text) for unit in units))
    return (PromptMessage("user", text),) if len(text) <= limit else ()
