"""What carries bytes to a server and back; `child` and `in_process` are the two that exist."""

from typing import Protocol


class Link(Protocol):
    """One run of one server."""

    @property
    def watch_pid(self) -> int | None:
        """The process id for the server to watch; None where both are one process."""
        ...

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr."""
        ...

    async def send(self, data: bytes) -> None:
        """Write all of it. Raises anyio.BrokenResourceError when nobody reads any more."""
        ...

    async def receive(self) -> bytes:
        """The next bytes; empty at the end."""
        ...

    async def end_input(self) -> None:
        """Let the server read an end of file."""
        ...

    async def drain(self) -> None:
        """Read its stderr until that ends, so that a full pipe never stops it."""
        ...

    async def wait(self) -> int:
        """Wait for its end; returns the exit code, negative for a signal."""
        ...

    def terminate(self) -> None:
        """Ask it to end."""
        ...

    def kill(self) -> None:
        """End it."""
        ...

    async def release(self) -> None:
        """Let go of descriptors, once it has ended."""
        ...
