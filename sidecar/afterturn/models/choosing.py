"""Who answers model calls under the settings in force, and where data may go (models.md, 'Completers'). Pure."""

import re
from collections.abc import Iterable

from msgspec import Struct

from afterturn_protocol.settings import ModelsSettings, Settings

HOST, LITELLM, NONE = "host", "litellm", "none"

HOST_DESTINATION = "host: sampling/createMessage"


class Choice(Struct, frozen=True):
    """Who answers. provider: "host", "litellm" or "none". model: None where the host chooses, or there is none.

    reason: why a provider that the settings ask for cannot answer; None if it can, or if none is asked for.
    """

    provider: str
    model: str | None
    reason: str | None = None

    @property
    def usable(self) -> bool:
        """Whether a call can be made at all."""
        return self.provider != NONE and self.reason is None


def choose(models: ModelsSettings, model: str | None, host_samples: bool) -> Choice:
    """Who answers a call. model: the job's own, None for `models.model`. host_samples: the client offers sampling."""
    wanted = models.provider
    model = model or models.model
    if wanted == "auto":
        unsampled = NONE if model is None else LITELLM
        wanted = HOST if host_samples else unsampled
    if wanted == NONE:
        return Choice(NONE, None)
    if wanted == HOST:
        return Choice(HOST, model, None if host_samples else "the client does not offer sampling")
    return Choice(LITELLM, model, "no model is set: set models.model" if model is None else None)


def fallback_of(models: ModelsSettings, choice: Choice) -> str | None:
    """The model that is asked while the chosen one is down; None if there is none, or it is the same one."""
    other = models.fallback_model
    return other if choice.usable and other and other != choice.model else None


def settings_are_for(provider: str, models: ModelsSettings) -> bool:
    """Whether `models.apiBase`, `apiKeyEnv` and `headers` are for models of this provider (models/access.py)."""
    return models.model is None or models.model.partition("/")[0] == provider


def destination(models: ModelsSettings, provider: str, model: str | None) -> str:
    """Where one call's data goes: the host, the endpoint of `models.apiBase`, or the model's provider by name."""
    if provider == HOST:
        return HOST_DESTINATION
    name, slash, _ = (model or "").partition("/")
    if models.api_base and settings_are_for(name, models):
        return bare_url(models.api_base)
    return name if slash else f"the provider of {name}"


def destinations(settings: Settings, host_samples: bool) -> list[str]:
    """Every place that model calls may go to, an embedder's too, each once. Empty: nothing leaves this machine."""
    found: list[str] = []
    for choice in choices(settings, host_samples).values():
        if choice.usable:
            for model in (choice.model, fallback_of(settings.models, choice)):
                if model is not None or choice.provider == HOST:
                    found.append(destination(settings.models, choice.provider, model))
    vectors = settings.embeddings
    if vectors.provider == LITELLM and vectors.model:
        found.append(bare_url(vectors.api_base) if vectors.api_base else vectors.model.partition("/")[0])
    return list(dict.fromkeys(found))


def choices(settings: Settings, host_samples: bool) -> dict[str, Choice]:
    """Who answers each job's calls."""
    own: Iterable[tuple[str, bool, str | None]] = (
        ("condense", settings.condense.enabled, settings.condense.model),
        ("recap", True, settings.recap.model),
        ("capture", settings.capture.enabled, settings.capture.model),
    )
    return {
        job: choose(settings.models, model, host_samples) if enabled else Choice(NONE, None)
        for job, enabled, model in own
    }


def bare_url(url: str) -> str:
    """A URL without what may be secret in it: user, password, query and fragment.

    A password may hold, unescaped, what else ends the host; then what looks like the port is no number.
    """
    scheme, mark, rest = url.partition("://") if "://" in url else ("", "", url)
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    _, colon, port = authority.rpartition(":")
    cut_short = colon and not port.isdigit() and "@" not in authority and not authority.endswith("]")
    user = (rest if cut_short else authority).rpartition("@")[0]
    bare = rest[len(user) :].removeprefix("@") if user else rest
    return scheme + mark + re.split("[?#]", bare, maxsplit=1)[0]
