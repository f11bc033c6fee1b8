"""Content as it comes in: what of it is refused, and where (protocol.md, 'Shared shapes' and 'Errors')."""

from msgspec import ValidationError

from afterturn.misfits import InvalidInputError, split_problem
from afterturn_protocol.blocks import Block, check_block


def check_content(path: str, content: str | list[Block] | None) -> None:
    """Raises InvalidInputError for the first block that does not fit. path: of the content in the params."""
    if content is None or isinstance(content, str):
        return
    for index, block in enumerate(content):
        try:
            check_block(block)
        except ValidationError as problem:
            inner, expected = split_problem(str(problem))
            raise InvalidInputError(f"{path}[{index}]{inner[1:]}", expected) from None
