"""What the generated classes of `nouns` and `sync_nouns` stand on."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from afterturn_protocol.lifecycle import WorkDoneProgress

OnProgress = Callable[["WorkDoneProgress"], None]
"""Called with how far a request is: its beginning, any number of reports, its end."""


class Caller(Protocol):
    """Who sends the calls."""

    async def call(
        self, method: str, params: Any = None, *, timeout_ms: int | None = None, on_progress: OnProgress | None = None
    ) -> Any:
        """Send a request and return its result."""
        ...

    async def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        ...


class SyncCaller(Protocol):
    """The same, blocking."""

    def call(
        self, method: str, params: Any = None, *, timeout_ms: int | None = None, on_progress: OnProgress | None = None
    ) -> Any:
        """Send a request and return its result."""
        ...

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        ...


class Noun:
    """The calls of one noun."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller


class SyncNoun:
    """The calls of one noun, blocking."""

    def __init__(self, caller: SyncCaller) -> None:
        self._caller = caller
