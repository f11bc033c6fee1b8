"""Holding a piece of work against other processes, so that its model is asked once (condense.md, 'Idempotence')."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from afterturn.condense.needs import Needs

_SPARE_MS = 15_000
_POLL_MS = 200


@asynccontextmanager
async def claimed(needs: Needs, session_id: str, key: bytes, *, lasts_ms: int) -> AsyncGenerator[None, None]:
    """Wait until no other process works on this batch or block, and keep them from it.

    key: of a batch or of a block. lasts_ms: how long the work may take; a process that hangs holds it hardly longer.
    What another process made is to be looked up under the claim: before it, that may be finished at any moment.
    """
    batches = needs.store.batches
    try:
        while wait_ms := await batches.claim(
            session_id, key, owner=needs.owner, ttl_ms=lasts_ms + _SPARE_MS, now_ms=needs.clock.now_ms()
        ):
            await needs.clock.sleep(min(wait_ms, _POLL_MS) / 1000)
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await batches.release(session_id, key, owner=needs.owner)
