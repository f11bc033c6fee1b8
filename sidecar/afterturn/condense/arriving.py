"""Reading what arrives, at once when it is small and beside the event loop when it is not."""

from typing import Any, cast

from afterturn.condense.calls import Arrivals, read_batch
from afterturn.condense.needs import HEAVY_CHARS, HEAVY_TO_READ_CHARS, Needs, in_thread
from afterturn_protocol.condense import Batch
from afterturn_protocol.settings import CondenseSettings


async def read_arrivals(needs: Needs, batch: Batch, settings: CondenseSettings) -> Arrivals:
    """The calls of a batch, read. Raises InvalidInputError as `read_batch` does."""
    hide = None if needs.keep_raw() else needs.hide
    if size_of(batch) < (HEAVY_TO_READ_CHARS if hide is None else HEAVY_CHARS):
        return read_batch(batch, settings, hide)
    return await in_thread(read_batch, batch, settings, hide)


def size_of(batch: Batch) -> int:
    """About how many chars reading a batch goes through."""
    size = 0
    for call in batch.tool_calls:
        if call.content is None:
            size += len(call.result_text or "")
        for block in call.content or ():
            size += _size_of(block)
        size += _size_of(call.args)
    return size


# A number or a bracket costs reading about as much as so many chars of text.
_ITEM_CHARS = 16


def _size_of(json_value: object) -> int:
    """About the chars that a JSON value takes to read. Stops counting where it is much in any case."""
    size = 0
    left: list[Any] = [json_value]
    while left and size < HEAVY_TO_READ_CHARS:
        value = left.pop()
        size += _ITEM_CHARS
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, dict):
            mapping = cast("dict[str, Any]", value)
            size += sum(map(len, mapping))
            left += mapping.values()
        elif isinstance(value, list):
            left += cast("list[Any]", value)
    return size
