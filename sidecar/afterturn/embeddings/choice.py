"""From settings to an embedder (models.md, 'Embedders')."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from afterturn.capture.embedder import Embedder
from afterturn_protocol.settings import EmbeddingsSettings

WORDLLAMA = "wordllama-256"
MINILM = "minilm"


class OwnedEmbedder(Embedder, Protocol):
    """An embedder as the one sees it who made it."""

    @property
    def resting(self) -> str | None:
        """Why it is left alone for a while; None where it is not."""
        ...

    async def close(self) -> None:
        """Let go of what it holds (a process). What is embedded afterwards fails."""
        ...


RemoteMaker = Callable[[EmbeddingsSettings, str], OwnedEmbedder]
"""Makes the embedder that asks a provider, of a model named "provider/id"; whoever owns the model worker has it."""


def chosen_model(settings: EmbeddingsSettings) -> str | None:
    """The model that the settings ask for, by its name in `embeddings.model`; None for provider "none".

    Raises ValueError, with a text for a person, for a provider or a model that is not known.
    """
    if settings.provider == "none":
        return None
    if settings.provider == "local":
        model = settings.model or WORDLLAMA
        if model not in (WORDLLAMA, MINILM):
            raise ValueError(f'embeddings.model "{model}" is not a local model; there are "{WORDLLAMA}" and "{MINILM}"')
        return model
    if settings.provider == "litellm":
        if settings.model is None or "/" not in settings.model:
            raise ValueError('embeddings.model is not set, or it is not named "provider/id"')
        return settings.model
    raise ValueError(f'embeddings.provider "{settings.provider}" is not one of "local", "litellm", "none"')


def chosen_embedder(settings: EmbeddingsSettings, remote: RemoteMaker) -> OwnedEmbedder | None:
    """The embedder of `chosen_model`; None where there is none. Nothing is loaded or started yet."""
    model = chosen_model(settings)
    if model is None:
        return None
    if settings.provider == "litellm":
        return remote(settings, model)
    if model == MINILM:
        from afterturn.clock import SystemClock
        from afterturn.embeddings.minilm.embedder import MinilmEmbedder

        return MinilmEmbedder(SystemClock())
    from afterturn.embeddings.local import LocalEmbedder

    return LocalEmbedder()
