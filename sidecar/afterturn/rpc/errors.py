"""What goes wrong with a request, and the one place that turns it into an error reply (protocol.md, 'Errors').

RequestError            the base: code, message and data, exactly as they go out
+- RequestFailed        a domain failure: -32803 with data.kind and data.retryable
+- Cancelled            -32800, the client cancelled
+- ServerCancelled      -32802, the server ends
"""

import traceback
from typing import Any

from msgspec import structs

from afterturn.wire.codec import Malformed
from afterturn_protocol.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    REQUEST_CANCELLED,
    REQUEST_FAILED,
    SERVER_CANCELLED,
    ErrorData,
    ErrorObject,
    Kind,
)


class RequestError(Exception):
    """A failure that is told to the client as it is: nothing secret belongs in `message`."""

    def __init__(self, code: int, message: str, data: ErrorData | None = None) -> None:
        super().__init__(message)
        self.error = ErrorObject(code=code, message=message, data=data)


class RequestFailed(RequestError):
    """A domain failure of a stable kind. `retry_after_ms` says when the same request may succeed."""

    def __init__(self, kind: str, message: str, *, retryable: bool = False, retry_after_ms: int | None = None) -> None:
        data = ErrorData(kind=kind, retryable=retryable, retry_after_ms=retry_after_ms)
        super().__init__(REQUEST_FAILED, message, data)


class Cancelled(RequestError):
    """The client cancelled the request."""

    def __init__(self) -> None:
        super().__init__(REQUEST_CANCELLED, "The request was cancelled")


class ServerCancelled(RequestError):
    """The server ends before the request is done."""

    def __init__(self) -> None:
        super().__init__(SERVER_CANCELLED, "The server is ending")


def error_of(problem: BaseException) -> ErrorObject:
    """Any exception as the error of a reply. What is not meant for the client becomes a bare `internal`."""
    if isinstance(problem, RequestError):
        return problem.error
    if isinstance(problem, Malformed):
        return ErrorObject(code=problem.code, message=problem.message)
    # The domain may not import this layer: its failures are known by their attributes.
    path: Any = getattr(problem, "path", None)
    expected: Any = getattr(problem, "expected", None)
    if isinstance(path, str) and isinstance(expected, str):
        data = ErrorData(path=path, expected=expected)
        return ErrorObject(code=INVALID_PARAMS, message=f"Invalid params: {problem}", data=data)
    kind: Any = getattr(problem, "kind", None)
    retryable: Any = getattr(problem, "retryable", None)
    if isinstance(kind, str) and isinstance(retryable, bool):
        retry_after_ms: int | None = getattr(problem, "retry_after_ms", None)
        return RequestFailed(kind, str(problem), retryable=retryable, retry_after_ms=retry_after_ms).error
    return ErrorObject(code=INTERNAL_ERROR, message="Internal error", data=ErrorData(kind=Kind.INTERNAL))


def without_folder(error: ErrorObject, folder: str) -> ErrorObject:
    """`error` with the files of `folder` (which ends in a separator) named without it: no path goes over the wire."""
    if not folder or folder not in error.message:
        return error
    return structs.replace(error, message=error.message.replace(folder, ""))


def is_bug(problem: BaseException) -> bool:
    """Whether `error_of` has to hide it, so that the log must say where it came from."""
    return error_of(problem).code == INTERNAL_ERROR


def where(problem: BaseException) -> str:
    """The type and the frames of a bug, innermost last: no message and no values, which may hold a session's text."""
    frames = traceback.extract_tb(problem.__traceback__)
    places = " > ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames[-8:])
    return f"{type(problem).__name__} at {places}"
