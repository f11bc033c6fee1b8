"""Requests of capture that are refused: known by their attributes on the wire (protocol.md, 'Errors')."""


class RefusedError(Exception):
    """A domain failure. kind: one of the stable kinds; retry_after_ms: when the same request may succeed."""

    def __init__(self, kind: str, message: str, *, retryable: bool, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
