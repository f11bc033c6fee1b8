"""What the language-server face needs of the rest, as Protocols and the plain values that cross them."""

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from afterturn_protocol.recap import RecapGetResult, RecapNowParams, RecapNowResult
from afterturn_protocol.refs import ResolveRefParams, ResolveRefResult
from afterturn_protocol.service import StatusResult
from afterturn_protocol.traces import TracesSearchParams, TracesSearchResult


class Entry(Struct, frozen=True, kw_only=True):
    """An archived call without its output. args: JSON. status: as the host gave it, None for none."""

    ref: int
    tool_name: str
    args: str
    is_error: bool
    status: str | None
    turn_index: int


class Spans(Struct, frozen=True, kw_only=True):
    """The lowest and the highest ref, and block, that a session has given and that still resolve; None for none."""

    refs: tuple[int, int] | None = None
    blocks: tuple[int, int] | None = None


class Catalogue(Protocol):
    """What is archived, without the outputs. Every method raises StoreError where the store fails."""

    async def newest(self, projects: Sequence[str]) -> str | None:
        """The session of one of these projects that was active last."""
        ...

    async def spans(self, session_id: str) -> Spans:
        """Which refs and blocks of a session, forks' parents included, can be read."""
        ...

    async def entry(self, session_id: str, ref: int) -> Entry | None:
        """One call, if it is in the session's view and not expired."""
        ...

    async def newest_entries(self, session_id: str, *, starting_with: str, limit: int) -> Sequence[Entry]:
        """Calls whose number begins with these digits, newest first."""
        ...


class OpenedOriginals(Protocol):
    """Originals as private files, for editors that can open nothing else."""

    async def keep(self, session_id: str, ref: str, text: str) -> Path:
        """The file with this text, written anew. Raises StoreError."""
        ...


class Originals(Protocol):
    """`condense/resolveRef`."""

    async def resolve_ref(self, params: ResolveRefParams) -> ResolveRefResult: ...


class Recaps(Protocol):
    """`recap/now`, `recap/get`."""

    async def now(self, params: RecapNowParams, *, arrived: Callable[[], None]) -> RecapNowResult: ...
    async def get(self, session_id: str) -> RecapGetResult: ...


class Traces(Protocol):
    """`traces/search`."""

    async def search(self, params: TracesSearchParams) -> TracesSearchResult: ...


class Report(Protocol):
    """`afterturn/status`."""

    async def report(self) -> StatusResult: ...


class Line(Protocol):
    """The connection, as far as the face speaks of its own accord."""

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        ...

    async def request(self, method: str, params: Any, timeout_seconds: float) -> Any:
        """Ask the client; the raw result. Raises RequestFailed."""
        ...

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run work that no request waits for."""
        ...


class Needs(Struct, frozen=True, kw_only=True):
    """The outside of the face. Services and store are built when they are first asked for.

    change_settings: takes the client's settings in place of those before. begin_shutdown: no more work is taken.
    """

    line: Line
    originals: Callable[[], Originals]
    recaps: Callable[[], Recaps]
    traces: Callable[[], Traces]
    status: Callable[[], Report]
    catalogue: Callable[[], Catalogue]
    opened: Callable[[], OpenedOriginals]
    change_settings: Callable[[Any], None]
    begin_shutdown: Callable[[], None]
