"""Capture over real pipes: what was acknowledged is finished once, whatever is killed (capture.md, 'Durability')."""

import json
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.server import Server

OFFER = {"experimental": {"afterturn": {"sampling": True}}}
EMBED_NOTHING = {"embeddings": {"provider": "none"}}


def episode(id: str, steps: int = 1, session: str = "s") -> dict[str, Any]:
    """An episode whose steps each bring a reflection."""
    turns: list[dict[str, Any]] = []
    for number in range(steps):
        ts = 1000 + 2 * number
        reflection = f"I chose way {number} of {id}"
        turns.append({"role": "user", "ts": ts, "content": f"question {number} of {id}"})
        turns.append(
            {
                "role": "assistant",
                "ts": ts + 1,
                "content": f"answer {number} of {id}",
                "meta": {"reflection": reflection},
            }
        )
    return {"id": id, "sessionId": session, "startedAt": 1, "turns": turns}


def finalized(id: str, steps: int = 1, session: str = "s", **options: Any) -> dict[str, Any]:
    return {"episode": episode(id, steps, session), **({"options": options} if options else {})}


def begin(server: Server, *, offers: bool = False, **settings: Any) -> None:
    options = {**EMBED_NOTHING, **settings}
    server.initialize(capabilities=OFFER if offers else {}, initializationOptions=options)


def is_call(message: dict[str, Any]) -> bool:
    return message.get("method") == "sampling/createMessage"


def is_end(message: dict[str, Any]) -> bool:
    return message.get("method") in ("capture.done", "capture.failed")


def reply(server: Server, request: dict[str, Any], text: str) -> None:
    result = {"text": text, "stopReason": "stop", "model": "fake/one", "usage": {"inputTokens": 10, "outputTokens": 5}}
    server.send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def scored(alpha: float = 0.7) -> str:
    return json.dumps({"alpha": alpha, "usable": True, "reason": "clear"})


def traces(server: Server, **which: Any) -> list[dict[str, Any]]:
    return server.call("traces/list", {"limit": 500, **which})["traces"]


def events(server: Server, session: str = "s") -> list[dict[str, Any]]:
    return server.call("events/since", {"seq": 0, "sessionId": session})["events"]


@pytest.mark.req("ordering.event-after-answer")
def test_an_episode_over_the_wire(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        server.call("session/open", {"sessionId": "s", "project": "/p"})
        id = server.post("capture/episodeFinalized", finalized("e1", 2))
        order = [server.take(lambda m: True) for _ in range(3)]
        assert order[0]["id"] == id
        assert [message["method"] for message in order[1:]] == ["capture.started", "capture.done"]
        answer, started, done = order[0]["result"], order[1]["params"], order[2]["params"]
        assert answer["jobId"] == started["jobId"] == done["jobId"]
        result = done["result"]
        assert [trace["userText"] for trace in result["traces"]] == ["question 0 of e1", "question 1 of e1"]
        assert {trace["project"] for trace in result["traces"]} == {"/p"}
        assert all(trace["vectors"]["summary"] and trace["vectors"]["action"] for trace in result["traces"])
        assert traces(server, episodeId="e1") == result["traces"]
        hit = server.call("traces/search", {"query": "question 1 of e1", "sessionId": "s", "mode": "vector"})["hits"][0]
        assert hit["trace"]["traceId"] == result["traceIds"][1]
        server.close_stdin()
        assert server.wait_exit() == 0
        assert server.inbox == []


@pytest.mark.req("capture.on-disk", "invariant.acknowledged-work")
def test_what_was_answered_is_there_after_a_kill_and_done_after_the_first_event(tmp_path: Path) -> None:
    """Case M03. The model of the first process never answers, so that its job cannot be done before the kill."""
    with Server(tmp_path) as server:
        begin(server, offers=True)
        answer = server.call("capture/episodeFinalized", finalized("e1", 3))
        server.process.send_signal(signal.SIGKILL)
    with Server(tmp_path) as server:
        begin(server, offers=True)
        assert server.call("capture/status", {"episodeId": "e1"})["state"] in ("queued", "running")
        server.call("afterturn/status")
        assert traces(server, sessionId="s") == []
        assert server.inbox == []
        server.call("session/open", {"sessionId": "other"})
        assert server.event("capture.started")["jobId"] == answer["jobId"]
        while is_call(message := server.take(lambda m: is_call(m) or is_end(m))):
            reply(server, message, scored())
        done = message["params"]
        assert (done["jobId"], len(done["result"]["traces"])) == (answer["jobId"], 3)
        assert [event["seq"] for event in events(server)] == [done["seq"]]


HOST_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("session/open", {"sessionId": "s"}),
    ("session/open", {"sessionId": "s"}),
    ("session/open", {"sessionId": "another"}),
    ("condense/plan", {"sessionId": "s"}),
    ("recap/onFocus", {"sessionId": "s", "focused": True}),
    ("capture/drain", {}),
]


def test_what_a_killed_process_left_is_taken_up_by_an_idle_one_after_any_call(tmp_path: Path) -> None:
    """The first call finds a fresh process; each further one a process that has found nothing to do, and sleeps."""
    with Server(tmp_path) as server:
        begin(server, offers=True)
        for number, (method, params) in enumerate(HOST_CALLS):
            with Server(tmp_path) as other:
                begin(other, offers=True)
                left = other.call("capture/episodeFinalized", finalized(f"e{number}", session="theirs"))
                other.process.send_signal(signal.SIGKILL)
                other.process.wait()
            if method.startswith("recap/"):
                server.notify(method, params)
            else:
                server.call(method, params)
            while is_call(message := server.take(lambda m: is_call(m) or is_end(m))):
                reply(server, message, scored())
            assert (message["method"], message["params"]["jobId"]) == ("capture.done", left["jobId"])


def test_start_up_with_unfinished_jobs_opens_no_socket_and_calls_no_model(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        begin(server, offers=True)
        ids = [server.post("capture/episodeFinalized", finalized(f"e{number}")) for number in range(200)]
        assert {server.answer(id)["result"]["status"] for id in ids} == {"accepted"}
        server.process.send_signal(signal.SIGKILL)
    with Server(tmp_path) as server:
        begin(server, offers=True)
        for _ in range(3):
            server.call("afterturn/status")
            assert server.call("capture/status", {"episodeId": "e0"})["state"] in ("queued", "running")
        process = psutil.Process(server.process.pid)
        assert process.net_connections() == []
        assert process.children() == []
        assert server.inbox == []
        server.notify("session/changed", {"sessionId": "s", "kind": "message"})
        request = server.take(is_call)
        assert "of e199" in json.dumps(request["params"]) or "of e198" in json.dumps(request["params"])


POINTS = [
    "posted",
    "answered",
    "started",
    *(f"{moment} {number}" for number in (1, 2, 3, 4, 5, 6, 7, 8) for moment in ("asked", "replied")),
    "done",
]
STEPS = 8


class Life:
    """One process of a host: it answers every call of the model, and dies at a point, or sees the job's end."""

    def __init__(self, home: Path, dies_at: str | None) -> None:
        self.paid: list[str] = []
        self.ended: list[str] = []
        self._dies_at = dies_at
        self._calls = 0
        settings = {"capture": {"batchMode": "per_step", "llmConcurrency": 1}, "models": {"concurrency": 1}}
        with Server(home) as server:
            begin(server, offers=True, **settings)
            id = server.post("capture/episodeFinalized", finalized("e1", STEPS))
            if self._killed(server, "posted"):
                return
            answer = server.answer(id)["result"]
            assert answer["status"] in ("accepted", "duplicate", "done")
            if self._killed(server, "answered"):
                return
            while not self.ended:
                message = server.take(lambda m: is_call(m) or is_end(m) or m.get("method") == "capture.started")
                if self._meets(server, message):
                    return
            if answer["status"] != "done":
                self.ended += [message["params"]["jobId"] for message in server.inbox if is_end(message)]

    def _meets(self, server: Server, message: dict[str, Any]) -> bool:
        """Do what a message asks for; whether the process is dead now."""
        if message["method"] == "capture.started":
            return self._killed(server, "started")
        if is_end(message):
            self.ended.append(message["params"]["jobId"])
            return self._killed(server, "done")
        self._calls += 1
        if self._killed(server, f"asked {self._calls}"):
            return True
        self.paid.append(json.dumps(message["params"]["messages"]))
        reply(server, message, scored())
        return self._killed(server, f"replied {self._calls}")

    def _killed(self, server: Server, point: str) -> bool:
        if point == self._dies_at:
            server.process.send_signal(signal.SIGKILL)
            return True
        return False


@pytest.mark.req("events.one-end", "invariant.acknowledged-work")
@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_point_and_started_again(tmp_path: Path, point: str) -> None:
    """Case M03: every step scored once, one terminal event a job, no row twice."""
    first, second = Life(tmp_path, point), Life(tmp_path, None)
    # A reply that is on its way when the process dies may not have reached it.
    lost = 1 if point.startswith("replied") else 0
    paid = Counter(first.paid + second.paid)
    assert len(paid) == STEPS
    assert paid.total() <= STEPS + lost
    with Server(tmp_path) as server:
        begin(server)
        ended = events(server)
        assert len(ended) == 1
        assert ended[0]["method"] == "capture.done"
        assert set(first.ended + second.ended) == {ended[0]["params"]["jobId"]}
        rows = traces(server, sessionId="s")
        assert sorted(row["stepIndex"] for row in rows) == list(range(STEPS))
        assert {row["reflection"]["alpha"] for row in rows} == {0.7}
        again = server.call("capture/episodeFinalized", finalized("e1", STEPS))
        assert again["status"] == "done"
        assert server.event("capture.done")["replayed"] is True
        assert len(traces(server, sessionId="s")) == STEPS


@pytest.mark.req("lifecycle.no-singleton")
def test_six_processes_share_one_store(tmp_path: Path) -> None:
    """Case M10: half of the episodes in one session of all; each captured once. The full 1,200: `bench.capture`."""
    each = 25
    problems: list[BaseException] = []
    told: list[str] = []

    def work(process: int) -> None:
        try:
            with Server(tmp_path) as server:
                begin(server)
                for number in range(each):
                    session = "common" if number % 2 else f"own {process}"
                    server.call("capture/episodeFinalized", finalized(f"e{process}-{number}", 2, session))
                assert server.call("capture/drain", {"timeoutMs": 20_000})["remaining"] == 0
                server.close_stdin()
                assert server.wait_exit() == 0
                told.extend(m["params"]["jobId"] for m in server.inbox if m.get("method") == "capture.started")
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(process,)) for process in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(told) == len(set(told)) == 6 * each
    with Server(tmp_path) as server:
        begin(server)
        page = server.call("events/since", {"seq": 0, "project": "*", "limit": 1000})
        assert sorted(event["params"]["jobId"] for event in page["events"]) == sorted(told)
        rows = traces(server, project="*")
        assert len(rows) == len({row["traceId"] for row in rows}) == 12 * each
        path = server.call("afterturn/status")["store"]["path"]
        server.close_stdin()
        server.wait_exit()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


REPLIES = [
    "",
    "The reflections are good.",
    '{"scores": [',
    '{"scores": []}',
    '{"scores": [{"idx": 0}, {"idx": 0}, {"idx": 7}]}',
    '{"scores": [{"idx": number, "alpha": number}]}',
    "[]",
    "null",
    '{"alpha": "high", "usable": "perhaps"}',
    "\\ud83d{{{{{{",
    "<think>" * 50,
]


def test_no_reply_of_a_model_loses_a_trace(tmp_path: Path) -> None:
    """Case M06: in one call for all steps, and then in the calls for single ones."""
    with Server(tmp_path) as server:
        begin(server, offers=True)
        for number, text in enumerate(REPLIES):
            server.call("capture/episodeFinalized", finalized(f"e{number}", 3))
            while True:
                message = server.take(lambda m: is_call(m) or is_end(m))
                if is_end(message):
                    break
                reply(server, message, text)
            assert message["method"] == "capture.done", text
            result = message["params"]["result"]
            assert [trace["reflection"]["text"] for trace in result["traces"]] == [
                f"I chose way {step} of e{number}" for step in range(3)
            ]
            assert {trace["reflection"]["alpha"] for trace in result["traces"]} == {0.5}
            assert {warning["code"] for warning in result["warnings"]} <= {"llm_output_malformed", "llm_unavailable"}
            assert result["warnings"]


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param({"error": {"code": -1, "message": "no credit"}}, id="an error"),
        pytest.param({"result": {"text": 5}}, id="no completion"),
        pytest.param({"result": None}, id="null"),
    ],
)
def test_a_model_that_refuses_costs_the_scores_only(tmp_path: Path, refusal: dict[str, Any]) -> None:
    with Server(tmp_path) as server:
        begin(server, offers=True)
        server.call("capture/episodeFinalized", finalized("e1", 2))
        while True:
            message = server.take(lambda m: is_call(m) or is_end(m), 60)
            if is_end(message):
                break
            server.send({"jsonrpc": "2.0", "id": message["id"], **refusal})
        assert message["method"] == "capture.done"
        assert [trace["reflection"]["alpha"] for trace in message["params"]["result"]["traces"]] == [0.5, 0.5]


@pytest.mark.req("events.outbox", "events.since")
def test_another_client_of_the_session_is_told_too(tmp_path: Path) -> None:
    with Server(tmp_path) as one, Server(tmp_path) as two:
        begin(one)
        begin(two)
        two.call("session/open", {"sessionId": "s"})
        # Its own capture shows that it has begun to look out for others'.
        two.call("capture/episodeFinalized", finalized("mine"))
        assert two.event("capture.done")["result"]["episodeId"] == "mine"
        one.call("capture/episodeFinalized", finalized("e1"))
        # It may hear of what ended a moment before it used the session, too.
        done = one.take(lambda m: is_end(m) and m["params"]["result"]["episodeId"] == "e1")["params"]
        assert two.event("capture.done") == done
        assert [event["params"] for event in events(two)][1:] == [done]


@pytest.mark.req("traces.delete")
def test_deleting_a_session_ends_its_jobs_after_the_answer(tmp_path: Path) -> None:
    """Case M14."""
    with Server(tmp_path) as server:
        begin(server, offers=True)
        jobs = [server.call("capture/episodeFinalized", finalized(f"e{n}"))["jobId"] for n in range(3)]
        call = server.take(is_call)
        id = server.post("session/delete", {"sessionId": "s"})
        order: list[dict[str, Any]] = []
        while len(order) < 4:
            order.append(server.take(lambda m: m.get("id") == id or is_end(m)))
        assert order[0]["result"] == {"deleted": {"results": 0, "traces": 0, "recaps": 0}}
        assert sorted(message["params"]["jobId"] for message in order[1:]) == sorted(jobs)
        assert {message["params"]["error"]["code"] for message in order[1:]} == {"deleted"}
        assert server.take(lambda m: m.get("method") == "$/cancelRequest" and m["params"]["id"] == call["id"])
        assert server.ask("capture/status", {"episodeId": "e0"})["error"]["data"]["kind"] == "unknown_job"
        assert server.call("capture/episodeFinalized", finalized("e0"))["status"] == "accepted"


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(lambda server: server.close_stdin(), id="eof"),
        pytest.param(lambda server: server.process.send_signal(signal.SIGTERM), id="sigterm"),
    ],
)
def test_the_end_of_the_process_gives_its_jobs_back(tmp_path: Path, ending: Callable[[Server], None]) -> None:
    """Another takes them up at once, and none was an attempt."""
    with Server(tmp_path) as server:
        begin(server, offers=True)
        for number in range(3):
            server.call("capture/episodeFinalized", finalized(f"e{number}"))
        server.take(is_call)
        ending(server)
        assert server.wait_exit(2) in (0, 143)
    with Server(tmp_path) as server:
        begin(server, offers=True)
        assert server.call("capture/status", {"episodeId": "e0"})["attempts"] == 0
        assert server.call("capture/episodeFinalized", finalized("e0"))["status"] == "duplicate"
        done: set[str] = set()
        while len(done) < 3:
            message = server.take(lambda m: is_call(m) or is_end(m))
            if is_call(message):
                reply(server, message, scored())
            else:
                done.add(message["params"]["result"]["episodeId"])
        assert done == {"e0", "e1", "e2"}


def test_condensing_goes_before_capture(tmp_path: Path) -> None:
    """Case P06: 30 episodes wait, and six calls of two of them; the next is the batch's. Nothing fails for waiting."""
    log = "".join(f"compiling module number {n} of the project\n" for n in range(80)) + "src/a.ts:1 - error TS2345\n"
    with Server(tmp_path) as server:
        begin(server, offers=True, models={"concurrency": 2}, capture={"batchMode": "per_step"})
        for number in range(30):
            server.call("capture/episodeFinalized", finalized(f"e{number}", 4))
        calls = [server.take(is_call), server.take(is_call)]
        batch = {
            "turnIndex": 0,
            "timestamp": 1,
            "toolCalls": [{"toolCallId": "c1", "toolName": "bash", "resultText": log}],
        }
        id = server.post("condense/summarize", {"sessionId": "s", "batch": batch})
        while server.call("afterturn/status")["queue"]["modelCallsWaiting"] < 7:
            pass
        assert not any(is_call(message) for message in server.inbox)
        reply(server, calls[0], scored())
        third = server.take(is_call)
        assert third["params"]["purpose"] == "condense.batch"
        reply(server, third, "- [[1:bash]] src/a.ts:1 failed with TS2345")
        answered = False
        ends: list[dict[str, Any]] = []
        reply(server, calls[1], scored())
        while len(ends) < 30 or not answered:
            message = server.take(lambda m: is_call(m) or is_end(m) or m.get("id") == id)
            if is_call(message):
                reply(server, message, scored())
            elif is_end(message):
                ends.append(message)
            else:
                answered = True
        assert {message["method"] for message in ends} == {"capture.done"}


def test_what_another_sidecar_ends_right_after_the_session_was_opened_is_told(tmp_path: Path) -> None:
    with Server(tmp_path) as one, Server(tmp_path) as two:
        begin(one)
        one.call("session/open", {"sessionId": "s"})
        begin(two)
        two.call("session/open", {"sessionId": "s"})
        one.call("capture/episodeFinalized", finalized("e1"))
        assert one.event("capture.done")["result"]["episodeId"] == "e1"
        assert two.event("capture.done")["result"]["episodeId"] == "e1"


def test_an_embedder_that_cannot_be_had_costs_vectors_only(tmp_path: Path) -> None:
    """Case M09: said in the result and in the status; words find it meanwhile."""
    with Server(tmp_path) as server:
        begin(server, embeddings={"provider": "local", "model": "no-such-model"})
        server.call("capture/episodeFinalized", finalized("e1"))
        result = server.event("capture.done")["result"]
        assert [warning["code"] for warning in result["warnings"]] == ["embedding_failed"]
        assert "no-such-model" in json.dumps(result["warnings"])
        assert server.call("afterturn/status")["queue"] == {
            "requests": 1,
            "batches": 0,
            "captureJobs": 0,
            "pendingEmbeddings": 1,
            "modelCalls": 0,
            "modelCallsWaiting": 0,
        }
        while not (hits := server.call("traces/search", {"query": "question 0", "sessionId": "s"})["hits"]):
            pass
        assert hits[0]["trace"]["traceId"] == result["traceIds"][0]
        refused = server.ask("traces/search", {"query": "question 0", "sessionId": "s", "mode": "vector"})["error"]
        assert (refused["data"]["kind"], refused["data"]["retryable"]) == ("provider_unavailable", False)
    with Server(tmp_path) as server:
        begin(server, embeddings={"provider": "local", "model": "no-such-model"})
        assert server.call("afterturn/status")["queue"]["pendingEmbeddings"] == 1, "what an earlier process left"


def test_turning_capture_off_leaves_what_waits(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        begin(server, offers=True)
        for number in range(4):
            server.call("capture/episodeFinalized", finalized(f"e{number}"))
        calls = [server.take(is_call), server.take(is_call)]
        off = {"afterturn": {**EMBED_NOTHING, "capture": {"enabled": False}}}
        server.notify("workspace/didChangeConfiguration", {"settings": off})
        assert server.call("capture/episodeFinalized", finalized("e9"))["reason"] == "disabled"
        for call in calls:
            reply(server, call, json.dumps({"scores": [{"idx": 0, "alpha": 0.5, "usable": True, "reason": "r"}]}))
        for _ in calls:
            while is_call(message := server.take(lambda m: is_call(m) or is_end(m))):
                reply(server, message, scored())
        assert server.call("capture/drain")["remaining"] == 2
        server.notify("workspace/didChangeConfiguration", {"settings": {"afterturn": EMBED_NOTHING}})
        assert server.call("capture/episodeFinalized", finalized("e9"))["status"] == "accepted"
        ended: set[str] = set()
        while len(ended) < 3:
            message = server.take(lambda m: is_call(m) or is_end(m))
            if is_call(message):
                reply(server, message, scored())
            else:
                ended.add(message["params"]["result"]["episodeId"])
        assert len(ended) == 3
