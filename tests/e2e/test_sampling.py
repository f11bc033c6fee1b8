"""Bullets by the client's own model, over real pipes: asked only if it offers, believed only as far as checked."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.server import Server

OFFER = {"experimental": {"afterturn": {"sampling": True}}}
LOG = (
    "".join(f"compiling module number {n} of the project\n" for n in range(80)) + "src/auth/jwt.ts:142 - error TS2345\n"
)


def batch(call_id: str = "c1", text: str = LOG) -> dict[str, Any]:
    call = {"toolCallId": call_id, "toolName": "bash", "args": {"command": "npm run build"}, "resultText": text}
    return {"turnIndex": 0, "timestamp": 1, "toolCalls": [call]}


def summarize(server: Server, **params: Any) -> int | str:
    return server.post("condense/summarize", {"sessionId": "s", "batch": batch(), **params})


def asked(server: Server) -> dict[str, Any]:
    return server.take(lambda message: message.get("method") == "sampling/createMessage")


def reply(server: Server, request: dict[str, Any], text: str, **more: Any) -> None:
    result = {"text": text, "stopReason": "stop", "model": "fake/one", **more}
    server.send({"jsonrpc": "2.0", "id": request["id"], "result": result})


@pytest.mark.req("sampling.only-declared")
def test_a_client_that_does_not_offer_is_never_asked(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        result = server.answer(summarize(server, options={"model": "a/b"}))["result"]
        assert (result["outcome"], result["source"], result["usage"]) == ("summarized", "extractive", None)
        assert server.inbox == []


@pytest.mark.parametrize("name", ["ghp_abcdefghijklmnopqrstuvwxyz" + "0123456789", "api_key=zzzzYYYYxxxx1111"])
def test_a_tool_that_is_named_after_a_secret_keeps_its_ref(tmp_path: Path, name: str) -> None:
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        call = {"toolCallId": "c1", "toolName": name, "resultText": LOG}
        id = summarize(server, batch={"turnIndex": 0, "timestamp": 1, "toolCalls": [call]})
        request = asked(server)
        prompt = request["params"]["messages"][0]["content"]
        (label,) = (line.partition(" Tool: ")[0] for line in prompt.split("\n") if " Tool: " in line)
        reply(server, request, f"- {label} failed with TS2345")
        result = server.answer(id)["result"]
        assert result["summaryText"].startswith("- `t1` failed with TS2345\n")
        assert name not in prompt + repr(result)


def test_the_models_bullets_are_used(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        id = summarize(server)
        request = asked(server)
        params = request["params"]
        assert (params["purpose"], params["reasoning"], params["cache"]) == ("condense.batch", "off", "none")
        assert params["sessionId"] == "s"
        assert "[[1:bash]] Tool: bash(" in params["messages"][0]["content"]
        usage = {"inputTokens": 10, "outputTokens": 5}
        reply(server, request, "- [[1:bash]] `npm run build` failed: src/auth/jwt.ts:142 TS2345", usage=usage)
        result = server.answer(id)["result"]
        assert (result["outcome"], result["source"]) == ("summarized", "model")
        assert result["usage"] == {"model": "fake/one", "inputTokens": 10, "outputTokens": 5, "cost": None, "calls": 1}
        assert "- `t1` " in result["summaryText"]
        assert "src/auth/jwt.ts:142" in result["summaryText"]
        again = server.answer(summarize(server))["result"]
        assert again == {**result, "usage": None}
        assert server.inbox == []


@pytest.mark.req("errors.model-failure-is-no-error")
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"error": {"code": -1, "message": "no credit, key sk-ant-abc"}}, id="error"),
        pytest.param({"result": {"text": "", "stopReason": "stop", "model": "m"}}, id="empty"),
        pytest.param(
            {"result": {"text": "- [[1:bash]] half of a sen", "stopReason": "length", "model": "m"}}, id="cut"
        ),
        pytest.param({"result": {"text": 5}}, id="no completion"),
        pytest.param({"result": None}, id="null"),
        pytest.param({"result": "text"}, id="a string"),
    ],
)
def test_a_model_that_fails_costs_nothing_but_its_bullets(tmp_path: Path, answer: dict[str, Any]) -> None:
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        id = summarize(server)
        server.send({"jsonrpc": "2.0", "id": asked(server)["id"], **answer})
        # An empty or cut answer may be asked for once more with more room.
        while True:
            message = server.take(lambda m: m.get("id") == id or m.get("method") == "sampling/createMessage")
            if "method" not in message:
                break
            server.send({"jsonrpc": "2.0", "id": message["id"], **answer})
        result = message["result"]
        assert (result["outcome"], result["source"]) == ("summarized", "extractive")
        assert result["warnings"]
        assert "sk-ant" not in str(result)
        assert "TS2345" in result["summaryText"]


def test_cancelling_the_request_cancels_the_models_call(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        id = summarize(server)
        request = asked(server)
        server.notify("$/cancelRequest", {"id": id})
        assert server.answer(id)["error"]["code"] == -32800
        assert server.event("$/cancelRequest")["id"] == request["id"]
        reply(server, request, "- [[1:bash]] too late")
        record = server.call("condense/resolveRef", {"sessionId": "s", "refs": ["t1"]})["records"][0]
        assert record["text"] == LOG, "archived before the model was asked"


def test_an_error_of_null_is_no_error(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        id = summarize(server)
        result = {"text": "- [[1:bash]] `npm run build` failed with TS2345", "stopReason": "stop", "model": "m"}
        server.send({"jsonrpc": "2.0", "id": asked(server)["id"], "result": result, "error": None})
        assert server.answer(id)["result"]["source"] == "model"


def test_a_clean_end_costs_no_attempt(tmp_path: Path) -> None:
    for _ in range(4):
        with Server(tmp_path) as server:
            server.initialize(capabilities=OFFER)
            server.call("session/open", {"sessionId": "s"})
            server.post("condense/onTurnEnd", {"sessionId": "s", "batch": batch(), "final": True})
            asked(server)
            server.close_stdin()
            assert server.wait_exit(4.0) == 0
            assert server.stderr == ""


@pytest.mark.req("errors.deadline")
def test_a_model_that_never_answers(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        id = summarize(server, options={"totalTimeoutMs": 1500, "fallback": "none"})
        request = asked(server)
        result = server.answer(id)["result"]
        assert (result["outcome"], result["retryable"]) == ("failed", True)
        assert server.event("$/cancelRequest")["id"] == request["id"]


@pytest.mark.req("invariant.acknowledged-work")
def test_end_of_file_while_a_model_is_asked(tmp_path: Path) -> None:
    """Case L03: the process goes at once, with code 0 and a quiet stderr, and what it took in is there afterwards."""
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        id = summarize(server)
        asked(server)
        server.close_stdin()
        assert server.wait_exit(3.0) == 0
        assert server.stderr == ""
        assert [m["error"]["code"] for m in server.inbox if m.get("id") == id] == [-32802]
    with Server(tmp_path) as server:
        server.initialize()
        assert server.call("condense/resolveRef", {"sessionId": "s", "refs": ["t1"]})["records"][0]["text"] == LOG


def test_an_episode_that_was_accepted_is_captured_by_the_next_process(tmp_path: Path) -> None:
    """Case L03, the capture: a model that never answers, end of file, and the next start finishes it exactly once."""
    turns = [
        {"role": "user", "content": "fix src/a.py"},
        {"role": "assistant", "content": "Done.", "meta": {"reflection": "The import in src/a.py was circular."}},
    ]
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        accepted = server.call(
            "capture/episodeFinalized", {"episode": {"id": "e1", "sessionId": "s", "startedAt": 1, "turns": turns}}
        )
        assert asked(server)["params"]["purpose"] == "reflection.batch"
        server.close_stdin()
        assert server.wait_exit(3.0) == 0
        assert server.stderr == ""
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER)
        server.call("session/open", {"sessionId": "s"})
        scores = '{"scores":[{"idx":0,"reflection_text":"","alpha":0.8,"usable":true,"reason":"concrete"}]}'
        reply(server, asked(server), scores)
        done = server.event("capture.done")
        assert (done["jobId"], done["result"]["traces"][0]["reflection"]["alpha"]) == (accepted["jobId"], 0.8)
        assert server.call("capture/drain", {"timeoutMs": 5000}) == {"remaining": 0}
        assert len(server.call("events/since", {"seq": 0, "sessionId": "s"})["events"]) == 1
        assert len(server.call("traces/list", {"sessionId": "s"})["traces"]) == 1


def test_what_is_cancelled_while_it_waits_is_never_paid_for(tmp_path: Path) -> None:
    """Case L12: thirty requests for one place at the model, all cancelled: thirty answers, at most one call."""
    with Server(tmp_path) as server:
        server.initialize(capabilities=OFFER, initializationOptions={"models": {"concurrency": 1}})
        ids = [server.post("condense/summarize", {"sessionId": f"s{number}", "batch": batch()}) for number in range(30)]
        first = asked(server)
        for id in ids:
            server.notify("$/cancelRequest", {"id": id})
        assert [server.answer(id)["error"]["code"] for id in ids] == [-32800] * 30
        cancelled = server.take(lambda message: message.get("method") == "$/cancelRequest")
        assert cancelled["params"]["id"] == first["id"]
        served = server.post("condense/summarize", {"sessionId": "next", "batch": batch()})
        reply(server, asked(server), "- [[1:bash]] src/auth/jwt.ts:142 has error TS2345")
        assert server.answer(served)["result"]["source"] == "model"
        assert server.inbox == [], "no other call was made"


@pytest.mark.req("invariant.event-loop-free")
def test_small_requests_overtake_a_large_one(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        server.call("session/open", {"sessionId": "warm"})
        large = server.post("condense/summarize", {"sessionId": "s", "batch": batch(text=LOG * 4000)})
        small = [server.post("session/open", {"sessionId": "warm"}) for _ in range(3)]
        server.answer(large, seconds=60)
        order = [message["id"] for message in server.inbox]
        assert order == small, "the small ones were answered before"
