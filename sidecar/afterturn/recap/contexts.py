"""Contexts as they come in: what of them is refused, and where (protocol.md, 'Errors')."""

from collections.abc import Sequence

from afterturn.contents import check_content
from afterturn_protocol.base import Message
from afterturn_protocol.context import RecapContext


def check_context(path: str, context: RecapContext | None) -> None:
    """Raises InvalidInputError for the first content block that does not fit. path: of the context in the params."""
    if context is not None:
        check_messages(f"{path}.messages", context.messages)


def check_messages(path: str, messages: Sequence[Message]) -> None:
    """The same of messages alone. path: theirs."""
    for index, message in enumerate(messages):
        check_content(f"{path}[{index}].content", message.content)
