"""afterturn's client for programs in Python: typed, on asyncio; `afterturn_client.sync` is its blocking twin.

    from afterturn_client import Afterturn
    from afterturn_protocol.condense import Batch, SummarizeParams, ToolCall

    async with Afterturn.start() as client:
        call = ToolCall(tool_call_id="c1", tool_name="bash", args={"command": "make"}, result_text=output)
        batch = Batch(turn_index=0, timestamp=now_ms, tool_calls=[call])
        result = await client.condense.summarize(SummarizeParams(session_id="s1", batch=batch))

Params, results and events are the Structs of `afterturn_protocol`. What fails, fails as an `AfterturnError`.
"""

from afterturn_client.answering import ContextHandler, SamplingHandler
from afterturn_client.client import Afterturn, ClientOptions
from afterturn_client.errors import (
    AfterturnError,
    BadParams,
    Broken,
    Congested,
    Exited,
    NotOpen,
    ServerError,
    ServerNotFound,
    TimedOut,
    WrongVersion,
)
from afterturn_client.listening import Listener, UnknownEvent
from afterturn_client.noun import OnProgress

__all__ = [
    "Afterturn",
    "AfterturnError",
    "BadParams",
    "Broken",
    "ClientOptions",
    "Congested",
    "ContextHandler",
    "Exited",
    "Listener",
    "NotOpen",
    "OnProgress",
    "SamplingHandler",
    "ServerError",
    "ServerNotFound",
    "TimedOut",
    "UnknownEvent",
    "WrongVersion",
]
