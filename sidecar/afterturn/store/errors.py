"""The one error that a store raises when it cannot do its work (protocol.md, 'Errors')."""

from afterturn.store_error import StoreError


class StoreUnavailable(StoreError):
    """The store cannot be opened, read or written. The text is fit for a person and names the file.

    kind: the stable kind of the wire, always "store_unavailable".
    retryable: whether the same call can succeed later without anybody touching the store: a lock, a full or a
        read-only disk may pass; a damaged file, or one that a newer program made, will not.
    """

    kind = "store_unavailable"

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable
