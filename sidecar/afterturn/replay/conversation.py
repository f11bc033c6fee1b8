"""The conversation so far, as far as a recap needs it, in bounded memory."""

from collections import deque

from afterturn.replay.ends import both_ends
from afterturn.replay.stream import Call, Turn
from afterturn_protocol.base import Message, ToolUse
from afterturn_protocol.context import RecapContext

MOST_MESSAGES = 200
MOST_CHARS = 2_000_000
LONGEST_TEXT = 20_000
"""A recap's own limits lie far below these (recap.md, 'Input')."""


class Conversation:
    """The last messages of one session, and its first request."""

    def __init__(self) -> None:
        self._messages: deque[tuple[Message, int]] = deque()
        self._chars = 0
        self._first_request: str | None = None

    def add(self, turn: Turn) -> None:
        """The turn's messages join; the oldest go where there are too many."""
        if turn.user_text and self._first_request is None:
            self._first_request = both_ends(turn.user_text, LONGEST_TEXT)
        for message in messages_of(turn):
            size = len(message.content)
            self._messages.append((message, size))
            self._chars += size
        while len(self._messages) > MOST_MESSAGES or (self._chars > MOST_CHARS and len(self._messages) > 1):
            self._chars -= self._messages.popleft()[1]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to recap."""
        return not self._messages

    def context(self) -> RecapContext:
        """What a host would push now."""
        return RecapContext(messages=[message for message, _ in self._messages], first_user_request=self._first_request)


def messages_of(turn: Turn) -> list[Message]:
    """A turn as messages: the user's words, the assistant's with its calls, then their results; long texts cut.

    One that failed is among them, as a host has it in its session: a recap says that, and knows how to pass it over.
    """
    stamp = turn.timestamp or None
    messages: list[Message] = []
    if turn.user_text:
        messages.append(
            Message(
                role="user", content=both_ends(turn.user_text, LONGEST_TEXT), timestamp=turn.user_timestamp or stamp
            )
        )
    if turn.assistant_text or turn.calls or turn.failed:
        uses = [ToolUse(id=call.tool_call_id, name=call.tool_name, input=call.args) for call in turn.calls]
        said = both_ends(turn.assistant_text or "", LONGEST_TEXT)
        stop = "aborted" if turn.aborted else "error" if turn.failed else None
        messages.append(
            Message(role="assistant", content=said, tool_calls=uses or None, stop_reason=stop, timestamp=stamp)
        )
    return messages + [_result(call, stamp) for call in turn.calls if call.result is not None]


def _result(call: Call, stamp: int | None) -> Message:
    return Message(
        role="tool",
        content=both_ends(call.result_text or "", LONGEST_TEXT),
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        is_error=call.is_error,
        timestamp=call.result_timestamp or stamp,
    )
