"""What is stored for one step (capture.md, 'Result')."""

from msgspec import Struct

from afterturn_protocol.traces import Trace

SCHEMA_VERSION = 1


class TraceRow(Struct, frozen=True, kw_only=True):
    """A trace and what the wire does not show of it.

    trace: everything a client sees; redacted and cut to its limits.
    content: 32 bytes, the hash of what the step holds: equal means that nothing has to be scored again.
    summary_vector: of the user text, little-endian float32 of unit length; None where there is none.
    action_vector: of the agent's text and calls, likewise.
    """

    trace: Trace
    content: bytes
    summary_vector: bytes | None
    action_vector: bytes | None
