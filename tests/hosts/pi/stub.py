"""A program that shakes hands as the sidecar does and then does as it is told: `stub.py BEHAVIOUR HEARD`.

BEHAVIOUR   "rubbish"   answers all with what fits nothing, and sends events of that kind
            "others"    tells of the work of a session that is not the client's, and again of work that is
            "stranger"  speaks a protocol that no client knows
            "mortal"    ends as soon as it is asked anything
            "patient"   answers all with {}
            "absent"    answers all with {}, but nothing about an episode
HEARD       a file that gets the name of each message that was read, a line each
"""

import itertools
import json
import sys
from pathlib import Path
from typing import Any

RUBBISH: list[Any] = [
    None,
    5,
    "text",
    [],
    {"items": 7},
    {"items": [{"toolCallId": "call_1_0", "replacement": 9}], "replacements": 9, "records": 9},
]
EVENTS = ["condense.ready", "recap.ready", "recap.cleared", "capture.started", "capture.done", "capture.failed"]
PAID = {"cost": 7.0}
OTHERS: list[tuple[str, Any]] = [
    ("capture.started", {"jobId": "j", "episodeId": "e", "sessionId": "another"}),
    ("capture.done", {"jobId": "j", "seq": 1, "result": {"sessionId": "another", "usage": PAID}}),
    ("recap.ready", {"recapId": "r", "sessionId": "another", "text": "Not yours.", "save": True, "usage": None}),
]


def read() -> dict[str, Any] | None:
    """The next message; None at the end of the input."""
    length = 0
    while (line := sys.stdin.buffer.readline().strip()) != b"":
        length = int(line.rpartition(b":")[2])
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def write(**message: Any) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def greeting(version: int) -> dict[str, Any]:
    limits = {"maxMessageBytes": 2**26, "maxInFlight": 64}
    afterturn = {"protocolVersion": version, "methods": [], "events": [], "limits": limits}
    return {
        "capabilities": {"experimental": {"afterturn": afterturn}},
        "serverInfo": {"name": "afterturn", "version": "0"},
    }


def main(behaviour: str, heard: Path) -> None:
    rubbish, events = itertools.cycle(RUBBISH), itertools.cycle(EVENTS)
    while message := read():
        with heard.open("a") as file:
            file.write(f"{message.get('method')}\n")
        if message.get("method") == "initialize":
            write(id=message["id"], result=greeting(99 if behaviour == "stranger" else 1))
        elif "id" not in message or "method" not in message:
            continue
        elif behaviour == "mortal":
            sys.exit("cannot go on")
        elif behaviour == "absent" and message["method"] == "capture/episodeFinalized":
            continue
        elif behaviour == "rubbish":
            write(id=message["id"], result=next(rubbish))
            write(method=next(events), params=next(rubbish))
        else:
            write(id=message["id"], result={})
            if behaviour == "others":
                for method, params in OTHERS:
                    write(method=method, params=params)
            if behaviour == "others" and message["method"] == "session/open":
                own = {"sessionId": message["params"]["sessionId"], "usage": PAID}
                write(method="capture.done", params={"jobId": "i", "seq": 2, "replayed": True, "result": own})


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
