"""What capture needs of an embedder: the port, and how it fails (models.md, 'Embedders')."""

from collections.abc import Sequence
from typing import Protocol


class EmbeddingError(Exception):
    """Texts that could not be embedded.

    retryable: whether the same texts can be embedded later. waits: nothing was tried, so the texts have not failed: a
    budget is used up, or the provider refused the settings a while ago. of_text: one of the texts is refused, which
    says nothing of others. kind: of the error of a search that needs them.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = True,
        waits: bool = False,
        of_text: bool = False,
        kind: str = "provider_unavailable",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.waits = waits
        self.of_text = of_text
        self.kind = kind


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
