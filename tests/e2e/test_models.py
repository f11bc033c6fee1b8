"""Model calls as a client meets them: where data goes, what stays counted, and what never happens unasked."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.server import Server
from tests.e2e.test_capture import finalized

OFFER = {"experimental": {"afterturn": {"sampling": True}}}

WATCHED = """
import os, sys
def watch(event, given):
    if event.startswith("socket.") and not (event == "socket.__new__" and given[1] == 1):
        open(os.environ["NOTED"], "a").write(f"{event} {given[1:]}\\n")
sys.addaudithook(watch)
"""
"""Notes every use of a socket; the event loop's own pair, of the family AF_UNIX, is none."""


def batch(word: str) -> dict[str, Any]:
    text = f"building module {word} of the project, nothing to see here\n" * 40
    call = {"toolCallId": word, "toolName": "bash", "args": {"command": "make"}, "resultText": text}
    return {"turnIndex": 0, "timestamp": 1, "toolCalls": [call]}


def summarize(server: Server, word: str, **options: Any) -> int | str:
    return server.post("condense/summarize", {"sessionId": "s", "batch": batch(word), "options": options})


def asked(server: Server) -> dict[str, Any]:
    return server.take(lambda message: message.get("method") == "sampling/createMessage")


def answer(server: Server, **said: Any) -> None:
    result = {"text": "- [[1:bash]] `make` ended", "stopReason": "stop", "model": "acme/one", **said}
    server.send({"jsonrpc": "2.0", "id": asked(server)["id"], "result": result})


@pytest.mark.parametrize("settings", [{}, {"models": {"provider": "none", "model": "openai/gpt"}}], ids=["none", "off"])
def test_s06_with_nothing_configured_no_socket_is_opened(tmp_path: Path, settings: dict[str, Any]) -> None:
    """Cases S06 and P01: every job works, nothing connects, resolves a name or even makes a socket."""
    recaps = {"experimental": {"afterturn": {"recap": {"canShow": True}}}}
    context = {"messages": [{"role": "user", "content": "mend the build"}, {"role": "assistant", "content": "done"}]}
    noted = tmp_path / "sockets"
    command = [sys.executable, "-c", f"{WATCHED}from afterturn.launch import main\nmain()", "--stdio"]
    with Server(tmp_path / "home", command=command, env={"NOTED": str(noted)}) as server:
        server.initialize(capabilities=recaps, initializationOptions=settings)
        assert server.answer(summarize(server, "one"))["result"]["source"] == "extractive"
        assert server.answer(summarize(server, "two"))["result"]["source"] == "extractive"
        assert server.call("condense/resolveRef", {"sessionId": "s", "refs": ["t1"]})["records"]
        assert server.call("condense/fuse", {"sessionId": "s", "shortIds": ["t1", "t2"]})["source"] == "extractive"
        assert server.call("recap/now", {"sessionId": "s", "context": context})["recap"]["origin"] == "facts"
        server.call("capture/episodeFinalized", finalized("e1"))
        assert server.event("capture.done")["result"]["traces"][0]["vectors"]["summary"]
        found = server.call("traces/search", {"query": "question 0 of e1", "sessionId": "s", "mode": "vector"})
        assert len(found["hits"]) == 1
        assert server.call("afterturn/usage")["total"]["calls"] == 0
        status = server.call("afterturn/status")
        assert status["destinations"] == []
        assert not {"litellm", "openai", "httpx"} & set(status["process"]["loadedModules"])
        server.close_stdin()
        server.wait_exit()
    assert not noted.exists(), noted.read_text()


def test_the_watch_sees_a_socket(tmp_path: Path) -> None:
    noted = tmp_path / "sockets"
    code = f"{WATCHED}import socket\nsocket.socket().close()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20, env={**os.environ, "NOTED": str(noted)})
    assert "socket.__new__" in noted.read_text()


@pytest.mark.req("usage.totals")
def test_usage_is_shared_by_sidecars_and_outlives_them(tmp_path: Path) -> None:
    for calls in (1, 2):
        with Server(tmp_path) as server, Server(tmp_path) as other:
            for each in (server, other):
                each.initialize(capabilities=OFFER)
            id = summarize(server, f"word {calls}")
            answer(server, usage={"inputTokens": 100, "outputTokens": 10, "cost": 0.5})
            assert server.answer(id)["result"]["source"] == "model"
            total = other.call("afterturn/usage")["total"]
            assert total == {
                "model": "acme/one", "inputTokens": 100 * calls, "outputTokens": 10 * calls, "cost": 0.5 * calls,
                "calls": calls,
            }  # fmt: skip
            assert other.call("afterturn/status")["usage"]["today"] == total


def test_a_call_in_flight_is_in_the_queues_figures(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER, initializationOptions={"models": {"concurrency": 1}})
        ids = [summarize(server, "one"), summarize(server, "two")]
        request = asked(server)
        queue = server.call("afterturn/status")["queue"]
        assert queue["modelCalls"] == 1
        assert server.call("afterturn/usage")["total"]["calls"] == 0
        result = {"text": "- [[1:bash]] `make` ended", "stopReason": "stop", "model": "acme/one"}
        server.send({"jsonrpc": "2.0", "id": request["id"], "result": result})
        answer(server)
        assert [server.answer(id)["result"]["source"] for id in ids] == ["model", "model"]
        queue = server.call("afterturn/status")["queue"]
        assert (queue["modelCalls"], queue["modelCallsWaiting"]) == (0, 0)


def test_status_names_every_destination_and_every_job(tmp_path: Path) -> None:
    models = {
        "model": "openai/gpt", "fallbackModel": "anthropic/claude", "apiKeyEnv": "NO_SUCH_KEY",
    }  # fmt: skip
    with Server(tmp_path) as server:
        server.initialize(initializationOptions={"models": models, "capture": {"model": "mistral/small"}})
        status = server.call("afterturn/status")
        assert status["destinations"] == ["openai", "anthropic", "mistral"]
        assert [(each["job"], each["provider"], each["model"]) for each in status["providers"]] == [
            ("condense", "litellm", "openai/gpt"),
            ("recap", "litellm", "openai/gpt"),
            ("capture", "litellm", "mistral/small"),
            ("embeddings", "local", "wordllama-256"),
        ]
        changed = {"models": {"model": "openai/gpt", "apiBase": "https://user:secret@llm.example/v1?key=secret"}}
        server.notify("workspace/didChangeConfiguration", {"settings": {"afterturn": changed}})
        status = server.call("afterturn/status")
        assert status["destinations"] == ["https://llm.example/v1", "anthropic", "mistral"], "each its own"
        assert "secret" not in json.dumps(status)
        changed = {"embeddings": {"provider": "litellm", "model": "bare"}}
        server.notify("workspace/didChangeConfiguration", {"settings": {"afterturn": changed}})
        embeddings = server.call("afterturn/status")["providers"][3]
        assert (embeddings["provider"], embeddings["model"], embeddings["state"]) == ("litellm", "bare", "unavailable")
        assert "embeddings.model" in embeddings["reason"]


def refused(server: Server, id: int | str, limit: int) -> dict[str, Any]:
    """The result of a request whose model calls are all refused; at most `limit` may come."""
    while True:
        message = server.take(lambda m: m.get("id") == id or m.get("method") == "sampling/createMessage")
        if "method" not in message:
            return message["result"]
        limit -= 1
        assert limit >= 0
        error = {"code": -32601, "message": "no such method, key sk-ant-secret"}
        server.send({"jsonrpc": "2.0", "id": message["id"], "error": error})


def test_a_client_that_refuses_again_and_again_is_left_alone(tmp_path: Path) -> None:
    """Case L06: a client that says it samples and never does costs nobody any time."""
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        for number in range(8):
            result = refused(server, summarize(server, f"word {number}"), limit=5 - number)
            assert result["source"] == "extractive"
        condense = server.call("afterturn/status")["providers"][0]
        assert (condense["provider"], condense["state"]) == ("host", "paused")
        assert "secret" not in condense["reason"]
        assert len(server.stderr.splitlines()) == 1
        assert "secret" not in server.stderr


@pytest.mark.req("errors.provider-unavailable")
def test_what_only_a_model_can_answer(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize(initializationOptions={"embeddings": {"provider": "none"}})
        error = server.ask("traces/search", {"query": "any", "sessionId": "s", "mode": "vector"})["error"]
        assert (error["code"], error["data"]["kind"]) == (-32803, "provider_unavailable")


@pytest.mark.req("events.usage-limit")
def test_d01_three_sidecars_share_one_budget(tmp_path: Path) -> None:
    """Case D01: 3,000 tokens a call, 20,000 a day, and 18 batches of three clients; one of them is told, once."""
    settings = {"models": {"dailyTokens": 20_000}}
    with Server(tmp_path) as one, Server(tmp_path) as two, Server(tmp_path) as three:
        servers = (one, two, three)
        for server in servers:
            server.initialize(capabilities=OFFER, initializationOptions=settings)
        sources = []
        for number in range(18):
            server = servers[number % 3]
            id = summarize(server, f"word {number}")
            message = server.take(lambda m, id=id: m.get("id") == id or m.get("method") == "sampling/createMessage")
            if "method" in message:
                usage = {"inputTokens": 2900, "outputTokens": 100}
                result = {"text": "- [[1:bash]] `make` ended", "stopReason": "stop", "model": "a/b", "usage": usage}
                server.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
                message = server.answer(id)
            sources.append(message["result"]["source"])
        calls = sources.count("model")
        assert sources == ["model"] * calls + ["extractive"] * (18 - calls)
        assert 5 <= calls <= 6, "the next one could have passed the limit"
        for server in servers:
            assert server.call("afterturn/usage")["total"]["inputTokens"] == 2900 * calls
            assert server.call("afterturn/status")["usage"]["limits"]["dailyTokens"] == 20_000
        (told,) = [each["params"] for server in servers for each in server.inbox if each["method"] == "usage.limit"]
        assert (told["scope"], told["limit"], told["used"]) == ("dailyTokens", 20_000, 3000 * calls)


def test_a_client_that_answers_twice_and_late(tmp_path: Path) -> None:
    """The first answer counts, and one that comes after the deadline is nobody's."""
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        id = summarize(server, "one")
        request = asked(server)
        for text in ("- [[1:bash]] `make` ended", "- [[1:bash]] `make` failed"):
            result = {"text": text, "stopReason": "stop", "model": "acme/one"}
            server.send({"jsonrpc": "2.0", "id": request["id"], "result": result})
        first = server.answer(id)["result"]
        assert "ended" in first["summaryText"]
        assert server.answer(summarize(server, "one"))["result"] == {**first, "usage": None}
        id = summarize(server, "two", totalTimeoutMs=1500, fallback="none")
        late = asked(server)
        assert server.answer(id)["result"]["outcome"] == "failed"
        assert server.event("$/cancelRequest")["id"] == late["id"]
        result = {"text": "- [[1:bash]] `make` ended", "stopReason": "stop", "model": "acme/one"}
        server.send({"jsonrpc": "2.0", "id": late["id"], "result": result})
        id = summarize(server, "two", fallback="none")
        answer(server, text="- [[1:bash]] `make` did it at last")
        assert "at last" in server.answer(id)["result"]["summaryText"]
        assert server.inbox == []
