"""What condensing is compared with in the same run: the cheapest things that could stand in a result's place."""

import re
from collections.abc import Callable

from afterturn.replay.stream import Call

_ERROR = re.compile(r"error|exception|fail|fatal|not found|no such file", re.IGNORECASE)
_HALF = 95


def stub(call: Call) -> str:
    """No fact at all."""
    return f"[output of {call.tool_name} left out]"


def error_bullet(call: Call) -> str:
    """Only the first error line of a call that failed, 200 characters of it."""
    text = call.result_text or ""
    if call.is_error:
        line = next((line for line in text.split("\n") if _ERROR.search(line)), text.split("\n", 1)[0])
        return f"{stub(call)} {line[:200]}"
    return stub(call)


def head_and_tail(call: Call) -> str:
    """The first 95 and the last 95 characters."""
    text = (call.result_text or "").strip()
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]} … {text[-_HALF:]}"


FLOORS: dict[str, Callable[[Call], str]] = {
    "stub": stub,
    "error bullet": error_bullet,
    "head+tail 190": head_and_tail,
}
