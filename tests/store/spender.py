"""A process that reserves a model call and says so; then it waits for its end. Arguments: the store's file."""

import asyncio
import sys
from pathlib import Path

from afterturn.models.ports import Intent, Limits
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore


async def main() -> None:
    store = SqliteStore(StorePlace(file=Path(sys.argv[1]), own_folder=True))
    intent = Intent(session_id="s", purpose="recap", model="a/b", prompt_tokens=100, max_tokens=900)
    limits = Limits(daily_tokens=None, daily_cost_usd=None, session_tokens=None)
    print(await store.models.ledger.reserve(intent, limits, now_ms=1), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    asyncio.run(main())
