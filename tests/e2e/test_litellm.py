"""The whole way: client, server, pool, worker, litellm, and a scripted provider at the other end.

One server with one worker is shared, since litellm takes seconds to load: each test has its own words and sessions, and
new settings, which close every breaker. Only what is about the worker's start or end has a server of its own.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.server import PATIENCE_SECONDS, Server
from tests.e2e.test_models import batch
from tests.provider.answers import fails, html, resets, says, stalls
from tests.provider.server import ScriptedProvider
from tests.redact.fakes import KEYS

KEY = "sk-proj-" + "plantedkey0123456789" * 2
BULLET = "- [[1:bash]] `make` ended"
TWELVE = dict(list(KEYS.items())[:12])


class Asked:
    """A server that was told where its provider is."""

    def __init__(self, server: Server, provider: ScriptedProvider) -> None:
        self.server = server
        self.provider = provider

    def configure(self, model: str = "openai/any", **models: Any) -> None:
        """Settings that were not in force before."""
        base = self.provider.anthropic_base if model.startswith("anthropic") else self.provider.openai_base
        settings = {"model": model, "apiBase": base, "apiKeyEnv": "PLANTED_KEY", **models}
        self.server.notify("workspace/didChangeConfiguration", {"settings": {"afterturn": {"models": settings}}})

    def post(self, word: str, session: str = "s", **options: Any) -> int | str:
        """A batch that no other test has, as far as nobody uses the same word."""
        return self.server.post("condense/summarize", {"sessionId": session, "batch": batch(word), "options": options})

    def result(self, id: int | str) -> dict[str, Any]:
        """A result that may have to wait for a worker's start, which takes seconds."""
        return self.server.answer(id, seconds=60)["result"]

    def summarize(self, word: str, session: str = "s", **options: Any) -> dict[str, Any]:
        return self.result(self.post(word, session, **options))


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as one:
        yield one


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    home = tmp_path_factory.mktemp("home")
    env = {"PLANTED_KEY": KEY, "OTHER_KEY": "other-key"}
    with ScriptedProvider() as provider, Server(home, "--log-level=debug", env=env) as server:
        server.initialize()
        yield Asked(server, provider)


@pytest.fixture
def asked(running: Asked) -> Asked:
    running.provider.forget()
    running.configure(headers={"X-Test": "plain"})  # so that the next settings are others, whatever they are
    running.configure()
    running.provider.otherwise = says(BULLET)
    return running


def alone(home: Path, provider: ScriptedProvider, **models: Any) -> Asked:
    server = Server(home, "--log-level=debug", env={"PLANTED_KEY": KEY})
    server.initialize()
    one = Asked(server, provider)
    one.configure(**models)
    return one


@pytest.mark.req("usage.on-replies")
@pytest.mark.parametrize("model", ["openai/any", "anthropic/any"])
def test_bullets_by_a_model_are_paid_for_once(asked: Asked, model: str) -> None:
    server, provider = asked.server, asked.provider
    asked.configure(model)
    before = server.call("afterturn/usage")["byModel"].get(model, {"calls": 0, "inputTokens": 0})
    result = asked.summarize(f"once {model}")
    assert (result["source"], result["usage"]["inputTokens"], result["usage"]["outputTokens"]) == ("model", 11, 7)
    assert asked.summarize(f"once {model}") == {**result, "usage": None}
    assert len(provider.requests) == 1
    after = server.call("afterturn/usage")["byModel"][model]
    assert after["calls"] - before["calls"] == 1
    status = server.call("afterturn/status")
    assert status["destinations"] == [provider.anthropic_base if "anthropic" in model else provider.openai_base]
    assert status["process"]["loadedModules"] == [], "litellm is in no process but the worker"
    assert status["process"]["rssBytes"] < 64 * 2**20


def test_p04_fifty_requests_against_a_wrong_key(asked: Asked) -> None:
    """Cases P04 and S04: at most two calls; the key is in no answer and no log line; a new key is tried."""
    server, provider = asked.server, asked.provider
    provider.otherwise = fails(401, error=f"bad key {KEY}, see https://example.org/?key={KEY}")
    logged = server.stderr.count("stop for now")
    ids = [asked.post(f"wrong {number}", f"session {number % 5}") for number in range(50)]
    answers = [asked.result(id) for id in ids]
    assert {answer["source"] for answer in answers} == {"extractive"}
    assert 1 <= len(provider.requests) <= 2
    status = server.call("afterturn/status")
    assert [each["state"] for each in status["providers"] if each["job"] == "condense"] == ["paused"]
    provider.otherwise = says(BULLET)
    asked.configure()
    assert asked.summarize("same key")["source"] == "extractive", "these settings are no other ones"
    asked.configure(apiKeyEnv="OTHER_KEY")
    assert asked.summarize("new key")["source"] == "model"
    assert provider.requests[-1].key == "other-key"
    assert KEY not in json.dumps([answers, status]) + server.stderr
    assert server.stderr.count("stop for now") == logged + 1


def test_l06_a_provider_that_fails_costs_its_deadline_and_no_more(asked: Asked) -> None:
    """Cases L06 and C02: again and again the answer comes, no connection stays, and nothing of it is used."""
    once = {"totalTimeoutMs": 5000, "idleTimeoutMs": 5000, "fallback": "none", "maxAttempts": 1}
    for name, answer in {"500": fails(500), "reset": resets("middle"), "html": html()}.items():
        asked.provider.otherwise = answer
        result = asked.summarize(f"fault {name}", **once)
        assert (result["outcome"], result["reason"], result["retryable"]) == ("failed", "provider_error", True)
    asked.provider.script(fails(429, retry_after=1))
    asked.provider.otherwise = says(BULLET)
    assert asked.summarize("and then")["source"] == "model"
    assert "Traceback" not in asked.server.stderr


def test_p02_a_provider_that_never_answers(asked: Asked) -> None:
    """Case P02: its deadline each time, and after a few times not even that; no process and no connection stays."""
    assert asked.summarize("before the silence")["source"] == "model"
    (worker,) = psutil.Process(asked.server.process.pid).children(recursive=True)
    connections = len(worker.net_connections("inet"))
    asked.provider.forget()
    asked.provider.otherwise = stalls()
    limits = {"totalTimeoutMs": 1000, "idleTimeoutMs": 1000, "fallback": "none", "maxAttempts": 1}
    results = [asked.summarize(f"silence {number}", **limits) for number in range(8)]
    assert {(result["outcome"], result["retryable"]) for result in results} == {("failed", True)}
    assert len(asked.provider.requests) == 5, "then it is left alone"
    assert results[-1]["retryAfterMs"] > 0
    for request in asked.provider.requests:
        request.wait_gone()
    assert psutil.Process(asked.server.process.pid).children(recursive=True) == [worker], "it never had to be killed"
    assert len(worker.net_connections("inet")) <= connections, "what is kept alive for a next call"
    queue = asked.server.call("afterturn/status")["queue"]
    assert (queue["modelCalls"], queue["modelCallsWaiting"]) == (0, 0)


def test_the_fallback_model_answers_while_the_other_is_down(asked: Asked) -> None:
    asked.provider.otherwise = lambda request: fails(401) if request.body["model"] == "any" else says(BULLET)
    asked.configure(fallbackModel="openai/other")
    for number in range(3):
        result = asked.summarize(f"fallback {number}")
        assert (result["source"], result["usage"]["model"]) == ("model", "openai/other")
    assert [request.body["model"] for request in asked.provider.requests] == ["any", "other", "other", "other"]


def test_cancelling_ends_the_call_at_the_provider(asked: Asked) -> None:
    """That of a call in flight, and that of one that waits, which is never made."""
    asked.provider.otherwise = stalls()
    asked.configure(concurrency=1)
    flying = asked.post("cancelled in flight")
    asked.provider.wait_requests(1)
    waiting = asked.post("cancelled while it waits", "another session")
    assert asked.server.call("afterturn/status")["queue"]["modelCalls"] == 1
    for id in (waiting, flying):
        asked.server.notify("$/cancelRequest", {"id": id})
        assert asked.server.answer(id)["error"]["code"] == -32800
    asked.provider.requests[0].wait_gone()
    # The provider sees the end a moment before the worker's word of it is here.
    deadline = time.monotonic() + PATIENCE_SECONDS
    while asked.server.call("afterturn/status")["queue"]["modelCalls"]:
        assert time.monotonic() < deadline
    assert len(asked.provider.requests) == 1


def test_s04_twelve_kinds_of_keys_come_out_nowhere(asked: Asked, tmp_path: Path) -> None:
    """Case S04: in tool output, arguments, error bodies, replies, headers and `apiBase`, through all of litellm."""
    server, provider = asked.server, asked.provider
    base = provider.openai_base.replace("http://", "http://user:")
    for name, (key, *_) in TWELVE.items():
        models = {"apiBase": f"{base.replace('user:', f'user:{key}@')}", "headers": {"X-Team-Key": key}}
        asked.configure(**models)
        told = f"bad key {{key}}: Authorization: Bearer {key} ?key={key}"
        provider.script(fails(404, error=told), says(f"- [[1:bash]] `make` used {key} and ended"))
        for step in ("fails", "answers"):
            poisoned = batch(f"{name} {step}")
            (call,) = poisoned["toolCalls"]
            call["resultText"] += f"export TOKEN={key}\nAuthorization: Bearer {key}\n{key}\n"
            call["args"] = {"command": f"make TOKEN={key}", "token": key}
            params = {"sessionId": name, "batch": poisoned, "options": {"fallback": "none"}}
            result = asked.result(server.post("condense/summarize", params))
            assert (result["outcome"], result["source"]) == (
                ("failed", "none") if step == "fails" else ("summarized", "model")
            )
            asked.configure()
            asked.configure(**models)
        status = server.call("afterturn/status")
        assert status["destinations"] == [provider.openai_base]
        (tmp_path / "settings.toml").write_text(
            f'[models]\nmodel = "openai/any"\napiBase = "{models["apiBase"]}"\napiKeyEnv = "{key}"\n'
            f'headers = {{ "X-Team-Key" = "{key}" }}\n'
        )
        doctor = [
            subprocess.run(
                [sys.executable, "-I", "-m", "afterturn", "doctor", *more],
                capture_output=True,
                env={"AFTERTURN_HOME": str(tmp_path), "PLANTED_KEY": KEY},
                timeout=30,
            )
            for more in ([], ["--json"])
        ]
        seen = [b"".join([done.stdout, done.stderr]) for done in doctor]
        assert all(provider.openai_base.encode() in each for each in seen)
        seen += [bytes(server.raw), server.stderr.encode(), *(request.content for request in provider.requests)]
        for secret in (key, KEY):
            assert [each for each in seen if secret.encode() in each] == []
    assert len(provider.requests) == 2 * len(TWELVE)


# -- servers of their own


def test_d01_at_the_cap_nothing_is_asked(tmp_path: Path, provider: ScriptedProvider) -> None:
    """Case D01: no request at all, one event, and the work is done without a model."""
    provider.otherwise = says(BULLET)
    one = alone(tmp_path, provider, dailyTokens=100)
    with one.server as server:
        for word in ("one", "two"):
            assert one.summarize(word)["source"] == "extractive"
        assert server.event("usage.limit")["scope"] == "dailyTokens"
        assert provider.requests == []
        assert [message for message in server.inbox if message.get("method") == "usage.limit"] == []
        assert psutil.Process(server.process.pid).children() == [], "no worker was started"


@pytest.mark.parametrize("how", ["eof", "kill"])
def test_no_process_is_left(tmp_path: Path, provider: ScriptedProvider, how: str) -> None:
    """However the server ends, also in the middle of a call, its worker ends with it."""
    provider.otherwise = stalls()
    one = alone(tmp_path, provider)
    with one.server as server:
        one.post("one")
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
