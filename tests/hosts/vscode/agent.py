"""An agent's harness at work in the folder, as afterturn hears of it: what VS Code then finds in the same store."""

import json
from pathlib import Path
from typing import Any

from tests.e2e.server import Server

ASKED = "sampling/createMessage"
ALPHA = 0.62
SESSION = "terminal/1"  # an id may hold anything
OLDER_SESSION = "terminal/0"
OLDER_LOG = "an older run\n"
LOG = "".join(f"tests/test_cart.py::test_total[{number}] PASSED\n" for number in range(1500)) + "1500 passed in 3.21s\n"


class Agent:
    """One harness on the store `home`, in one session of the project `folder`. Its model scores every reflection."""

    def __init__(self, home: Path, folder: Path, session: str) -> None:
        self._session = session
        self._server = Server(home)
        offers = {"experimental": {"afterturn": {"sampling": True}}}
        self._server.initialize(capabilities=offers, initializationOptions={"condense": {"minBatchChars": 0}})
        self._server.call("session/open", {"sessionId": session, "project": str(folder)})

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.call("shutdown")
        self._server.notify("exit")
        assert self._server.wait_exit() == 0
        self._server.__exit__(*exc)

    def condense(self, log: str = LOG) -> str:
        """A turn with one tool call, whose result is `log`; gives the ref that stands for it."""
        call = {"toolCallId": "c1", "toolName": "bash", "args": {"command": "pytest -q"}, "resultText": log}
        batch = {"turnIndex": 0, "timestamp": 1000, "userText": "Do the tests pass?", "toolCalls": [call]}
        turn = {"sessionId": self._session, "batch": batch, "final": True, "stopReason": "stop"}
        self._server.call("condense/onTurnEnd", turn)
        self._serve("condense.ready")
        return "t1"

    def finish(self, episode_id: str, asked: str, said: str, *, at_ms: int) -> None:
        """A piece of work that is done: one tool call, an answer, and a reflection."""
        before = "I look at where it rounds."
        call = {"name": "edit", "input": {"path": "cart.py"}, "output": "1 line changed", "assistantTextBefore": before}
        reflected = {"reflection": "I changed the one line that rounds, for the tests name it."}
        turns: list[dict[str, Any]] = [
            {"role": "user", "ts": at_ms, "content": asked},
            {"role": "assistant", "ts": at_ms + 1, "content": before},
            {"role": "tool", "ts": at_ms + 2, "meta": call},
            {"role": "assistant", "ts": at_ms + 3, "content": said, "meta": reflected},
        ]
        episode = {"id": episode_id, "sessionId": self._session, "startedAt": at_ms, "turns": turns}
        self._server.call("capture/episodeFinalized", {"episode": episode})
        self._serve("capture.done")

    def _serve(self, end: str) -> None:
        """Answer as the host's model until this event comes."""
        while (message := self._server.take(lambda each: each.get("method") in (end, ASKED)))["method"] == ASKED:
            self._server.send({"jsonrpc": "2.0", "id": message["id"], "result": _completion(message["params"])})


def _completion(asked: dict[str, Any]) -> dict[str, Any]:
    scored = json.dumps({"alpha": ALPHA, "usable": True, "reason": "it names its ground"})
    text = scored if asked["purpose"].startswith("reflection") else "- `pytest -q`: 1500 tests passed in 3.21 s [t1]"
    return {"text": text, "stopReason": "stop", "model": "fake/one", "usage": {"inputTokens": 10, "outputTokens": 5}}
