"""Handlers and clients that misbehave: each costs at most its own request (cases L02, L06, L08, L12)."""

import fcntl
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.e2e.server import Server, frame

MISBEHAVING = [sys.executable, str(Path(__file__).with_name("misbehaving.py"))]


@pytest.mark.req("invariant.only-wire-writes")
def test_prints_and_children_cannot_reach_the_stream(tmp_path: Path) -> None:
    """Case L02: the reader thread asserts that every byte on stdout is a well-formed frame."""
    with Server(tmp_path, command=MISBEHAVING) as server:
        server.initialize()
        assert server.call("test/print") == "printed"
        server.close_stdin()
        assert server.wait_exit() == 0
        for said in (
            "x-from-print",
            "x-from-stdout",
            "x-from-dunder-stdout",
            "y-from-fd-1",
            "z-from-child",
            "z-read-stdin",
        ):
            assert said in server.stderr
        assert b"-from-" not in bytes(server.raw)


def test_a_handler_cannot_end_the_process(tmp_path: Path) -> None:
    with Server(tmp_path, command=MISBEHAVING) as server:
        server.initialize()
        assert server.ask("test/exit")["error"]["code"] == -32603
        assert server.call("afterturn/status")["protocolVersion"] == 1


@pytest.mark.req("errors.deadline")
@pytest.mark.parametrize("method", ["test/blockThread", "test/stubborn"])
def test_what_blocks_is_cancelled_and_does_not_hold_up_the_end(tmp_path: Path, method: str) -> None:
    with Server(tmp_path, command=MISBEHAVING) as server:
        server.initialize()
        blocked = server.post(method)
        assert server.call("afterturn/status")["protocolVersion"] == 1
        server.notify("$/cancelRequest", {"id": blocked})
        assert server.answer(blocked)["error"]["code"] == -32800
        again = server.post(method)
        server.call("afterturn/status")
        server.close_stdin()
        assert server.wait_exit(3.0) == 0
        assert [(m["id"], m["error"]["code"]) for m in server.inbox] == [(again, -32802)]


@pytest.mark.req("lifecycle.exit-in-flight")
def test_exit_answers_what_is_in_flight(tmp_path: Path) -> None:
    with Server(tmp_path, command=MISBEHAVING) as server:
        server.initialize()
        open_ids = [server.post("test/blockThread") for _ in range(3)]
        assert server.call("shutdown") == {}
        server.notify("exit")
        assert server.wait_exit(3.0) == 0
        assert sorted((m["id"], m["error"]["code"]) for m in server.inbox) == [(id, -32802) for id in open_ids]


@pytest.mark.req("framing.too-large")
@pytest.mark.req("framing.no-64k-cliff")
def test_large_messages(tmp_path: Path) -> None:
    """Case L08."""
    with Server(tmp_path) as server:
        server.initialize()
        text = "a line of output, quite ordinary\n" * (20 * 1024 * 1024 // 33)
        batch = {
            "turnIndex": 0,
            "timestamp": 1,
            "toolCalls": [{"toolCallId": "c", "toolName": "bash", "resultText": text}],
        }
        result = server.call("condense/summarize", {"sessionId": "s", "batch": batch})
        assert result["rawChars"] == len(text)
        assert server.call("session/open", {"sessionId": "t"})["sessionId"] == "t"


@pytest.mark.req("framing.too-large")
def test_a_message_over_the_limit(tmp_path: Path) -> None:
    with Server(tmp_path, "--max-message-bytes=100000") as server:
        server.initialize()
        server.send_bytes(b"Content-Length: 5000000\r\n\r\n")
        error = server.answer(None)["error"]  # at once: nothing of the body was sent yet
        assert (error["code"], error["data"]["kind"]) == (-32600, "message_too_large")
        server.send_bytes(b"x" * 5_000_000)
        assert server.call("afterturn/status")["process"]["rssBytes"] < 60 * 1024 * 1024


@pytest.mark.req("framing.bad-header")
def test_nonsense_between_messages(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        for nonsense in (b"nonsense", b"Content-Length: x\r\n\r\n", b'{"jsonrpc":"2.0"}\n', b"\x00\x01\x02"):
            server.send_bytes(nonsense + frame({"jsonrpc": "2.0", "id": 9, "method": "afterturn/status"}))
            assert server.answer(None)["error"]["data"]["kind"] == "bad_header"
            assert "result" in server.answer(9)
        assert server.inbox == []


@pytest.mark.req("invariant.client-not-reading")
def test_a_client_that_does_not_read_is_told_so_and_costs_bounded_memory(tmp_path: Path) -> None:
    """The client asks for 100 MB and reads nothing; the server neither blocks nor grows, and recovers."""
    import os
    import subprocess

    env = {**os.environ, "AFTERTURN_HOME": str(tmp_path)}
    process = subprocess.Popen(
        MISBEHAVING, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    )
    assert process.stdin
    assert process.stdout
    with process:
        fcntl.fcntl(process.stdin, fcntl.F_SETFL, os.O_NONBLOCK)
        requests = frame({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}})
        requests += b"".join(frame({"jsonrpc": "2.0", "id": n, "method": "test/big"}) for n in range(1, 101))
        small = b"".join(frame({"jsonrpc": "2.0", "id": n, "method": "test/big"}) for n in range(101, 2001))
        sent = 0
        peak = 0
        deadline = time.monotonic() + 8
        data = requests + small
        while sent < len(data) and time.monotonic() < deadline:
            try:
                sent += os.write(process.stdin.fileno(), data[sent : sent + 4096])
            except BlockingIOError:
                process.poll()
                peak = max(peak, psutil.Process(process.pid).memory_info().rss)
                import select

                select.select([], [process.stdin], [], 0.2)
        peak = max(peak, psutil.Process(process.pid).memory_info().rss)
        assert peak < 300 * 1024 * 1024
        os.set_blocking(process.stdin.fileno(), True)
        # Now it reads: every request that was sent has exactly one answer, a result or `busy`.
        import json
        import threading

        answers: list = []

        def read() -> None:
            stream = process.stdout
            while head := stream.readline():
                stream.readline()
                answers.append(json.loads(stream.read(int(head.split(b":")[1]))))

        reader = threading.Thread(target=read)
        reader.start()
        process.stdin.write(data[sent:])
        process.stdin.close()
        assert process.wait(30) == 0
        reader.join(30)
        assert sorted(answer["id"] for answer in answers) == list(range(2001))
        kinds = {answer["error"]["data"]["kind"] for answer in answers if "error" in answer}
        assert kinds <= {"busy"}
        assert process.stderr.read() == b""
