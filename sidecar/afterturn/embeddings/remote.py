"""The embedder that asks a provider, through the model worker process (models.md, 'Embedders')."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from afterturn.capture.embedder import EmbeddingError
from afterturn.completion import CompleterError
from afterturn.models.access import access_to
from afterturn.models.breaker import Breaker
from afterturn.models.embedding import EmbeddingCalls
from afterturn.models.failures import REQUEST, SETTINGS, classify
from afterturn.models.provider import ProviderFailure
from afterturn_protocol.settings import EmbeddingsSettings, ModelsSettings

TEXTS_AT_ONCE = 32
MAX_CHARS = 8_000
"""Of a text. Providers refuse one that is longer than their models read, which is 8,000 tokens for the usual ones."""
CALL_SECONDS = 30.0
BYTES_PER_COMPONENT = 4


class RemoteEmbedder:
    """`Embedder`. One attempt for each batch; whoever asks tries again later, and far apart.

    A provider that refuses the settings (a wrong key, an unknown model) is left alone for an hour (case P04); other
    settings have an embedder of their own.
    """

    def __init__(
        self,
        settings: EmbeddingsSettings,
        model: str,
        calls: EmbeddingCalls,
        redact: Callable[[str], tuple[str, Mapping[str, int]]],
        environ: Mapping[str, str],
        call_seconds: float = CALL_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """model: "provider/id". redact: hides secrets. environ: where keys are. call_seconds: limit of one batch.
        monotonic: seconds that only grow.
        """
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
        self._monotonic = monotonic
        self._breaker = Breaker()

    @property
    def resting(self) -> str | None:
        """What the provider said when it refused the settings, for as long as it is left alone."""
        refusal = self._breaker.refusal(self._monotonic())
        return None if refusal is None else refusal.message

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
        if refusal := self._breaker.refusal(self._monotonic()):
            raise EmbeddingError(f"{refusal.message}; not asked for now", retryable=False, waits=True)
        try:
            access = access_to(self.model, self._access_settings, self._environ, section="embeddings")
            vectors = await self._calls.embed(texts, self.model, access, self._call_seconds)
        except CompleterError as denied:
            raise EmbeddingError(denied.message, waits=True, kind=denied.kind) from None
        except ProviderFailure as failure:
            raise self._failed(failure) from None
        self._breaker.succeeded()
        dimension = self.dimension or len(vectors[0]) // BYTES_PER_COMPONENT
        if any(len(each) != dimension * BYTES_PER_COMPONENT for each in vectors):
            raise EmbeddingError(f"{self.model}: the provider's vectors are not all of one size")
        self.dimension = dimension
        return vectors

    def _failed(self, failure: ProviderFailure) -> EmbeddingError:
        kind = classify(failure)
        if kind is SETTINGS:
            self._breaker.failed(kind, failure.message, None, self._monotonic())
        lasting = kind.terminal or failure.kind == "unavailable"
        return EmbeddingError(failure.message, retryable=not lasting, of_text=kind is REQUEST)

    async def close(self) -> None:
        """It holds nothing: the worker is closed by its owner."""
