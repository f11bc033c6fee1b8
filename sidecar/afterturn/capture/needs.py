"""What the capture service is given: the outside (capture.md)."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from afterturn.capture.embedder import Embedder
from afterturn.capture.ports import CaptureStore
from afterturn.capture.reading import Redactor
from afterturn.clock import Clock
from afterturn.completion import Completer
from afterturn_protocol.settings import CaptureSettings

Emit = Callable[[str, Any], None]
"""Sends an event: its name and its params."""


class CaptureNeeds(Struct, frozen=True, kw_only=True):
    """The outside of capture and of the traces' methods.

    settings: the settings as they are now. embedder: the one to use now, None where there is none. owner: this
    process, unlike any other on the store. new_id: an id unlike any other. used: the sessions that this connection
    has used, each with when it first did, epoch ms. congested: whether the client is too far behind to be sent
    anything. report: logs what went wrong where no request waits for an answer; the text holds nothing of a session.
    """

    store: CaptureStore
    settings: Callable[[], CaptureSettings]
    completer: Completer | None
    embedder: Callable[[], Embedder | None]
    redact: Redactor
    clock: Clock
    owner: str
    new_id: Callable[[], str]
    used: Callable[[], Mapping[str, int]]
    emit: Emit
    congested: Callable[[], bool]
    report: Callable[[str], None]
