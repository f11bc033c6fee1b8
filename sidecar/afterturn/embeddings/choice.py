"""From settings to an embedder (models.md, 'Embedders')."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from afterturn.capture.embedder import Embedder
from afterturn_protocol.settings import EmbeddingsSettings

MINILM = "minilm"


class OwnedEmbedder(Embedder, Protocol):
    """An embedder as the one sees it who made it."""

    async def close(self) -> None:
        """Let go of what it holds (a process). What is embedded afterwards fails."""
        ...


RemoteMaker = Callable[[EmbeddingsSettings, str], OwnedEmbedder]
"""Makes the embedder that asks a provider, of a model named "provider/id"; whoever owns the model worker has it."""


def chosen_embedder(settings: EmbeddingsSettings, remote: RemoteMaker | None = None) -> OwnedEmbedder | None:
    """The embedder that the settings ask for; None for provider "none". Nothing is loaded or started yet.

    Raises ValueError, with a text for a person, for a provider or a model that is not known.
    """
    if settings.provider == "none":
        return None
    if settings.provider == "local":
        return _local(settings.model)
    if settings.provider == "litellm":
        if settings.model is None or "/" not in settings.model:
            raise ValueError('embeddings.model is not set, or it is not named "provider/id"')
        if remote is not None:
            return remote(settings, settings.model)
    raise ValueError(f'embeddings.provider "{settings.provider}" is not one of "local", "litellm", "none"')


def _local(model: str | None) -> OwnedEmbedder:
    from afterturn.embeddings.local import MODEL, LocalEmbedder

    if model in (None, MODEL):
        return LocalEmbedder()
    if model == MINILM:
        from afterturn.clock import SystemClock
        from afterturn.embeddings.minilm.embedder import MinilmEmbedder

        return MinilmEmbedder(SystemClock())
    raise ValueError(f'embeddings.model "{model}" is not a local model; there are "{MODEL}" and "{MINILM}"')
