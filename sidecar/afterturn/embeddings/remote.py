"""The embedder that asks a provider, through the model worker process (models.md, 'Embedders')."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from afterturn.capture.embedder import EmbeddingError
from afterturn.completion import CompleterError
from afterturn.models.access import access_to
from afterturn.models.embedding import EmbeddingCalls
from afterturn.models.provider import ProviderFailure
from afterturn_protocol.settings import EmbeddingsSettings, ModelsSettings

TEXTS_AT_ONCE = 32
MAX_CHARS = 8_000
"""Of a text. Providers refuse one that is longer than their models read, which is 8,000 tokens for the usual ones."""
CALL_SECONDS = 30.0
BYTES_PER_COMPONENT = 4
TERMINAL_STATUS = (400, 401, 402, 403, 404)


class RemoteEmbedder:
    """`Embedder`. One attempt for each batch; whoever asks tries again later, and far apart."""

    def __init__(
        self,
        settings: EmbeddingsSettings,
        model: str,
        calls: EmbeddingCalls,
        redact: Callable[[str], tuple[str, Mapping[str, int]]],
        environ: Mapping[str, str],
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        """model: "provider/id". redact: hides secrets. environ: where keys are. call_seconds: limit of one batch."""
        self.model = model
        self.dimension = 0
        """Known from the first answer on."""
        self._access_settings = ModelsSettings(
            model=model, api_base=settings.api_base, api_key_env=settings.api_key_env
        )
        self._calls = calls
        self._redact = redact
        self._environ = environ
        self._call_seconds = call_seconds

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector for each text, in order: little-endian float32 of unit length. Raises EmbeddingError."""
        vectors: list[bytes] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            hidden = await asyncio.to_thread(self._hidden, texts[start : start + TEXTS_AT_ONCE])
            vectors += await self._asked(hidden)
        return vectors

    def _hidden(self, texts: Sequence[str]) -> list[str]:
        return [self._redact(text)[0][:MAX_CHARS] for text in texts]

    async def _asked(self, texts: Sequence[str]) -> list[bytes]:
        try:
            access = access_to(self.model, self._access_settings, self._environ, section="embeddings")
            vectors = await self._calls.embed(texts, self.model, access, self._call_seconds)
        except CompleterError as denied:
            raise EmbeddingError(denied.message, waits=True) from None
        except ProviderFailure as failure:
            lasting = failure.kind == "unavailable" or failure.status in TERMINAL_STATUS
            raise EmbeddingError(failure.message, retryable=not lasting) from None
        dimension = self.dimension or len(vectors[0]) // BYTES_PER_COMPONENT
        if any(len(each) != dimension * BYTES_PER_COMPONENT for each in vectors):
            raise EmbeddingError(f"{self.model}: the provider's vectors are not all of one size")
        self.dimension = dimension
        return vectors

    async def close(self) -> None:
        """It holds nothing: the worker is closed by its owner."""
