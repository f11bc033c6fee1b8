"""Whether a model's reply is a summary at all, and what of it is (condense.md, 'Checking a reply')."""

import re

from afterturn.condense.fences import fence_kind
from afterturn.text import cut

MAX_REPLY_CHARS = 64_000
MAX_LINE_CHARS = 4_000

# An opener counts only at a line start: elsewhere a bullet talks about the tag.
_THINKING_TAG = re.compile(
    r"^[ \t]*<(?:think|thinking|reasoning)>|(</(?:think|thinking|reasoning)>)([ \t]*$)?", re.MULTILINE | re.IGNORECASE
)
_TEXT_INFO = ("markdown", "md", "text", "txt")
_LABEL_LIKE = re.compile(r"\[\[[0-9]+:")
_ERROR = re.compile(
    r"[\s\"'\[(]*(?:\{\s*\"error\""
    r"|(?:api |http |internal |server |provider |request |model |fatal |stream )*error\b\s*[:(\d\n]"
    r"|traceback \(most recent|internal server error|service unavailable|bad gateway|too many requests|rate limit"
    r"|overloaded|context length exceeded|request timed out|upstream )",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"[\s\"'*]*(?:i(?:'|\u2019)?m (?:sorry|unable|not able)|i am (?:sorry|unable|not able)|sorry,|i apologi[sz]e"
    r"|i (?:can(?:no|')?t|can\u2019t|cannot|won(?:'|\u2019)t|will not|must decline)\b|unfortunately, i |as an ai\b"
    r"|i(?:'|\u2019)?d rather not)",
    re.IGNORECASE,
)


class UnusableReplyError(Exception):
    """A reply that is no summary. reason: "empty", "cut", "error", "refusal" or "unsupported"."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the model's reply is unusable: {reason}")
        self.reason = reason


def usable_reply(text: str, stop_reason: str) -> str:
    """The reply without thinking and without a fence around all of it; overlong lines are cut.

    Raises UnusableReplyError.
    """
    if stop_reason == "length":
        raise UnusableReplyError("cut")
    if stop_reason in ("error", "aborted"):
        raise UnusableReplyError("error")
    body = unfenced(without_thinking(text[:MAX_REPLY_CHARS])).strip("\n").rstrip()
    if not body.strip():
        raise UnusableReplyError("empty")
    if _LABEL_LIKE.search(body) is None:
        if _ERROR.match(body):
            raise UnusableReplyError("error")
        if _REFUSAL.match(body):
            raise UnusableReplyError("refusal")
    return "\n".join(cut(line, MAX_LINE_CHARS) for line in body.split("\n"))


def without_thinking(text: str) -> str:
    """`text` without thinking blocks; an unclosed one takes the rest, an unopened one what is before its end."""
    if "<" not in text:
        return text
    kept: list[str] = []
    at = 0
    thinking = False
    for tag in _THINKING_TAG.finditer(text):
        if tag[1] is None:
            if not thinking:
                kept.append(text[at : tag.start()])
            thinking = True
        elif thinking or tag[2] is not None:
            if not thinking:
                kept.clear()
            thinking = False
            at = tag.end()
    if not thinking:
        kept.append(text[at:])
    return "".join(kept)


def unfenced(text: str) -> str:
    """`text` without a code fence around the whole of it; fences inside show that it is none, unless it says so."""
    lines = text.strip().split("\n")
    kind = fence_kind(lines[0])
    if len(lines) < 2 or not kind or lines[-1].strip().strip(kind) or fence_kind(lines[-1]) != kind:
        return text
    inner = lines[1:-1]
    fences = sum(fence_kind(line) == kind for line in inner)
    if fences and (fences % 2 or lines[0].strip().strip(kind).lower() not in _TEXT_INFO):
        return text
    return "\n".join(inner)
