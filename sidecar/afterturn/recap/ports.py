"""What the recap service needs from outside, as Protocols and the plain values that cross them."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from afterturn.clock import Clock
from afterturn.completion import Completer
from afterturn_protocol.context import RecapContext
from afterturn_protocol.lifecycle import RecapCapability
from afterturn_protocol.settings import RecapSettings


class KeptRecap(Struct, frozen=True, kw_only=True):
    """The recap that is kept for a session. context_hash: of the input it stands for."""

    text: str
    model: str | None
    context_hash: str
    created_at: int


class Found(Struct, frozen=True, kw_only=True):
    """What is kept for a session, and the session's epoch, which grows with every delete."""

    epoch: int
    kept: KeptRecap | None


class RecapStore(Protocol):
    """One recap for each session. Recaps do without a store that cannot do its work, so nothing here raises."""

    async def find(self, session_id: str) -> Found | None:
        """What is kept; the epoch of a first life for a session that was never opened. None: the store fails."""
        ...

    async def keep(self, session_id: str, epoch: int, recap: KeptRecap, *, now_ms: int) -> bool:
        """Keep a recap in place of the one before. False: the session was deleted since `epoch`, or the store fails."""
        ...


class ContextUnavailable(Exception):
    """The host could not be asked for a session's context, or its answer is none."""


class HostContext(Protocol):
    """`host/getContext`."""

    def offered(self) -> bool:
        """Whether the client declared that it answers it."""
        ...

    async def get(self, session_id: str) -> RecapContext:
        """The session's projected context as it is now. Raises ContextUnavailable."""
        ...


class Needs(Struct, frozen=True, kw_only=True):
    """The outside of the service.

    settings: as they are now. capability: what the client can do with recaps; None for one that declared nothing.
    default_model: the setting `models.model`. by_host: whether it is the client that completes. redact: a text
    without its secrets. new_id: an id unlike any other. emit: sends an event. tell: tells the client what is wrong with
    its settings. report: logs what went wrong where no request waits for an answer; the text holds nothing of a
    session.
    """

    store: Callable[[], RecapStore]
    settings: Callable[[], RecapSettings]
    capability: Callable[[], RecapCapability | None]
    default_model: Callable[[], str | None]
    by_host: Callable[[], bool]
    completer: Completer | None
    host_context: HostContext
    redact: Callable[[str], str]
    clock: Clock
    new_id: Callable[[], str]
    emit: Callable[[str, object], None]
    tell: Callable[[str], None]
    report: Callable[[str], None]
