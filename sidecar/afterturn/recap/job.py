"""What is handed over when a recap is drafted."""

from msgspec import Struct

from afterturn.recap.ports import KeptRecap
from afterturn.recap.signals import Draft
from afterturn_protocol.base import ModelInfo
from afterturn_protocol.context import RecapContext
from afterturn_protocol.session import SavedRecap


class Job(Struct, frozen=True, kw_only=True):
    """A draft, and what the service knows for it. Times in epoch ms.

    context: as the host pushed it; None where it did not, or where it does not hold any more. model: what the session
    runs on. saved: what the host kept; kept: what our own store keeps. away_since: since when the person is away.
    """

    draft: Draft
    session_id: str
    context: RecapContext | None
    model: ModelInfo | None
    saved: SavedRecap | None
    kept: KeptRecap | None
    away_since: int | None
