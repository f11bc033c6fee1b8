"""What `afterturn/usage` tells (protocol.md, 'service')."""

from collections.abc import Callable

from afterturn.models.ports import Ledger
from afterturn_protocol.service import UsageResult


class UsageReport:
    """Tells what was used, over all sidecars on the store."""

    def __init__(self, ledger: Callable[[], Ledger]) -> None:
        self._ledger = ledger

    async def since(self, since_ms: int | None) -> UsageResult:
        """`afterturn/usage`. since_ms: epoch ms; None for all that is kept. Raises StoreError."""
        sums = await self._ledger().totals(since_ms)
        return UsageResult(total=sums.total, by_purpose=sums.by_purpose, by_model=sums.by_model, by_day=sums.by_day)
