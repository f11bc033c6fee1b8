"""What capture needs of an embedder: the port, and how it fails (models.md, 'Embedders')."""

from collections.abc import Sequence
from typing import Protocol


class EmbeddingError(Exception):
    """Texts that could not be embedded.

    retryable: whether the same texts can be embedded later. waits: nothing was tried, since a budget is used up.
    """

    def __init__(self, message: str, *, retryable: bool = True, waits: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.waits = waits


class Embedder(Protocol):
    """Makes vectors of texts. Threads, batches and loading on first use are behind it."""

    @property
    def model(self) -> str:
        """The name that is stored with every vector; vectors of one name can be compared."""
        ...

    @property
    def dimension(self) -> int:
        """How many components a vector has."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector for each text, in order: little-endian float32 of unit length. Raises EmbeddingError."""
        ...
