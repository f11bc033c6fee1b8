"""Whether a model's reply is a summary at all, and what of it is (condense.md, 'Checking a reply')."""

import re

from afterturn.condense.refusals import refuses, says_nothing
from afterturn.replies import unfenced, without_thinking
from afterturn.text import cut

MAX_REPLY_CHARS = 64_000
MAX_LINE_CHARS = 4_000

_LABEL_LIKE = re.compile(r"\[\[[0-9]+:")
# What leads a bullet: blanks, list mark, number, label.
_LEAD = re.compile(r"[\s>*+\u2022-]*(?:[0-9]{1,3}[.)]\s+)?(?:\[\[[0-9]+:[^\]\n]*\]\]\s*)*")
_ERROR = re.compile(
    r"[\s\"'\[(]*(?:\{\s*\"error\""
    r"|(?:api |http |internal |server |provider |request |model |fatal |stream )*error\b\s*[:(\d\n]"
    r"|traceback \(most recent|internal server error|service unavailable|bad gateway|too many requests|rate limit"
    r"|overloaded|context length exceeded|request timed out|upstream )",
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
    if stop_reason != "stop":
        raise UnusableReplyError("cut" if stop_reason == "length" else "error")
    body = unfenced(without_thinking(text[:MAX_REPLY_CHARS])).strip("\n").rstrip()
    said = [_LEAD.sub("", line, count=1) for line in body.split("\n")]
    said = [line for line in said if not says_nothing(line)]
    if not said:
        raise UnusableReplyError("empty")
    labelled = _LABEL_LIKE.search(body) is not None
    if not labelled and _ERROR.match(body):
        raise UnusableReplyError("error")
    if all(refuses(line) and not _LABEL_LIKE.search(line) for line in (said if labelled else said[:1])):
        raise UnusableReplyError("refusal")
    return "\n".join(cut(line, MAX_LINE_CHARS) for line in body.split("\n"))
