"""Error codes, the stable kinds of domain failures, and what an error reply carries (protocol.md, 'Errors')."""

from afterturn_protocol.shape import Count, Int, Shape

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_CANCELLED = -32800
SERVER_CANCELLED = -32802
REQUEST_FAILED = -32803

CODES: dict[str, int] = {
    "parseError": PARSE_ERROR,
    "invalidRequest": INVALID_REQUEST,
    "methodNotFound": METHOD_NOT_FOUND,
    "invalidParams": INVALID_PARAMS,
    "internalError": INTERNAL_ERROR,
    "notInitialized": NOT_INITIALIZED,
    "requestCancelled": REQUEST_CANCELLED,
    "serverCancelled": SERVER_CANCELLED,
    "requestFailed": REQUEST_FAILED,
}
"""Every code a reply can carry, by its name in meta.json."""


class Kind:
    """The values of `data.kind`. They are stable: a kind is never renamed, and new ones may be added."""

    BUSY = "busy"
    CONFLICT = "conflict"
    UNKNOWN_JOB = "unknown_job"
    STORE_UNAVAILABLE = "store_unavailable"
    MESSAGE_TOO_LARGE = "message_too_large"
    BAD_HEADER = "bad_header"
    PROTOCOL_VERSION = "protocol_version"
    DEADLINE = "deadline"
    BUDGET_EXCEEDED = "budget_exceeded"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    INTERNAL = "internal"


KINDS: dict[str, tuple[int, str]] = {
    Kind.BUSY: (REQUEST_FAILED, "the server has too much to do; retryAfterMs says when to try again"),
    Kind.CONFLICT: (REQUEST_FAILED, "the same idempotency key came with other content"),
    Kind.UNKNOWN_JOB: (REQUEST_FAILED, "no capture job has this id"),
    Kind.STORE_UNAVAILABLE: (REQUEST_FAILED, "the store cannot be opened, read or written"),
    Kind.MESSAGE_TOO_LARGE: (INVALID_REQUEST, "a frame is longer than the limit and was skipped"),
    Kind.BAD_HEADER: (INVALID_REQUEST, "a frame header holds no usable length"),
    Kind.PROTOCOL_VERSION: (REQUEST_FAILED, "the server does not speak this protocol version"),
    Kind.DEADLINE: (REQUEST_FAILED, "the server's own time limit for the request ran out"),
    Kind.BUDGET_EXCEEDED: (REQUEST_FAILED, "a limit on tokens, calls or money is reached"),
    Kind.PROVIDER_UNAVAILABLE: (REQUEST_FAILED, "no model can be reached for what only a model can answer"),
    Kind.INTERNAL: (INTERNAL_ERROR, "a bug in the server; details are in its log, never in the reply"),
}
"""For each kind: the code it comes with, and what it means."""


class ErrorData(Shape, frozen=True, kw_only=True):
    """The `data` of an error reply. Which fields are there depends on the code.

    kind: one of the stable kinds; there for every domain failure.
    retryable: whether the same request can succeed later; there for every domain failure.
    retry_after_ms: how long to wait before that, in ms.
    path: for invalid params, the JSON path of the bad value, such as $.batch.toolCalls[3].toolName; for a
        missing field the path of the object that lacks it.
    expected: for invalid params, what belongs there; for a missing field its name.
    supported: for kind protocol_version, the versions the server speaks.
    """

    kind: str | None = None
    retryable: bool | None = None
    retry_after_ms: Count | None = None
    path: str | None = None
    expected: str | None = None
    supported: list[Int] | None = None


class ErrorObject(Shape, frozen=True, kw_only=True):
    """The `error` of a reply.

    code: see the error codes.
    message: one sentence for a person.
    data: what a program needs.
    """

    code: Int
    message: str
    data: ErrorData | None = None
