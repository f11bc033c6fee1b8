"""Which messages a recap is drafted from (recap.md, 'Input'; seed session-recap, 'Model')."""

from collections.abc import Iterable, Sequence

from afterturn_protocol.base import Message, ToolUse
from afterturn_protocol.blocks import content_text, image_blocks

WINDOW = 30
EARLIER = "[Earlier messages are left out.]"
_HIDDEN_ROLES = ("system", "developer")
_SUMMARIES = ("compaction", "branchSummary")
_FAILED = ("aborted", "error")


def window(messages: Sequence[Message], limit: int = WINDOW) -> list[Message]:
    """The last `limit` messages that count, oldest first, well-formed.

    Each tool result has its call before it and each call at most one result. A window that would open with the
    assistant opens with one short line of the user instead; it counts as one of the `limit`.

    The time is linear in the number of messages, whatever their size.
    """
    kept, asked_by = _kept(messages)
    chosen = _cut(messages, kept[-limit:], asked_by)
    if chosen and chosen[0].role == "assistant":
        if len(chosen) == limit:
            chosen = _cut(messages, kept[-limit + 1 :], asked_by) if limit > 1 else []
        if chosen and chosen[0].role == "assistant":
            chosen.insert(0, Message(role="user", content=EARLIER, kind="custom"))
    return chosen


def is_visible(message: Message) -> bool:
    """Whether a message is part of the conversation: not omitted, no system message, no summary."""
    return not message.omitted and message.role not in _HIDDEN_ROLES and message.kind not in _SUMMARIES


def is_result(message: Message) -> bool:
    """Whether it is the result of a tool call."""
    return message.role == "tool"


def has_content(message: Message) -> bool:
    """Whether there is text, thinking aside, or an image."""
    content = message.content
    if isinstance(content, str):
        return bool(content) and not content.isspace()
    if not content:
        return False
    return any(_shows(block.get("type"), block.get("text")) for block in content)


def text_of(message: Message) -> str:
    """Its text, without thinking; an image counts as a word."""
    text = content_text(message.content)
    images = len(image_blocks(message.content))
    return text if not images else f"{text}\n[{images} image{'s' if images > 1 else ''}]".lstrip("\n")


def is_failed(message: Message) -> bool:
    """Whether it is an assistant's turn that was aborted or failed."""
    return message.role == "assistant" and message.stop_reason in _FAILED


def _shows(kind: object, text: object) -> bool:
    if kind == "text":
        return isinstance(text, str) and bool(text) and not text.isspace()
    return kind == "image"


def _kept(messages: Sequence[Message]) -> tuple[list[int], dict[int, int]]:
    """The places of the messages that count, and for each result the place of the message that made its call."""
    kept: list[int] = []
    asked_by: dict[int, int] = {}
    waiting: dict[str, list[int]] = {}
    for place, message in enumerate(messages):
        if not is_visible(message):
            continue
        if is_result(message):
            callers = waiting.get(message.tool_call_id or "")
            if not callers:
                continue
            asked_by[place] = callers.pop(0)
        elif message.tool_calls:
            for call in message.tool_calls:
                waiting.setdefault(call.id, []).append(place)
        elif not has_content(message) and not is_failed(message):
            continue
        # Of failed attempts in a row the last one tells enough, and all of them could push the work out of the window.
        if is_failed(message) and kept and is_failed(messages[kept[-1]]):
            kept.pop()
        kept.append(place)
    return kept, asked_by


def _cut(messages: Sequence[Message], places: list[int], asked_by: dict[int, int]) -> list[Message]:
    inside = set(places)
    pulled: Message | None = None
    first = places[0] if places else 0
    if first in asked_by and asked_by[first] not in inside:
        # One result gives way to the message that asked; a single one is not worth it and goes itself.
        caller = asked_by[first]
        mates = [place for place in places[1:] if asked_by.get(place) == caller]
        if mates:
            pulled = _only(messages[caller], [messages[place].tool_call_id for place in mates])
            inside.add(caller)
        places = places[1:]
    chosen = [messages[place] for place in places if place not in asked_by or asked_by[place] in inside]
    return chosen if pulled is None else [pulled, *chosen]


def _only(message: Message, ids: Iterable[str | None]) -> Message:
    import msgspec

    wanted = list(ids)
    calls: list[ToolUse] = []
    for call in message.tool_calls or ():
        if call.id in wanted:
            wanted.remove(call.id)
            calls.append(call)
    return msgspec.structs.replace(message, tool_calls=calls)
