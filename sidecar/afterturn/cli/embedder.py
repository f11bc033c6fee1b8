"""The embedder as the settings have it, for commands that read the store without a server."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from afterturn.clock import SystemClock
from afterturn.embeddings.choice import OwnedEmbedder, chosen_embedder
from afterturn.models.litellm import LitellmProvider
from afterturn.redact import Redactor
from afterturn_protocol.settings import EmbeddingsSettings, Settings


@asynccontextmanager
async def user_embedder(settings: Settings, environ: Mapping[str, str]) -> AsyncGenerator[OwnedEmbedder | None]:
    """The embedder, closed at the end with every process it started; None for provider "none". Raises ValueError."""
    worker = LitellmProvider(lambda: settings.models, SystemClock(), environ)

    def remote(chosen: EmbeddingsSettings, model: str) -> OwnedEmbedder:
        from afterturn.embeddings.remote import RemoteEmbedder

        rules = settings.redaction
        redact = Redactor(rules.extra_patterns).redact if rules.enabled else _as_it_is
        return RemoteEmbedder(chosen, model, worker, redact, environ)

    embedder = chosen_embedder(settings.embeddings, remote)
    try:
        yield embedder
    finally:
        if embedder is not None:
            await embedder.close()
        await worker.close()


def _as_it_is(text: str) -> tuple[str, Mapping[str, int]]:
    return text, {}
