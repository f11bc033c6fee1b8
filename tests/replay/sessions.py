"""Hand-made sessions: pi's format, which needs the fewest words, and a run of the command on it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

START_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z."""


class PiSession:
    """Lines of a session file of pi, version 1, at times that only go forward."""

    def __init__(self, session_id: str = "hand-made", cwd: str = "/home/someone/project") -> None:
        self._at = START_MS
        self._calls = 0
        self.lines: list[dict[str, Any]] = [
            {
                "type": "session",
                "id": session_id,
                "timestamp": self._stamp(),
                "cwd": cwd,
                "modelId": "m",
                "provider": "p",
            }
        ]

    def later(self, seconds: int) -> "PiSession":
        """Time passes."""
        self._at += seconds * 1000
        return self

    def user(self, text: str) -> "PiSession":
        """A request."""
        return self._message({"role": "user", "content": [{"type": "text", "text": text}]})

    def says(self, text: str, stop_reason: str = "stop") -> "PiSession":
        """A reply without calls."""
        return self._message(
            {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": stop_reason}
        )

    def calls(self, *calls: tuple[str, dict[str, Any], str | None]) -> "PiSession":
        """A turn that makes calls: tool, args, and the result, None for one that never came."""
        ids = [f"call-{self._calls + number}" for number in range(len(calls))]
        self._calls += len(calls)
        blocks = [
            {"type": "toolCall", "id": id_, "name": name, "arguments": args}
            for id_, (name, args, _) in zip(ids, calls, strict=True)
        ]
        self._message({"role": "assistant", "content": blocks, "stopReason": "toolUse"})
        for id_, (name, _, result) in zip(ids, calls, strict=True):
            if result is not None:
                content = [{"type": "text", "text": result}]
                self._message(
                    {
                        "role": "toolResult",
                        "toolCallId": id_,
                        "toolName": name,
                        "content": content,
                        "isError": result.startswith("Error"),
                    }
                )
        return self

    def compaction(self) -> "PiSession":
        """The harness makes a summary."""
        self.lines.append({"type": "compaction", "timestamp": self._stamp(), "summary": "so far", "tokensBefore": 9000})
        return self

    def write(self, file: Path) -> Path:
        """The file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(line) + "\n" for line in self.lines), "utf-8")
        return file

    def _message(self, message: dict[str, Any]) -> "PiSession":
        self.later(1)
        message = {**message, "timestamp": self._at}
        self.lines.append({"type": "message", "timestamp": self._stamp(), "message": message})
        return self

    def _stamp(self) -> str:
        from datetime import UTC, datetime

        return datetime.fromtimestamp(self._at / 1000, UTC).isoformat().replace("+00:00", "Z")


def log(name: str, lines: int = 200) -> str:
    """A result that is worth condensing; another one for each name."""
    return "\n".join(
        f"{name} line {number}: checked src/{name}/part_{number}.py, nothing found" for number in range(lines)
    )


def replay(home: Path, *args: str | Path, **env: str) -> "subprocess.CompletedProcess[str]":
    """`afterturn replay` as a person runs it, with a home of its own and a folder for what is temporary."""
    temporary = home / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", "replay", *map(str, args)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        env={**os.environ, "AFTERTURN_HOME": str(home / "home"), "TMPDIR": str(temporary), "TZ": "UTC", **env},
    )


def left_behind(home: Path) -> list[str]:
    """The files below a home that a replay had."""
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


def two_requests() -> PiSession:
    """Two requests with a pause of an hour between them, five calls, of which one failed and one has no answer."""
    session = (
        PiSession()
        .user("Please make the parser faster")
        .calls(("read", {"path": "src/parser.py"}, log("parser")), ("bash", {"command": "make"}, "Error: no rule"))
    )
    session.calls(("read", {"path": "src/lexer.py"}, log("lexer"))).says("The lexer is slow. Shall I change it?")
    session.later(3600).user("Yes, do that").calls(("read", {"path": "src/lexer.py"}, log("again")))
    return session.calls(("edit", {"path": "src/lexer.py"}, None)).says("Done.")


def found(home: Path, *args: str | Path, **env: str) -> list[dict[str, Any]]:
    done = replay(home, *args, "--json", **env)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]
