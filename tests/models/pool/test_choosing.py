"""Who answers and where data goes, as data; and the host's own provider (models.md, 'Completers', 'host')."""

import asyncio
import math
from typing import Any

import anyio
import msgspec
import pytest

from afterturn.completion import PromptMessage
from afterturn.models.choosing import bare_url, choices, choose, destinations, fallback_of
from afterturn.models.host import HostProvider
from afterturn.models.provider import Prompt, ProviderFailure
from afterturn.models.reported import usage_of
from afterturn.rpc.errors import RequestFailed
from afterturn_protocol.settings import CaptureSettings, CondenseSettings, ModelsSettings, RecapSettings, Settings

HOST = "host: sampling/createMessage"


@pytest.mark.parametrize(
    ("provider", "own", "default", "samples", "chosen", "model", "usable"),
    [
        ("auto", None, None, False, "none", None, False),
        ("auto", None, None, True, "host", None, True),
        ("auto", None, "a/b", True, "host", "a/b", True),
        ("auto", "c/d", "a/b", True, "host", "c/d", True),
        ("auto", None, "a/b", False, "litellm", "a/b", True),
        ("auto", "c/d", None, False, "litellm", "c/d", True),
        ("host", None, "a/b", False, "host", "a/b", False),
        ("host", None, None, True, "host", None, True),
        ("litellm", None, None, True, "litellm", None, False),
        ("litellm", None, "a/b", True, "litellm", "a/b", True),
        ("none", "c/d", "a/b", True, "none", None, False),
    ],
)
def test_choosing(
    provider: str, own: str | None, default: str | None, samples: bool, chosen: str, model: str | None, usable: bool
) -> None:
    choice = choose(ModelsSettings(provider=provider, model=default), own, samples)
    assert (choice.provider, choice.model, choice.usable) == (chosen, model, usable)


@pytest.mark.parametrize(
    ("models", "samples", "expected"),
    [
        ({}, False, []),
        ({"fallback_model": "x/y"}, False, []),
        ({"provider": "none", "model": "a/b"}, True, []),
        ({"provider": "host"}, False, []),
        ({}, True, [HOST]),
        ({"fallback_model": "x/y"}, True, [HOST]),
        ({"model": "openai/gpt"}, False, ["openai"]),
        ({"model": "openai/gpt", "fallback_model": "anthropic/claude"}, False, ["openai", "anthropic"]),
        ({"model": "openai/gpt", "api_base": "http://127.0.0.1:1/v1"}, False, ["http://127.0.0.1:1/v1"]),
        ({"model": "openai/gpt", "api_base": "https://u:p@h/v1?key=k#f"}, False, ["https://h/v1"]),
        ({"model": "a/b", "api_base": "http://h", "fallback_model": "c/d"}, False, ["http://h", "c"]),
        ({"model": "a/b", "api_base": "http://h", "fallback_model": "a/d"}, False, ["http://h"]),
    ],
)
def test_destinations(models: dict[str, Any], samples: bool, expected: list[str]) -> None:
    assert destinations(Settings(models=ModelsSettings(**models)), samples) == expected


def test_each_job_has_its_own_model() -> None:
    settings = Settings(
        models=ModelsSettings(model="a/default"),
        condense=CondenseSettings(model="b/own"),
        recap=RecapSettings(),
        capture=CaptureSettings(enabled=False, model="c/unused"),
    )
    assert {job: choice.model for job, choice in choices(settings, False).items()} == {
        "condense": "b/own", "recap": "a/default", "capture": None,
    }  # fmt: skip
    assert destinations(settings, False) == ["b", "a"]


def test_the_fallback_is_another_model() -> None:
    models = ModelsSettings(model="a/b", fallback_model="a/b")
    assert fallback_of(models, choose(models, None, False)) is None
    assert fallback_of(models, choose(models, "c/d", False)) == "a/b"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h/p", "https://h/p"),
        ("https://u:p@h", "https://h"),
        ("h:1/x?k=v", "h:1/x"),
        ("", ""),
        ("u:p@h/v1", "h/v1"),
        ("https://u:pa/ss@h:1/v1?k", "https://h:1/v1"),
        ("https://u:pa#ss@h/v1", "https://h/v1"),
        ("https://u:p@ss@h/a@b", "https://h/a@b"),
        ("http://[::1]:8080/a@b", "http://[::1]:8080/a@b"),
        ("http://u:p@[::1]/v1?x=a@b", "http://[::1]/v1"),
    ],
)
def test_urls_are_shown_without_secrets(url: str, shown: str) -> None:
    assert bare_url(url) == shown


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        ({"inputTokens": 12, "outputTokens": 3, "cost": 0.5, "calls": 2}, (12, 3, 0.5, 2)),
        ({"inputTokens": 12.0, "outputTokens": 0, "cost": 1}, (12, 0, 1.0, 1)),
        ({"inputTokens": -5, "outputTokens": 1.5, "cost": -1, "calls": -1}, (None, None, None, 1)),
        ({"inputTokens": "12", "outputTokens": True, "cost": "free", "calls": None}, (None, None, None, 1)),
        ({"inputTokens": 10**30, "outputTokens": math.inf, "cost": math.nan}, (None, None, None, 1)),
        ({"cost": 10**400}, (None, None, None, 1)),
        ({}, (None, None, None, 1)),
        (None, (None, None, None, 1)),
        ([], (None, None, None, 1)),
        ("much", (None, None, None, 1)),
    ],
)
def test_reported_usage_is_read_tolerantly(said: Any, figures: tuple[Any, ...]) -> None:
    usage = usage_of("a/b", said)
    assert (usage.input_tokens, usage.output_tokens, usage.cost, usage.calls) == figures
    assert usage.model == "a/b"


# -- the host

PROMPT = Prompt(
    purpose="recap",
    messages=[PromptMessage("system", "be short"), PromptMessage("system", "be true"), PromptMessage("user", "what?")],
    session_id="s",
    max_tokens=256,
    model=None,
    reasoning="off",
    idle_timeout_ms=1000,
    total_timeout_ms=30_000,
)


def host(answer: Any, offered: bool = True) -> tuple[HostProvider, list[Any]]:
    asked: list[Any] = []

    async def ask(method: str, params: Any, seconds: float) -> Any:
        asked.append((method, params))
        if isinstance(answer, Exception):
            raise answer
        return msgspec.Raw(msgspec.json.encode(answer))

    return HostProvider(ask, lambda: offered), asked


def complete(provider: HostProvider, prompt: Prompt = PROMPT) -> Any:
    return asyncio.run(provider.complete(prompt))


@pytest.mark.req("sampling.message")
def test_the_host_is_asked_as_the_protocol_says() -> None:
    """Case C09 at the model's side: there are no tools for a poisoned output to call."""
    provider, asked = host({"text": "Fine.", "stopReason": "stop", "model": "h/m", "usage": {"inputTokens": 12.0}})
    completion = complete(provider)
    ((method, params),) = asked
    assert method == "sampling/createMessage"
    assert msgspec.to_builtins(params) == {
        "purpose": "recap", "system": "be short\n\nbe true", "messages": [{"role": "user", "content": "what?"}],
        "maxTokens": 256, "reasoning": "off", "cache": "none", "sessionId": "s",
    }  # fmt: skip
    assert (completion.text, completion.model, completion.usage.input_tokens) == ("Fine.", "h/m", 12)


@pytest.mark.req("sampling.message", "usage.on-replies")
@pytest.mark.parametrize("usage", [{"inputTokens": -5}, {"inputTokens": 12.5}, {"cost": "x"}, [], "x", 7, None])
def test_odd_usage_does_not_discard_a_paid_reply(usage: Any) -> None:
    provider, _ = host({"text": "Fine.", "stopReason": "stop", "model": "h/m", "usage": usage})
    completion = complete(provider)
    assert (completion.text, completion.usage.input_tokens, completion.usage.cost) == ("Fine.", None, None)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (RequestFailed("provider_unavailable", "the client refused", retryable=True), "refused"),
        ({"text": 5}, "malformed"),
        ({}, "malformed"),
        (None, "malformed"),
        ("text", "malformed"),
        ([1], "malformed"),
    ],
)
def test_a_host_that_fails_is_a_provider_that_fails(answer: Any, kind: str) -> None:
    provider, _ = host(answer)
    with pytest.raises(ProviderFailure) as caught:
        complete(provider)
    assert (caught.value.kind, caught.value.called) == (kind, True)


def test_a_host_that_does_not_offer_is_not_asked() -> None:
    provider, asked = host({}, offered=False)
    with pytest.raises(ProviderFailure) as caught:
        asyncio.run(provider.prepare(PROMPT))
    assert (caught.value.kind, caught.value.called, asked) == ("unavailable", False, [])


def test_a_host_that_does_not_answer_is_cancelled_at_the_deadline() -> None:
    ended: list[str] = []

    async def ask(method: str, params: Any, seconds: float) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(method)

    prompt = msgspec.structs.replace(PROMPT, total_timeout_ms=20)
    with pytest.raises(ProviderFailure) as caught:
        complete(HostProvider(ask, lambda: True), prompt)
    assert (caught.value.kind, ended) == ("timeout", ["sampling/createMessage"])
