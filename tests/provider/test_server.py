"""The scripted provider by itself: what litellm's way through it does not show."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.provider.answers import fails, says, stalls
from tests.provider.server import ScriptedProvider


def post(provider: ScriptedProvider, path: str, body: Any, seconds: float = 10) -> Any:
    request = urllib.request.Request(provider.url + path, json.dumps(body).encode(), {"x-api-key": "k"})
    with urllib.request.urlopen(request, timeout=seconds) as response:
        return json.loads(response.read())


def test_whole_answers_in_both_formats() -> None:
    with ScriptedProvider() as provider:
        provider.otherwise = lambda request: says(f"to {request.body['model']}")
        chat = post(provider, "/v1/chat/completions", {"model": "a"})
        assert chat["choices"][0]["message"]["content"] == "to a"
        assert chat["usage"] == {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        message = post(provider, "/v1/messages", {"model": "b"})
        assert (message["content"], message["stop_reason"]) == ([{"type": "text", "text": "to b"}], "end_turn")
        assert [(each.dialect, each.key) for each in provider.requests] == [("openai", "k"), ("anthropic", "k")]


def test_the_script_goes_before_otherwise() -> None:
    with ScriptedProvider() as provider:
        provider.script(fails(429, retry_after=3), says("second"))
        with pytest.raises(urllib.error.HTTPError) as raised:
            post(provider, "/v1/messages", {})
        with raised.value as error:
            assert (error.code, error.headers["retry-after"]) == (429, "3")
        assert post(provider, "/v1/messages", {})["content"][0]["text"] == "second"
        assert post(provider, "/v1/messages", {})["content"][0]["text"] == "fine"


def test_a_client_that_leaves_is_noticed() -> None:
    with ScriptedProvider() as provider:
        provider.script(stalls("before"))
        with pytest.raises(TimeoutError):
            post(provider, "/v1/messages", {}, seconds=0.1)
        provider.wait_requests(1)
        provider.requests[0].wait_gone()
        provider.wait_no_connections()
