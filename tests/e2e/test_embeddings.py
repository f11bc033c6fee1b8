"""Vectors by a provider, over real pipes, with real litellm and a scripted server (models.md, 'Embedders')."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.server import Server
from tests.provider.answers import Answer, embeds, fails
from tests.provider.server import ProviderRequest, ScriptedProvider

KEY = "key-of-the-test"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def settings(provider: ScriptedProvider) -> dict[str, Any]:
    chosen = {"provider": "litellm", "model": "openai/any", "apiBase": provider.openai_base, "apiKeyEnv": "PLANTED_KEY"}
    return {"embeddings": chosen}


def meaning(request: ProviderRequest) -> Answer:
    """Texts about cats point one way, all others another one."""
    return embeds(*((1, 0, 0) if "cat" in text else (0, 1, 0) for text in request.body["input"]))


def capture(server: Server, id: str, question: str) -> dict[str, Any]:
    turns = [
        {"role": "user", "ts": 1, "content": question},
        {"role": "assistant", "ts": 2, "content": f"done with {id}", "meta": {"reflection": f"because of {id}"}},
    ]
    server.call("capture/episodeFinalized", {"episode": {"id": id, "sessionId": "s", "startedAt": 1, "turns": turns}})
    return server.event("capture.done")["result"]


@pytest.mark.req("status.destinations")
def test_traces_are_embedded_and_found_by_a_provider_that_status_names(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Server(tmp_path, env={"PLANTED_KEY": KEY}) as server:
        provider.otherwise = meaning
        server.initialize(initializationOptions=settings(provider))
        assert server.call("afterturn/status")["destinations"] == [provider.openai_base]
        assert provider.requests == []
        capture(server, "e1", f"feed the cat with {SECRET}")
        traces = capture(server, "e2", "paint the fence")["traces"]
        assert traces[0]["vectors"] == {"summary": True, "action": True, "model": "openai/any", "dimension": 3}
        search = {"query": "a cat is hungry", "mode": "vector", "vector": "summary", "sessionId": "s"}
        hits = server.call("traces/search", search)["hits"]
        assert hits[0]["trace"]["episodeId"] == "e1"
        sent = [text for request in provider.requests for text in request.body["input"]]
        assert any(text.startswith("feed the cat with") for text in sent)
        assert SECRET not in json.dumps(sent)
        assert {request.key for request in provider.requests} == {KEY}
        used = server.call("afterturn/usage")["byPurpose"]
        calls = len(provider.requests)
        # The scripted provider tells of 5 tokens for each call, and no price of this model is known.
        assert used == {
            "embedding": {
                "model": "openai/any",
                "inputTokens": 5 * calls,
                "outputTokens": 0,
                "cachedTokens": 0,
                "cost": None,
                "calls": calls,
            }
        }
        assert server.call("afterturn/status")["process"]["loadedModules"] in ([], ["numpy"])
        server.close_stdin()
        assert server.wait_exit() == 0


def test_at_the_limit_no_vectors_are_bought_and_words_still_find(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Server(tmp_path, env={"PLANTED_KEY": KEY}) as server:
        provider.otherwise = meaning
        server.initialize(initializationOptions=settings(provider) | {"models": {"dailyTokens": 0}})
        result = capture(server, "e1", "feed the cat")
        assert [warning["stage"] for warning in result["warnings"]] == ["embed"]
        assert "models.dailyTokens" in json.dumps(result["warnings"])
        search = {"query": "cat", "sessionId": "s"}
        while not (hits := server.call("traces/search", search)["hits"]):
            pass
        assert hits[0]["trace"]["episodeId"] == "e1"
        refused = server.ask("traces/search", search | {"mode": "vector"})["error"]
        assert refused["data"]["kind"] == "budget_exceeded"
        assert server.call("afterturn/usage")["total"]["calls"] == 0
    assert provider.requests == []


@pytest.mark.parametrize(("status", "state"), [(500, "ready"), (401, "paused")])
def test_a_provider_that_is_down_costs_vectors_only_and_reembed_makes_them(
    tmp_path: Path, status: int, state: str
) -> None:
    with ScriptedProvider() as provider:
        provider.otherwise = fails(status)
        with Server(tmp_path, env={"PLANTED_KEY": KEY}) as server:
            server.initialize(initializationOptions=settings(provider))
            result = capture(server, "e1", "feed the cat")
            assert result["traces"][0]["vectors"]["summary"] is False
            assert [warning["stage"] for warning in result["warnings"]] == ["embed"]
            assert len(server.call("traces/list", {"sessionId": "s"})["traces"]) == 1
            embeddings = server.call("afterturn/status")["providers"][-1]
            assert (embeddings["job"], embeddings["state"]) == ("embeddings", state)
        provider.otherwise = meaning
        env = {
            "AFTERTURN_HOME": str(tmp_path),
            "AFTERTURN_SETTINGS": json.dumps(settings(provider)),
            "PLANTED_KEY": KEY,
        }
        done = subprocess.run(
            [sys.executable, "-I", "-W", "error", "-m", "afterturn", "reembed"],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, **env},
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines() == [
            "openai/any: 0 current, 0 stale, 1 missing",
            "1 traces have new vectors; 0 stale, 0 missing",
        ]
