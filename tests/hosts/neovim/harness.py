"""What a harness beside Neovim does: it works in a project, captures an episode, drafts a recap."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.server import Server

SESSION = "fix-login"
OUTPUT = "src/auth.py:12: redirect = go\n" + "".join(f"line {number} of the output\n" for number in range(2, 400))
LOOKING = [("I look for it.", "grep -rn redirect", "auth.py"), ("Now the line.", "grep -n redirect auth.py", "12: go")]
SAID = "In src/auth.py, line 12."
RECAP = "You are fixing the login redirect in auth.py."
CONTEXT: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Fix the login redirect in auth.py"},
        {
            "role": "assistant",
            "content": "I look for the redirect.",
            "toolCalls": [{"id": "c1", "name": "bash", "input": {"command": "grep -n redirect auth.py"}}],
        },
        {"role": "tool", "content": "12: go", "toolCallId": "c1", "toolName": "bash"},
    ],
    "model": {"provider": "anthropic", "id": "claude-haiku-5-5"},
}


@contextmanager
def harness(home: Path) -> Iterator[Server]:
    """A harness's sidecar, which it leaves as it should."""
    with Server(home) as server:
        server.initialize(
            capabilities={"experimental": {"afterturn": {"sampling": True, "recap": {"canShow": True}}}},
            initializationOptions={"recap": {"awaySeconds": 5}},
        )
        yield server
        server.call("shutdown")
        server.notify("exit")
        assert server.wait_exit() == 0


def work(home: Path, project: Path, session_id: str = SESSION, second: str = "2 failed") -> None:
    """A session of the project, with the originals t1 and t2, which is `second`."""
    with harness(home) as server:
        server.call("session/open", {"sessionId": session_id, "project": str(project)})
        calls = [_call(1, OUTPUT), _call(2, second, isError=True)]
        batch = {"turnIndex": 1, "timestamp": 1, "toolCalls": calls}
        server.call("condense/onTurnEnd", {"sessionId": session_id, "final": False, "batch": batch})


def capture(home: Path, at_ms: int = 1_767_225_600_000, granularity: str = "turn", said: str = SAID) -> None:
    """An episode of the session with two tool calls, captured. at_ms: when it was, in epoch ms. said: at its end."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": "Where is the login redirect?", "ts": at_ms}]
    for number, (before, command, output) in enumerate(LOOKING, 1):
        call = {"name": "bash", "input": {"command": command}, "output": output, "assistantTextBefore": before}
        turns.append({"role": "assistant", "content": before, "ts": at_ms})
        turns.append({"role": "tool", "ts": at_ms, "meta": {**call, "toolCallId": f"c{number}"}})
    turns.append({"role": "assistant", "content": said, "ts": at_ms})
    with harness(home) as server:
        episode = {"id": "e1", "sessionId": SESSION, "startedAt": at_ms, "turns": turns}
        server.call("capture/episodeFinalized", {"episode": episode, "options": {"granularity": granularity}})
        assert server.call("capture/drain", {"timeoutMs": 20_000}) == {"remaining": 0}


def recap(home: Path) -> None:
    """A recap of the session, drafted by the harness's model while nobody looks, and kept."""
    with harness(home) as server:
        server.call("recap/onTurnEnd", {"sessionId": SESSION, "context": CONTEXT})
        server.call("recap/onFocus", {"sessionId": SESSION, "focused": False})
        asked = server.take(lambda message: message.get("method") == "sampling/createMessage")
        reply = {"text": RECAP, "stopReason": "stop", "model": "anthropic/claude-haiku-5-5"}
        server.send({"jsonrpc": "2.0", "id": asked["id"], "result": reply})
        assert server.event("recap.ready")["text"] == RECAP


def _call(number: int, output: str, **more: Any) -> dict[str, Any]:
    args = {"command": f"grep -n redirect # {number}"}
    return {"toolCallId": f"c{number}", "toolName": "bash", "args": args, "resultText": output, **more}
