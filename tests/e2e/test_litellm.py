"""The whole way: client, server, pool, worker, litellm, and a scripted provider at the other end."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.server import Server
from tests.e2e.test_models import batch
from tests.provider.answers import fails, html, resets, says, stalls
from tests.provider.server import ScriptedProvider

KEY = "sk-proj-" + "plantedkey0123456789" * 2
BULLET = "- [[1:bash]] `make` ended"


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as one:
        yield one


def started(home: Path, provider: ScriptedProvider, model: str = "openai/any", **models: Any) -> Server:
    base = provider.anthropic_base if model.startswith("anthropic") else provider.openai_base
    server = Server(home, "--log-level=debug", env={"PLANTED_KEY": KEY})
    settings = {"model": model, "apiBase": base, "apiKeyEnv": "PLANTED_KEY", **models}
    server.initialize(initializationOptions={"models": settings})
    return server


def result_of(server: Server, id: int | str) -> dict[str, Any]:
    """A result that may have to wait for a worker's start, which takes seconds."""
    return server.answer(id, seconds=60)["result"]


def summarize(server: Server, word: str, session: str = "s", **options: Any) -> int | str:
    return server.post("condense/summarize", {"sessionId": session, "batch": batch(word), "options": options})


@pytest.mark.parametrize("model", ["openai/any", "anthropic/any"])
def test_bullets_by_a_model_are_paid_for_once(tmp_path: Path, provider: ScriptedProvider, model: str) -> None:
    provider.otherwise = says(BULLET)
    with started(tmp_path, provider, model) as server:
        result = result_of(server, summarize(server, "one"))
        assert (result["source"], result["usage"]["inputTokens"], result["usage"]["outputTokens"]) == ("model", 11, 7)
        assert result_of(server, summarize(server, "one")) == {**result, "usage": None}
        assert len(provider.requests) == 1
        total = server.call("afterturn/usage")["total"]
        assert (total["inputTokens"], total["outputTokens"], total["calls"]) == (11, 7, 1)
        status = server.call("afterturn/status")
        assert status["destinations"] == [provider.anthropic_base if "anthropic" in model else provider.openai_base]
        assert status["process"]["loadedModules"] == [], "litellm is in no process but the worker"


def test_p04_fifty_requests_against_a_wrong_key(tmp_path: Path, provider: ScriptedProvider) -> None:
    """Cases P04 and S04: at most two calls; the key is in no answer and no log line; a new key is tried."""
    provider.otherwise = fails(401, error=f"bad key {KEY}, see https://example.org/?key={KEY}")
    with started(tmp_path, provider) as server:
        ids = [summarize(server, f"word {number}", f"session {number % 5}") for number in range(50)]
        answers = [result_of(server, id) for id in ids]
        assert {answer["source"] for answer in answers} == {"extractive"}
        assert 1 <= len(provider.requests) <= 2
        status = server.call("afterturn/status")
        assert [each["state"] for each in status["providers"] if each["job"] == "condense"] == ["paused"]
        provider.otherwise = says(BULLET)
        models = {"model": "openai/any", "apiBase": provider.openai_base, "apiKeyEnv": "HOME"}
        server.notify("workspace/didChangeConfiguration", {"settings": {"afterturn": {"models": models}}})
        assert result_of(server, summarize(server, "another"))["source"] == "model"
        assert KEY not in json.dumps([answers, status]) + server.stderr
        assert len([line for line in server.stderr.splitlines() if "stop for now" in line]) == 1


def test_l06_a_provider_that_fails_costs_its_deadline_and_no_more(tmp_path: Path, provider: ScriptedProvider) -> None:
    """Cases L06, P02 and C02: again and again the answer comes, no connection stays, and nothing of it is used."""
    provider.otherwise = says(BULLET)
    with started(tmp_path, provider) as server:
        assert result_of(server, summarize(server, "warm"))["source"] == "model"
        for name, answer in {"500": fails(500), "reset": resets(), "html": html(), "stall": stalls()}.items():
            provider.otherwise = answer
            options = {"totalTimeoutMs": 700, "idleTimeoutMs": 700, "fallback": "none", "maxAttempts": 1}
            result = result_of(server, summarize(server, name, **options))
            assert (result["outcome"], result["reason"], result["retryable"]) == ("failed", "provider_error", True)
        provider.script(fails(429, retry_after=1))
        provider.otherwise = says(BULLET)
        assert result_of(server, summarize(server, "and then"))["source"] == "model"
        assert "Traceback" not in server.stderr


def test_the_fallback_model_answers_while_the_other_is_down(tmp_path: Path, provider: ScriptedProvider) -> None:
    provider.otherwise = lambda request: fails(401) if request.body["model"] == "any" else says(BULLET)
    with started(tmp_path, provider, fallbackModel="openai/other") as server:
        for word in ("one", "two", "three"):
            result = result_of(server, summarize(server, word))
            assert (result["source"], result["usage"]["model"]) == ("model", "openai/other")
        assert [request.body["model"] for request in provider.requests] == ["any", "other", "other", "other"]


def test_d01_at_the_cap_nothing_is_asked(tmp_path: Path, provider: ScriptedProvider) -> None:
    """Case D01: no request at all, one event, and the work is done without a model."""
    provider.otherwise = says(BULLET)
    with started(tmp_path, provider, dailyTokens=100) as server:
        for word in ("one", "two"):
            assert result_of(server, summarize(server, word))["source"] == "extractive"
        assert server.event("usage.limit")["scope"] == "dailyTokens"
        assert provider.requests == []
        assert [message for message in server.inbox if message.get("method") == "usage.limit"] == []
        assert psutil.Process(server.process.pid).children() == [], "no worker was started"


def test_cancelling_ends_the_call_at_the_provider(tmp_path: Path, provider: ScriptedProvider) -> None:
    provider.otherwise = stalls()
    with started(tmp_path, provider) as server:
        id = summarize(server, "one")
        provider.wait_requests(1, 60)
        server.notify("$/cancelRequest", {"id": id})
        assert server.answer(id)["error"]["code"] == -32800
        provider.requests[0].wait_gone()


@pytest.mark.parametrize("how", ["eof", "kill"])
def test_no_process_is_left(tmp_path: Path, provider: ScriptedProvider, how: str) -> None:
    """However the server ends, also in the middle of a call, its worker ends with it."""
    provider.otherwise = stalls()
    with started(tmp_path, provider) as server:
        summarize(server, "one")
        provider.wait_requests(1, 60)
        workers = psutil.Process(server.process.pid).children(recursive=True)
        assert workers
        if how == "eof":
            server.close_stdin()
        else:
            server.process.kill()
        server.wait_exit(10.0)
        _, left = psutil.wait_procs(workers, timeout=10)
        assert left == []
        provider.requests[0].wait_gone()
