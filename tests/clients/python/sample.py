"""Params that several tests send."""

from afterturn_protocol.condense import Batch, SummarizeParams, ToolCall

LOG = "".join(f"compiling module {n}\n" for n in range(200)) + "src/auth/jwt.ts:142 - error TS2345\n"


def batch(text: str = LOG, call_id: str = "c1") -> Batch:
    call = ToolCall(tool_call_id=call_id, tool_name="bash", args={"command": "npm run build"}, result_text=text)
    return Batch(turn_index=0, timestamp=1767225600000, tool_calls=[call])


def summarize(text: str = LOG, session_id: str = "s") -> SummarizeParams:
    return SummarizeParams(session_id=session_id, batch=batch(text))
