"""What a summary must not pass on: tool calls, orders to the agent, our own syntax (condense.md, 'Checking a reply';
case C09). Tool output can hold all of these, and a model can repeat them.
"""

import re

from afterturn.condense.extract.safe import is_instruction
from afterturn.condense.orders import is_order

_CALL_LIKE = re.compile(
    r"</?(?:antml:)?(?:tool_calls?|tool_use|tool_response|function_calls?|invoke|parameter|function)\b"
    r"|</?(?:system-reminder|system|assistant|human|instructions?)>"
    r"|<\|[^|\n]{1,40}\|>|\[/?(?:TOOL_CALLS?|INST)\]|<</?SYS>>"
    r"|```tool_(?:code|call)|^[\s*-]*#{1,6} (?:instructions?|human|assistant|system)\s*:"
    r"|to=functions\.|\bfunctions\.\w+\("
    r"|\"(?:tool_calls|function_call)\"\s*:|\{\s*\"(?:name|tool)\"\s*:\s*\"[^\"\n]{1,80}\"\s*,\s*\"(?:arguments|args|parameters|input)\"",
    re.IGNORECASE | re.MULTILINE,
)
_OUR_SYNTAX = re.compile(
    r"summarized tool refs\W|\[full output: |^[^\w\n]*result \((?:ok|error)\): |<<<[0-9a-f]{16}|[0-9a-f]{16}>>>",
    re.IGNORECASE | re.MULTILINE,
)
_MARKER = re.compile(r"^[\s>#*_`\"'+-]*(?:\d{1,3}[.)]\s+)?[\s*_`\"'-]*")
_REF = re.compile(r"`([tb][0-9]+)` ?")


def is_untrusted(text: str, tool_name: str = "") -> bool:
    """Whether a bullet, label removed, looks like a tool call, an order to the agent, or text of this program.

    tool_name: of the bullet's call, where it is about one.
    """
    if _CALL_LIKE.search(text) or _OUR_SYNTAX.search(text):
        return True
    return any(is_order(line, tool_name) or is_instruction(_MARKER.sub("", line)) for line in text.split("\n"))


def without_refs(text: str) -> str:
    """`text` without anything that reads as a ref: refs are given by the server, never by a model."""
    while (shorter := _REF.sub("", text)) != text:
        text = shorter
    return text
