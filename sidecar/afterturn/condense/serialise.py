"""Calls as the summariser sees them (seed per-bullet-summary-refs, touch point 1; condense.md, 'What the summariser
is given'). Everything that comes in here is redacted already; lengths are chars.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from afterturn.condense.labels import label
from afterturn.text import cut

MAX_RESULT = 2000
MAX_ARGS = 1000
MAX_REQUEST = 2000
MAX_PROSE = 2000
MAX_PROMPT_TOKENS = 24_000
CHARS_PER_TOKEN = 4

Salient = Callable[[str, int], str]
"""Cuts a text to a budget in chars, keeping head, tail and the lines that matter."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_STATUS_WORDS = {"error": "ERROR", "denied": "DENIED", "notRun": "NOT RUN"}
_REPLY_BASE = 1024
_REPLY_PER_CALL = 192
_REPLY_MOST = 8192


class PromptedCall(Struct, frozen=True):
    """One call, cut to what is really prompted; a reply is checked against exactly this.

    number: of its label, from 1. args: JSON text. outcome: "ok", "error", "denied", "notRun" or the host's own.
    """

    number: int
    tool_name: str
    args: str
    text: str
    outcome: str


def prompted_call(number: int, tool_name: str, args: str, text: str, outcome: str, salient: Salient) -> PromptedCall:
    """Cut a call's args and result to their caps."""
    sampled = text if len(text) <= MAX_RESULT else salient(text, MAX_RESULT)
    return PromptedCall(number, tool_name, sendable(_capped(args, MAX_ARGS)), sendable(sampled), outcome)


def record(call: PromptedCall) -> str:
    """A call in serialised form: label, tool, args, outcome, result."""
    status = _STATUS_WORDS.get(call.outcome, "OK")
    name = sendable(call.tool_name.replace("\n", " "))
    lead = sendable(label(call.number, call.tool_name))
    return f"{lead} Tool: {name}({call.args})\nResult ({status}): {call.text}"


def split_records(records: Sequence[str], context_chars: int) -> list[list[str]]:
    """Delimited records in as few prompts as the cap allows, in order; each prompt holds at least one.

    context_chars: what every prompt holds beside its records and the line break before each.
    """
    room = max(MAX_PROMPT_TOKENS * CHARS_PER_TOKEN - context_chars, 0)
    parts: list[list[str]] = []
    used = 0
    for text in records:
        if parts and used + len(text) + 1 <= room:
            parts[-1].append(text)
            used += len(text) + 1
        else:
            parts.append([text])
            used = len(text) + 1
    return parts


def reply_tokens(calls: int, attempt: int) -> int:
    """The reply's cap in tokens; a later attempt (from 1) gets more, since a cut reply is a failure."""
    return min((_REPLY_BASE + _REPLY_PER_CALL * calls) * attempt, _REPLY_MOST)


def capped_request(text: str | None) -> str:
    """The user's request, cut for the prompt."""
    return sendable(_capped((text or "").strip(), MAX_REQUEST))


def capped_prose(text: str | None) -> str:
    """The assistant's own words, cut for the prompt."""
    return sendable(_capped((text or "").strip(), MAX_PROSE))


def sendable(text: str) -> str:
    """`text` without lone surrogates, which no provider's transport can carry."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _capped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    marker = f" ...[{len(text) - limit} chars left out]"
    return cut(text, limit + len(marker), marker)
