"""What a provider's failure means for the calls after it, by its kind and status code (models.md, 'Completers')."""

from msgspec import Struct

from afterturn.completion import CompleterError
from afterturn.models.provider import ProviderFailure
from afterturn.store_error import StoreError
from afterturn_protocol.base import Usage

MOST_RETRY_AFTER_MS = 86_400_000
"""A provider that asks for more is not believed."""


class FailureClass(Struct, frozen=True):
    """One row of the table.

    name: of the class. retry: the same call may succeed in a moment. outage: the model is down, so that another one
    may be asked. strikes: how many in a row open the breaker. terminal: only a change of the settings mends it.
    """

    name: str
    retry: bool
    outage: bool
    strikes: int
    terminal: bool


TRANSIENT = FailureClass("transient", retry=True, outage=True, strikes=5, terminal=False)
REFUSED = FailureClass("refused", retry=False, outage=True, strikes=5, terminal=False)
MISSING = FailureClass("missing", retry=False, outage=True, strikes=1, terminal=False)
SETTINGS = FailureClass("settings", retry=False, outage=True, strikes=1, terminal=True)
# The request itself may be at fault (too long, say), which says nothing of the next one: twice in a row does.
REQUEST = FailureClass("request", retry=False, outage=False, strikes=2, terminal=True)

_BY_KIND = {
    "timeout": TRANSIENT,
    "connection": TRANSIENT,
    "malformed": TRANSIENT,
    "crashed": TRANSIENT,
    "refused": REFUSED,
    "unavailable": MISSING,
}
_BY_STATUS = {
    401: SETTINGS,
    402: SETTINGS,
    403: SETTINGS,
    404: SETTINGS,
    408: TRANSIENT,
    409: TRANSIENT,
    429: TRANSIENT,
}


def classify(failure: ProviderFailure) -> FailureClass:
    """The class of a failure. Only kind and status count, never the text."""
    if failure.kind != "status":
        return _BY_KIND[failure.kind]
    status = failure.status or 0
    return _BY_STATUS.get(status) or (REQUEST if 400 <= status < 500 else TRANSIENT)


def billable(failure: ProviderFailure) -> bool:
    """Whether the provider may charge for the call: it may have worked on it, and did not answer with an error."""
    return failure.called and failure.kind not in ("status", "refused", "unavailable")


def completer_error(failure: ProviderFailure, kind: FailureClass, called: bool, usage: Usage | None) -> CompleterError:
    """The failure as the job that asked sees it. called: whether any of its calls reached the provider."""
    if kind.terminal:
        name = "provider_error"
    elif failure.kind == "timeout":
        name = "deadline"
    else:
        name = "provider_error" if failure.kind == "malformed" else "provider_unavailable"
    return CompleterError(
        name,
        failure.message,
        retryable=not kind.terminal,
        retry_after_ms=None if kind.terminal else asked_pause_ms(failure),
        terminal=kind.terminal,
        called=called,
        usage=usage,
    )


def asked_pause_ms(failure: ProviderFailure) -> int | None:
    """How long the provider asks to be left alone, as far as it is believed; None if it does not."""
    if failure.retry_after_ms is None:
        return None
    return min(max(failure.retry_after_ms, 0), MOST_RETRY_AFTER_MS)


def store_failure(problem: StoreError) -> CompleterError:
    """Without the store nothing can be counted, so nothing is asked."""
    retryable = bool(getattr(problem, "retryable", True))
    return CompleterError("store_unavailable", str(problem), retryable=retryable, called=False)
