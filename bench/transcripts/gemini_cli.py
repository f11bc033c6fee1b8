"""Gemini CLI: one JSON file a chat."""

import json
from typing import Any

from afterturn.cli.transcript import Call, Session, SessionBuilder, epoch_ms, say


def read_gemini_cli(text: str) -> list[Session]:
    """The session of one file. A turn is one `gemini` message; each of its tool calls carries its own result."""
    chat = json.loads(text)
    build = SessionBuilder(chat["sessionId"])
    for message in chat["messages"]:
        if message["type"] == "user":
            build.user(_text(message["content"]))
        elif message["type"] == "gemini":
            turn = build.turn(epoch_ms(message.get("timestamp")) or 0)
            say(turn, _text(message.get("content") or ""))
            for call in message.get("toolCalls") or []:
                build.call(turn, _call(call))
    return [build.done()]


def _call(call: dict[str, Any]) -> Call:
    made = Call(call["id"], call["name"], call.get("args"), is_error=call.get("status") == "error")
    answers = [part["functionResponse"]["response"] for part in call.get("result") or [] if "functionResponse" in part]
    if answers:
        made.result = "\n".join(_answer(answer) for answer in answers)
        made.result_timestamp = epoch_ms(call.get("timestamp"))
    return made


def _answer(response: dict[str, Any]) -> str:
    text = response.get("output", response.get("error"))
    return text if isinstance(text, str) else json.dumps(response, ensure_ascii=False)


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content)
