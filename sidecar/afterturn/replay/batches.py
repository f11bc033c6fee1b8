"""A turn as `condense/onTurnEnd` takes it."""

from afterturn.replay.stream import Call, Turn
from afterturn_protocol.condense import Batch, ToolCall


def batch_of(turn: Turn, index: int) -> Batch:
    """The turn's calls as one batch. index: of the turn in its session."""
    return Batch(
        turn_index=index,
        timestamp=turn.timestamp,
        assistant_text=turn.assistant_text,
        user_text=turn.user_text,
        tool_calls=[_wire_call(call) for call in turn.calls],
    )


def _wire_call(call: Call) -> ToolCall:
    result = call.result
    return ToolCall(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        args=call.args,
        result_text=result if isinstance(result, str) else None,
        content=result if isinstance(result, list) else None,
        is_error=call.is_error,
        result_timestamp=call.result_timestamp,
    )
