"""What a block stands for, as it is stored beside its text (condense.md, 'Fusing')."""

from msgspec import Struct

from afterturn.shapes import from_json, to_json
from afterturn_protocol.refs import Ref


class BlockDetails(Struct, frozen=True):
    """What a block stands for: its calls, and the turn of the last of them."""

    refs: list[Ref]
    turn_index: int


def written_details(details: BlockDetails) -> str:
    """The details of a block as they are stored."""
    return to_json(details).decode()


def read_details(text: str) -> BlockDetails:
    """The details of a block, from `written_details`."""
    return from_json(text.encode(), BlockDetails)
