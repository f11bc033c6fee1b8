"""A store in which a harness has worked: what the editors of these tests read."""

from pathlib import Path
from typing import Any

from tests.e2e.server import Server

SESSION = "fix-login"
OUTPUT = "total 12\n" + "".join(f"row {number}\n" for number in range(1, 60))


def call(number: int, output: str = OUTPUT, **more: Any) -> dict[str, Any]:
    args = {"command": f"ls # {number}"}
    return {"toolCallId": f"call-{number}", "toolName": "bash", "args": args, "resultText": output, **more}


def work(home: Path, project: Path, session_id: str = SESSION, calls: int = 12) -> None:
    """A harness's session with refs t1 to t`calls`, the second of which failed, the third denied, and block b1."""
    with Server(home) as harness:
        harness.initialize()
        harness.call("session/open", {"sessionId": session_id, "project": str(project)})
        done = [call(number) for number in range(1, calls + 1)]
        done[1]["isError"], done[2]["status"] = True, "denied"
        batch = {"turnIndex": 4, "timestamp": 1, "toolCalls": done}
        harness.call("condense/summarize", {"sessionId": session_id, "batch": batch})
        harness.call("condense/fuse", {"sessionId": session_id, "shortIds": ["t1"]})
        harness.call("shutdown")
        harness.notify("exit")
        assert harness.wait_exit() == 0
