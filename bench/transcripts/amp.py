"""Amp: one JSON file a thread."""

import json
from typing import Any

from afterturn.cli.transcript import Call, Session, SessionBuilder, epoch_ms, say


def read_amp(text: str) -> list[Session]:
    """The session of one thread. A turn is one assistant message; results come in user messages."""
    thread = json.loads(text)
    build = SessionBuilder(thread["id"])
    for message in thread["messages"]:
        if message["role"] == "assistant":
            _assistant(build, message)
        elif message["role"] == "user":
            _user(build, message)
    return [build.done()]


def _assistant(build: SessionBuilder, message: dict[str, Any]) -> None:
    usage: dict[str, Any] = message.get("usage") or {}
    turn = build.turn(epoch_ms(usage.get("timestamp")) or 0)
    for block in message["content"]:
        if block["type"] == "text":
            say(turn, block["text"])
        elif block["type"] == "tool_use":
            build.call(turn, Call(block["id"], block["name"], block["input"]))


def _user(build: SessionBuilder, message: dict[str, Any]) -> None:
    for block in message["content"]:
        if block["type"] == "text":
            build.user(block["text"])
        elif block["type"] == "tool_result":
            run = block["run"]
            failed = run["status"] == "error"
            result = _text(run.get("error") if failed else run.get("result"))
            build.result(block["toolUseID"], result, is_error=failed, timestamp=None)


def _text(result: Any) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        for field in ("content", "output", "message"):
            if isinstance(result.get(field), str):
                return result[field]
    return json.dumps(result, ensure_ascii=False)
