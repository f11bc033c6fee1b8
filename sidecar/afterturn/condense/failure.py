"""A batch that a model did not summarise (condense.md, 'Order of work')."""

from afterturn_protocol.base import Usage


class ModelFailure(Exception):
    """A batch that a model did not summarise.

    reason: of the result. called: whether a provider was asked. usage: what that cost.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        retryable: bool,
        retry_after_ms: int | None = None,
        called: bool = True,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
        self.called = called
        self.usage = usage
