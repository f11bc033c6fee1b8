"""Contexts as they come in, pushed or asked for: what of them is refused, and where (protocol.md, 'Errors')."""

from afterturn.contents import check_content
from afterturn_protocol.context import RecapContext


def check_context(path: str, context: RecapContext | None) -> None:
    """Raises InvalidInputError for the first content block that does not fit. path: of the context in the params."""
    if context is None:
        return
    for index, message in enumerate(context.messages):
        check_content(f"{path}.messages[{index}].content", message.content)
