"""The one way a store fails, for everybody who uses one."""


class StoreError(Exception):
    """The store cannot do its work at all (missing, damaged, read-only, full). The text is fit for a person."""

    kind = "store_unavailable"
    retryable = True
