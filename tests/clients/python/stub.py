"""A server that misbehaves, in the way that its first argument names. Run with `python stub.py MODE`."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

HELLO = {
    "capabilities": {
        "experimental": {
            "afterturn": {
                "protocolVersion": 1,
                "methods": [],
                "events": [],
                "limits": {"maxMessageBytes": 1_000_000, "maxInFlight": 8},
            }
        }
    },
    "serverInfo": {"name": "stub", "version": "0"},
}
STATUS_ERROR = {"code": -32803, "message": "no", "data": {"kind": "busy", "retryable": True, "retryAfterMs": 5}}


def messages() -> Iterator[dict[str, Any]]:
    while header := sys.stdin.buffer.readline():
        sys.stdin.buffer.readline()
        yield json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))


def write(body: bytes, length: int | None = None) -> None:
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body) if length is None else length, body))
    sys.stdout.buffer.flush()


def send(**fields: Any) -> None:
    write(json.dumps({"jsonrpc": "2.0", **fields}).encode())


def say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def answer(mode: str, message: dict[str, Any]) -> None:
    """One request after `initialize`."""
    id = message["id"]
    if mode == "crash":
        say("cannot go on: disk on fire\n")
        os._exit(9)
    elif mode == "flood":
        say("noise\n" * 200_000)
        send(id=id, result={"batches": 1})
    elif mode == "double":
        send(id=id, result={"batches": 1})
        send(id=id, result={"batches": 2})
        send(id=id, error=STATUS_ERROR)
        send(id="call-999", result={})
    elif mode == "short-length":
        write(json.dumps({"jsonrpc": "2.0", "id": id, "result": {}}).encode(), 9)
    elif mode == "long-length":
        write(json.dumps({"jsonrpc": "2.0", "id": id, "result": {}}).encode(), 5000)
    elif mode == "huge-length":
        write(b"{}", 10**12)
    elif mode == "no-json":
        write(b"this is no message")
    elif mode == "stray-print":
        sys.stdout.write("loading the model ...\n")
        sys.stdout.flush()
        send(id=id, result={"batches": 1})
    elif mode == "closed-output":
        os.close(1)
    elif mode == "orphan":
        say(str(subprocess.Popen(["sleep", "30"]).pid))
        os._exit(4)
    elif mode == "same-id":
        for _ in range(2):
            send(id="q", method="host/getContext", params={"sessionId": "s"})
        send(id=id, result={"batches": 1})
    elif mode == "asks":
        send(id=f"about {id}", method="host/getContext", params={"sessionId": "s"})
    elif mode == "misfit":
        send(id=id, result={"batches": "many"})
    elif mode == "neither":
        send(id=id)
    elif mode == "error":
        send(id=id, error=STATUS_ERROR)
    elif mode != "hang":
        send(id=id, result={"batches": 1})


def serve(mode: str) -> None:
    cancelled: list[Any] = []
    for message in messages():
        if "method" not in message:
            asked = str(message["id"]).removeprefix("about ")
            if mode == "asks":
                send(id=asked, result={"batches": -message["error"]["code"]})
            continue
        if message["method"] == "initialize":
            if mode == "other-version":
                data = {"kind": "protocol_version", "retryable": False, "supported": [7]}
                send(id=message["id"], error={"code": -32803, "message": "no", "data": data})
            else:
                send(id=message["id"], result=HELLO)
        elif message["method"] == "$/cancelRequest":
            cancelled.append(message["params"]["id"])
            if mode == "late":
                send(id=message["params"]["id"], result={"batches": 3})
        elif message["method"] == "condense/plan":
            send(
                id=message["id"], result={"replacements": [], "summaries": [], "blocks": [], "planHash": str(cancelled)}
            )
        elif mode == "late" and "id" in message:
            continue
        elif message["method"] == "exit" and mode not in ("stubborn", "hang"):
            return
        elif mode == "deaf":
            time.sleep(3600)
        elif "id" in message:
            answer(mode, message)


def main(mode: str) -> None:
    if mode == "crash-at-start":
        say("Traceback: no module named afterturn\n")
        sys.exit(3)
    if mode == "mute":
        time.sleep(3600)
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(mode)
    while mode == "stubborn":
        time.sleep(3600)


if __name__ == "__main__":
    main(sys.argv[1])
