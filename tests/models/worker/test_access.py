"""Which key goes to which endpoint, and that none goes anywhere else."""

from typing import Any

import pytest

from afterturn.models.access import Access, access_to
from afterturn.models.provider import ProviderFailure
from afterturn.models.worker.messages import Call
from afterturn.models.worker_environment import worker_environment
from afterturn_protocol.settings import ModelsSettings

ENVIRON = {
    "MINE": "my-key",
    "EMPTY": "",
    "LINE": "my-key\r\n",
    "BLANK": " \n",
    "ODD": "my\nkey",
    "BYTES": "my-key\udcff",
    "OPENAI_API_KEY": "openai-key",
    "OPENAI_BASE_URL": "http://elsewhere",
    "OPENAI_API_BASE": "http://elsewhere",
    "ANTHROPIC_API_KEY": "anthropic-key",
    "AWS_PROFILE": "work",
    "AWS_SECRET_ACCESS_KEY": "aws-key",
    "GITHUB_TOKEN": "github-token",
}
HERE = "http://127.0.0.1:8080/v1"


def check(model: str, settings: dict[str, Any], **expected: Any) -> None:
    assert access_to(model, ModelsSettings(**settings), ENVIRON) == Access(**expected)


@pytest.mark.parametrize(
    ("model", "settings", "expected"),
    [
        pytest.param("openai/a", {}, {"credentials": {"OPENAI_API_KEY": "openai-key"}}, id="well-known"),
        pytest.param("bedrock/a", {}, {"credentials": {k: v for k, v in ENVIRON.items() if "AWS" in k}}, id="several"),
        pytest.param("mistral/a", {}, {}, id="well-known-but-not-set"),
        pytest.param("openai/a", {"api_key_env": "MINE"}, {"api_key": "my-key"}, id="named"),
        pytest.param("openai/a", {"api_key_env": "LINE"}, {"api_key": "my-key"}, id="named-line"),
        pytest.param(
            "openai/a",
            {"api_key_env": "MINE", "api_base": HERE, "headers": {"x": "y"}},
            {"api_key": "my-key", "api_base": HERE, "headers": {"x": "y"}},
            id="named-endpoint",
        ),
        pytest.param(
            "openai/a", {"api_base": HERE}, {"api_key": "no-key", "api_base": HERE}, id="no-known-key-elsewhere"
        ),
        pytest.param(
            "anthropic/b",
            {"model": "openai/a", "api_key_env": "MINE", "api_base": HERE, "headers": {"x": "y"}},
            {"credentials": {"ANTHROPIC_API_KEY": "anthropic-key"}},
            id="another-provider",
        ),
        pytest.param(
            "openai/b", {"model": "openai/a", "api_key_env": "MINE"}, {"api_key": "my-key"}, id="same-provider"
        ),
    ],
)
def test_the_access(model: str, settings: dict[str, Any], expected: dict[str, Any]) -> None:
    check(model, settings, **expected)


@pytest.mark.parametrize("name", ["UNSET", "EMPTY", "BLANK", "sk-a-key-in-the-wrong-place"])
def test_a_named_key_that_is_not_there(name: str) -> None:
    with pytest.raises(ProviderFailure) as raised:
        access_to("openai/a", ModelsSettings(api_key_env=name), ENVIRON)
    assert (raised.value.kind, raised.value.called) == ("unavailable", False)
    assert raised.value.message == "the environment variable that models.apiKeyEnv names is not set"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"api_key_env": "ODD"}, "models.apiKeyEnv"),
        ({"api_key_env": "BYTES"}, "models.apiKeyEnv"),
        ({"headers": {"x": "a\nb: c"}}, "models.headers"),
        ({"headers": {"x": "\u043a\u043b\u044e\u0447"}}, "models.headers"),
        ({"headers": {"x": "\ud83d"}}, "models.headers"),
        ({"headers": {"a b": "c"}}, "models.headers"),
        ({"headers": {"": "c"}}, "models.headers"),
    ],
)
def test_what_no_request_can_carry(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(ProviderFailure) as raised:
        access_to("openai/a", ModelsSettings(**settings), ENVIRON)
    assert (raised.value.kind, raised.value.called) == ("unavailable", False)
    assert name in raised.value.message


def test_nothing_that_holds_a_key_shows_it() -> None:
    access = Access(api_key="k1-secret", headers={"h": "k2-secret"}, credentials={"C": "k3-secret"})
    call = Call(
        id=1,
        model="openai/a",
        messages=[("user", "k4-secret")],
        max_tokens=1,
        reasoning_off=True,
        api_key="k1-secret",
        api_base=None,
        headers=access.headers,
        credentials=access.credentials,
        limit_seconds=1,
    )
    assert "secret" not in f"{access} {access!r} {call} {call!r}"


def test_the_environment_of_the_worker() -> None:
    kept = {"PATH": "/bin", "HOME": "/home/x", "https_proxy": "http://p", "SSL_CERT_FILE": "/ca", "LANG": "C"}
    given = worker_environment({**ENVIRON, **kept, "LITELLM_MODE": "DEV", "PYTHONPATH": "/x", "LITELLM_LOG": "DEBUG"})
    assert {name: given[name] for name in kept} == kept
    assert not set(ENVIRON) & set(given)
    assert "PYTHONPATH" not in given
    assert (given["LITELLM_MODE"], given["LITELLM_LOG"]) == ("PRODUCTION", "CRITICAL")
