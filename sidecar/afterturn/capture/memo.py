"""Scores that were paid for, kept so that a restart never pays again (capture.md, 'Durability')."""

from typing import Protocol


class ScoreMemo(Protocol):
    """Keeps values by key, for one episode: they go when the episode is deleted.

    Both methods raise StoreError where the store fails, which ends the capture.
    """

    async def get(self, key: bytes) -> bytes | None:
        """What was put under the key of 32 bytes, or None."""
        ...

    async def put(self, key: bytes, value: bytes) -> None:
        """Keep a value; it survives the end of the process once this returns."""
        ...
