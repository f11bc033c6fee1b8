"""Reading what arrives, at once when it is small and beside the event loop when it is not."""

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
            size += sum(len(value) for value in block.values() if isinstance(value, str))
        size += _size_of_args(call.args)
    return size


def _size_of_args(args: object) -> int:
    """The texts in args that are big are at its top; what is deeper is small, or takes long in any case."""
    if isinstance(args, str):
        return len(args)
    if isinstance(args, dict):
        return sum(len(value) for value in args.values() if isinstance(value, str))  # pyright: ignore
    return 0
