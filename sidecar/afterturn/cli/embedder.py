"""The embedder as the settings have it, for commands that read the store without a server."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from afterturn.clock import SystemClock
from afterturn.embeddings.choice import OwnedEmbedder, chosen_embedder
from afterturn.models.litellm import LitellmProvider
from afterturn.redact.by_settings import redact_of
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.settings import EmbeddingsSettings, Settings


@asynccontextmanager
async def user_embedder(
    settings: Settings, environ: Mapping[str, str], store: SqliteStore
) -> AsyncGenerator[OwnedEmbedder | None]:
    """The embedder, closed at the end with every process it started; None for provider "none". Raises ValueError.

    store: where a provider's calls count, against the same budgets as those of the servers.
    """
    clock = SystemClock()
    worker = LitellmProvider(lambda: settings.models, clock, environ)

    def remote(chosen: EmbeddingsSettings, model: str) -> OwnedEmbedder:
        from afterturn.embeddings.remote import RemoteEmbedder
        from afterturn.models.budget import Budget
        from afterturn.models.embedding import EmbeddingCalls

        # That a limit is reached is said by the failure of whoever embeds.
        budget = Budget(lambda: store.models.ledger, lambda: settings.models, clock, lambda method, params: None)
        calls = EmbeddingCalls(worker, budget)
        return RemoteEmbedder(chosen, model, calls, redact_of(settings.redaction), environ)

    embedder = chosen_embedder(settings.embeddings, remote)
    try:
        yield embedder
    finally:
        if embedder is not None:
            await embedder.close()
        await worker.close()
