"""What stands in for an embedder that the settings name and that cannot be had."""

from collections.abc import Sequence

from afterturn.capture.embedder import EmbeddingError


class AbsentEmbedder:
    """An `Embedder` that embeds nothing and says why: captures go on without vectors, which are made later."""

    model = ""
    dimension = 0

    def __init__(self, problem: str) -> None:
        self._problem = problem

    @property
    def resting(self) -> str | None:
        """Never: it is not a matter of time, and whoever reads the settings sees why."""
        return None

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Raises EmbeddingError."""
        raise EmbeddingError(self._problem, retryable=False)

    async def close(self) -> None:
        """It holds nothing."""
