"""Nothing that was acknowledged is lost: kill -9 in the middle, restarts, several processes on one store."""

import random
import signal
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from afterturn.replay.sessions import Session
from afterturn.replay.sessions import sessions as read_sessions
from bench.quality.batches import batches, sessions
from tests.e2e.server import Server

SHIPPED = Path(__file__).parents[2] / "sidecar" / "afterturn" / "cli" / "demo_session" / "session.jsonl"
REAL = {"shipped": read_sessions(SHIPPED)[0]} | {
    f"{each.file}#{each.number}": each.session for each in sessions() if each.session.calls
}


def resolved(server: Server, session_id: str, ref: str) -> str:
    """The whole original, page by page."""
    text, offset = "", 0
    while offset is not None:
        params = {"sessionId": session_id, "refs": [ref], "offset": offset}
        answer = server.call("condense/resolveRef", params)
        assert answer["missing"] == []
        record = answer["records"][0]
        text, offset = text + record["text"], record["nextOffset"]
    return text


def taken_in(server: Server, session_id: str, batch: dict[str, Any], texts: list[str | None]) -> dict[str, str]:
    """Send one batch; the refs it got, with the text each must bring back."""
    result = server.call("condense/summarize", {"sessionId": session_id, "batch": batch})
    return {
        item["shortId"]: text
        for item, text in zip(result["items"], texts, strict=True)
        if item["shortId"] is not None and item["state"] != "recovered" and text is not None
    }


@pytest.mark.req("condense.resolve-survives-crash")
@pytest.mark.parametrize("name", sorted(REAL))
def test_a_real_session_comes_back_after_a_kill(name: str, tmp_path: Path) -> None:
    """Case C01, on the session that ships and on every transcript that lies beside the checkout."""
    session: Session = REAL[name]
    work = list(batches(session))
    known: dict[str, str] = {}
    server = Server(tmp_path)
    try:
        server.initialize()
        for number, batch in enumerate(work):
            if number == len(work) // 2:
                server.post("condense/summarize", {"sessionId": "s", "batch": batch.wire})
                server.process.send_signal(signal.SIGKILL)
                server.__exit__()
                server = Server(tmp_path)
                server.initialize()
            refs = taken_in(server, "s", batch.wire, [call.result_text for call in batch.calls])
            for ref, text in refs.items():
                assert known.setdefault(ref, text) == text, "a ref stands for one text for ever"
        for ref, text in known.items():
            assert resolved(server, "s", ref) == text
    finally:
        server.__exit__()


def small_batch(process: int, number: int) -> dict[str, Any]:
    text = f"process {process} wrote batch {number}\n" * 40
    call = {"toolCallId": f"call-{process}-{number}", "toolName": "bash", "resultText": text}
    return {"turnIndex": number, "timestamp": number, "toolCalls": [call]}


@pytest.mark.req("lifecycle.no-singleton")
def test_six_processes_share_one_store_and_one_session(tmp_path: Path) -> None:
    """Case M10: 6 x 200 batches, half into one common session; no ref lost, none given twice."""
    given: list[tuple[str, str, str]] = []
    problems: list[BaseException] = []

    def work(process: int) -> None:
        try:
            with Server(tmp_path) as server:
                server.initialize()
                for number in range(200):
                    session_id = "common" if number % 2 else f"own {process}"
                    batch = small_batch(process, number)
                    text = batch["toolCalls"][0]["resultText"]
                    for ref in taken_in(server, session_id, batch, [text]):
                        given.append((session_id, ref, text))
                server.close_stdin()
                assert server.wait_exit() == 0
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(process,)) for process in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(given) == 1200
    assert len({(session_id, ref) for session_id, ref, _ in given}) == 1200
    with Server(tmp_path) as server:
        server.initialize()
        for session_id, ref, text in random.Random(0).sample(given, 200):
            assert resolved(server, session_id, ref) == text
        path = server.call("afterturn/status")["store"]["path"]
        server.close_stdin()
        server.wait_exit()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


@pytest.mark.req("invariant.acknowledged-work")
def test_killed_at_any_moment_what_was_answered_is_there(tmp_path: Path) -> None:
    rng = random.Random(7)
    answered: dict[str, str] = {}
    for life in range(6):
        server = Server(tmp_path)
        try:
            server.initialize()
            for number in range(rng.randrange(1, 12)):
                batch = small_batch(life, number)
                answered |= taken_in(server, "s", batch, [batch["toolCalls"][0]["resultText"]])
            for number in range(50, 55):
                server.post("condense/summarize", {"sessionId": "s", "batch": small_batch(life, number)})
            server.process.send_signal(signal.SIGKILL)
        finally:
            server.__exit__()
    with Server(tmp_path) as server:
        server.initialize()
        for ref, text in answered.items():
            assert resolved(server, "s", ref) == text
