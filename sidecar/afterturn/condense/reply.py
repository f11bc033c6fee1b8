"""Whether a model's reply is a summary at all, and what of it is (condense.md, 'Checking a reply')."""

import re

from afterturn.replies import unfenced, without_thinking
from afterturn.text import cut

MAX_REPLY_CHARS = 64_000
MAX_LINE_CHARS = 4_000

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
