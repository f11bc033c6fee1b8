"""From settings to an embedder (models.md, 'Embedders')."""

from __future__ import annotations

from collections.abc import Callable

from afterturn.capture.embedder import Embedder
from afterturn_protocol.settings import EmbeddingsSettings

RemoteMaker = Callable[[EmbeddingsSettings], Embedder]
"""Makes the embedder that asks a provider; it belongs to whoever owns the model worker process."""


def chosen_embedder(settings: EmbeddingsSettings, remote: RemoteMaker | None = None) -> Embedder | None:
    """The embedder that the settings ask for; None for provider "none". Nothing is loaded yet.

    Raises ValueError, with a text for a person, for a provider or a local model that is not known.
    """
    if settings.provider == "none":
        return None
    if settings.provider == "local":
        from afterturn.embeddings.local import MODEL, LocalEmbedder

        if settings.model in (None, MODEL):
            return LocalEmbedder()
        raise ValueError(f'embeddings.model "{settings.model}" is not a local model; there is "{MODEL}"')
    if settings.provider == "litellm" and remote is not None:
        return remote(settings)
    raise ValueError(f'embeddings.provider "{settings.provider}" is not one of "local", "litellm", "none"')
