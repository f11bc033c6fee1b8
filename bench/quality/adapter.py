"""What the bench needs of the thing it measures."""

from typing import Any, Protocol


class Condenser(Protocol):
    """Condenses batches and gives originals back. All calls wait for their answer."""

    def condense_batch(self, session_id: str, batch: dict[str, Any]) -> dict[str, Any]:
        """A `CondenseResult` as JSON (protocol.md, 'condense')."""
        ...

    def resolve(self, session_id: str, refs: list[str]) -> dict[str, str]:
        """The whole original of each short ref that resolves."""
        ...

    def kill_and_restart(self) -> None:
        """Ends the process the hard way and starts another one on the same store."""
        ...

    def close(self) -> None: ...
