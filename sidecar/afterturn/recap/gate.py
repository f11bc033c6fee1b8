"""The activity gate: whether enough happened to be worth a recap (recap.md, 'State, per session')."""

from collections.abc import Sequence

from afterturn.recap.requests import is_genuine
from afterturn.recap.window import is_result, is_visible
from afterturn_protocol.base import Message
from afterturn_protocol.blocks import content_text

MIN_WORDS = 30
# Enough text to hold the words, however it is spaced.
_READ = 20_000


def has_activity(messages: Sequence[Message]) -> bool:
    """Whether there was a tool call or MIN_WORDS words of the assistant since the last genuine user message."""
    words = 0.0
    for message in reversed(messages):
        if not is_visible(message):
            continue
        if is_genuine(message):
            return False
        if message.role == "assistant" or is_result(message):
            if message.tool_calls or is_result(message):
                return True
            words += count_words(content_text(message.content)[:_READ])
            if words >= MIN_WORDS:
                return True
    return False


def count_words(text: str) -> float:
    """Words of `text`: runs between blanks, and half a word for each character of a script written without them."""
    if text.isascii():
        return len(text.split())
    total = 0.0
    for run in text.split():
        wide = sum(map(is_unspaced, run))
        total += wide / 2 + (not wide or any(char.isalnum() and not is_unspaced(char) for char in run))
    return total


def is_unspaced(char: str) -> bool:
    """Whether `char` is Han, kana or hangul: there a character says about half as much as a word."""
    return (
        "\u3040" <= char <= "\u30ff"
        or "\u3400" <= char <= "\u4dbf"
        or "\u4e00" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7a3"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003134f"
    )
