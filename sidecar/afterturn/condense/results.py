"""Results as they are answered, and as they are frozen (condense.md, 'Order of work')."""

from msgspec.structs import replace

from afterturn.condense.ports import FrozenBatch
from afterturn.shapes import from_json, to_json
from afterturn_protocol.condense import CondenseResult, CondenseWarning


def warning(stage: str, message: str) -> CondenseWarning:
    """One thing that went less well."""
    return CondenseWarning(stage=stage, message=message)


def frozen_text(result: CondenseResult) -> str:
    """A result as it is frozen: without its summary, which is kept beside it, and without what it cost."""
    return to_json(replace(result, summary_text=None, usage=None)).decode()


def thawed(batch: FrozenBatch) -> CondenseResult:
    """A frozen result, byte for byte what was answered first, but that it costs nothing now."""
    return replace(from_json(batch.result.encode(), CondenseResult), summary_text=batch.summary)
