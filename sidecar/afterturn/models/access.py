"""With what a model is reached: endpoint, key and headers, from the settings and the environment.

Keys come from the environment variable that the settings name, or from the variable that a provider is known for,
and only to the endpoint that they are for (cases S04 to S06):

- `models.apiBase`, `models.apiKeyEnv` and `models.headers` are for the provider of `models.model`. A model of
  another provider, say a fallback, goes to that provider's own endpoint with its own well-known key. Where
  `models.model` is not set they are for every model.
- With an `apiBase` no well-known key is sent: it would go to somebody else's endpoint. Where none is named, the
  call carries NO_KEY, because clients insist on one and servers on the own machine want none.
- Variables that redirect a provider, such as OPENAI_BASE_URL, are never passed on: the settings show every
  destination.
"""

import re
from collections.abc import Mapping

from msgspec import Struct, field

from afterturn.models.choosing import settings_are_for
from afterturn.models.provider import ProviderFailure
from afterturn_protocol.settings import ModelsSettings

NO_KEY = "no-key"
_AWS = (
    "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION AWS_REGION_NAME "
    "AWS_PROFILE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_BEARER_TOKEN_BEDROCK AWS_ROLE_ARN "
    "AWS_WEB_IDENTITY_TOKEN_FILE"
)
WELL_KNOWN: dict[str, str] = {
    "bedrock": _AWS,
    "bedrock_converse": _AWS,
    "sagemaker": _AWS,
    "sagemaker_chat": _AWS,
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT VERTEXAI_PROJECT VERTEXAI_LOCATION",
    "gemini": "GEMINI_API_KEY GOOGLE_API_KEY",
    "huggingface": "HF_TOKEN HUGGINGFACE_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY TOGETHER_API_KEY TOGETHER_AI_API_KEY",
    "fireworks_ai": "FIREWORKS_API_KEY FIREWORKS_AI_API_KEY",
    "perplexity": "PERPLEXITYAI_API_KEY PERPLEXITY_API_KEY",
    "cohere": "COHERE_API_KEY CO_API_KEY",
    "cohere_chat": "COHERE_API_KEY CO_API_KEY",
    "replicate": "REPLICATE_API_KEY REPLICATE_API_TOKEN",
}
"""Where a provider's variables are not simply its name and _API_KEY."""
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Access(Struct, frozen=True, kw_only=True):
    """What goes with a call. credentials: environment variables that litellm looks for itself."""

    api_key: str | None = None
    api_base: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    credentials: dict[str, str] = field(default_factory=dict[str, str])

    def __repr__(self) -> str:
        return f"Access(api_base={self.api_base!r})"  # the other fields hold keys


def access_to(model: str, settings: ModelsSettings, environ: Mapping[str, str], *, section: str = "models") -> Access:
    """The access to "provider/id". Raises ProviderFailure "unavailable" where the named key is not there.

    section: of the settings, for that message.
    """
    provider = model.partition("/")[0]
    if not settings_are_for(provider, settings):
        return Access(credentials=_well_known(provider, environ))
    headers = dict(settings.headers)
    if not all(_HEADER_NAME.fullmatch(name) and _can_be_sent(value) for name, value in headers.items()):
        detail = "models.headers holds a name or a value that no request can carry"
        raise ProviderFailure("unavailable", detail, called=False)
    if settings.api_key_env is not None:
        key = environ.get(settings.api_key_env, "").strip()  # keys that are read from files end in a line break
        # The variable's name is not repeated: people put the key itself there.
        if not key:
            detail = f"the environment variable that {section}.apiKeyEnv names is not set"
            raise ProviderFailure("unavailable", detail, called=False)
        if not _can_be_sent(key):
            detail = f"the environment variable that {section}.apiKeyEnv names holds what no request can carry"
            raise ProviderFailure("unavailable", detail, called=False)
        return Access(api_key=key, api_base=settings.api_base, headers=headers)
    if settings.api_base is not None:
        return Access(api_key=NO_KEY, api_base=settings.api_base, headers=headers)
    return Access(headers=headers, credentials=_well_known(provider, environ))


def _can_be_sent(value: str) -> bool:
    return value.isascii() and value.isprintable()


def _well_known(provider: str, environ: Mapping[str, str]) -> dict[str, str]:
    plain = provider.upper().replace("-", "_").replace(".", "_") + "_API_KEY"
    return {name: environ[name] for name in WELL_KNOWN.get(provider, plain).split() if name in environ}
