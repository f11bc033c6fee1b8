"""The server that a replay talks to: what is needed of its client, and the settings it runs under."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from afterturn.models.choosing import LITELLM, NONE, choices
from afterturn.recap.policy import policy_of
from afterturn.redact.by_settings import redact_of
from afterturn.text import clean
from afterturn_protocol.settings import Settings


class ServerFailed(Exception):
    """The server ended, or does not speak the protocol."""


class RequestRefused(ServerFailed):
    """The server answered a request with an error. kind: of the error, where it has one (protocol.md)."""

    def __init__(self, said: str, kind: str | None = None) -> None:
        super().__init__(said)
        self.kind = kind


class Server(Protocol):
    """A connection to a server that is initialized. Everything raises ServerFailed where the server is gone."""

    def ask(self, method: str, params: Any) -> Any:
        """The result of one request. Raises RequestRefused."""
        ...

    def notify(self, method: str, params: Any) -> None:
        """Tell the server something."""
        ...

    def event(self, seconds: float) -> tuple[str, Any] | None:
        """The oldest event that was not taken, as method and params; None where none comes in time."""
        ...


def replay_settings(settings: Settings, *, model: bool, raw: bool, vectors: bool) -> dict[str, Any]:
    """The user's own settings as a replay needs them, complete, so that nothing else in force shows through.

    model: may ask the configured model; otherwise no network and no key is used, embedders included. raw: originals
    are kept as they came, not redacted. vectors: traces are to be found by meaning later, so they need some.
    The store's place stays the user's; a replay that keeps nothing has another one (`elsewhere`).
    """
    tree: dict[str, Any] = msgspec.to_builtins(settings)
    tree["condense"]["enabled"] = tree["capture"]["enabled"] = True
    tree["capture"]["resultDetail"] = "full"
    tree["capture"]["embedTraces"] = vectors and tree["capture"]["embedTraces"]
    tree["store"]["raw"] = raw
    if not model:
        tree["models"]["provider"] = NONE
        if tree["embeddings"]["provider"] == LITELLM:
            tree["embeddings"] = {"provider": NONE}
    return tree


def redacting(settings: Settings) -> Callable[[str], str]:
    """What takes secrets out of a text, by the user's own rules."""
    redact = redact_of(settings.redaction)
    return lambda text: redact(text)[0]


def readable(settings: Settings) -> Callable[[str], str]:
    """What makes a text one for people: as a terminal would have left it, and then without secrets.

    In this order: a secret that colours or invisible marks part in two is whole again once they are gone.
    """
    redact = redacting(settings)
    return lambda text: redact(clean(text))


def away_ms(settings: Settings) -> int:
    """The pause after which a server with these settings drafts a recap."""
    return policy_of(settings.recap, None).away_ms


def elsewhere(tree: dict[str, Any], store: str) -> dict[str, Any]:
    """The settings with another store, which is one file."""
    return {**tree, "store": {**tree["store"], "path": store, "url": None}}


def has_model(settings: Settings) -> bool:
    """Whether any job has a model to ask."""
    return any(choice.usable for choice in choices(settings, host_samples=False).values())
