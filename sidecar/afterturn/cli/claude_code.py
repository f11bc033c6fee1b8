"""Reads the session files of Claude Code: JSON lines, one API message spread over several of them."""

import json
from typing import Any

import msgspec

from afterturn.cli.transcript import Call, Session, SessionBuilder, Turn, epoch_ms, say


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: str | list[dict[str, Any]] | None = None
    is_error: bool | None = None


class _Message(msgspec.Struct):
    id: str = ""
    content: str | list[_Block] = ""


class _Line(msgspec.Struct, rename="camel"):
    type: str = ""
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    is_meta: bool = False
    is_sidechain: bool = False
    is_compact_summary: bool = False
    message: _Message | None = None


def read_claude_code(text: str) -> list[Session]:
    """The sessions of one file: the main one, and one for each sub-agent whose lines are in it.

    A turn is one API message: its lines share `message.id`, and results may stand between them. Lines that are no
    message (progress, snapshots, titles), meta text and compaction summaries are left out, and so is a line that is
    no JSON: the last line of a session that is still written may be torn.
    """
    chains: dict[str, _Chain] = {}
    for raw in text.split("\n"):  # not splitlines(): a string may hold U+2028 unescaped
        line = _line(raw)
        if line is None or line.message is None:
            continue
        name = line.agent_id or ("sidechain" if line.is_sidechain else "")
        chain = chains.get(name)
        if chain is None:
            session_id = line.session_id or "claude-code"
            chain = chains[name] = _Chain(f"{session_id}/{name}" if name else session_id)
        if line.type == "assistant":
            chain.assistant(line, line.message)
        elif line.type == "user":
            chain.user(line, line.message)
    return [session for chain in chains.values() if (session := chain.builder.done()).turns]


class _Chain:
    __slots__ = ("_turns", "builder")

    def __init__(self, session_id: str) -> None:
        self.builder = SessionBuilder(session_id)
        self._turns: dict[str, Turn] = {}

    def assistant(self, line: _Line, message: _Message) -> None:
        turn = self._turns.get(message.id)
        if turn is None:
            turn = self.builder.turn(epoch_ms(line.timestamp) or 0)
            if message.id:
                self._turns[message.id] = turn
        for block in _blocks(message):
            if block.type == "text":
                say(turn, block.text)
            elif block.type == "tool_use":
                self.builder.call(turn, Call(block.id, block.name, block.input))

    def user(self, line: _Line, message: _Message) -> None:
        for block in _blocks(message):
            if block.type == "tool_result":
                self.builder.result(
                    block.tool_use_id,
                    _result(block.content),
                    is_error=bool(block.is_error),
                    timestamp=epoch_ms(line.timestamp),
                )
            elif block.type == "text" and not (line.is_meta or line.is_compact_summary):
                self.builder.user(block.text)


def _line(raw: str) -> _Line | None:
    if not raw.strip():
        return None
    try:
        return msgspec.convert(json.loads(raw), _Line)
    except (ValueError, msgspec.ValidationError):
        return None


def _blocks(message: _Message) -> list[_Block]:
    if isinstance(message.content, str):
        return [_Block(type="text", text=message.content)]
    return message.content


def _result(content: str | list[dict[str, Any]] | None) -> str | list[dict[str, Any]]:
    if not isinstance(content, list):
        return content or ""
    return [_image(block) if block.get("type") == "image" else block for block in content]


def _image(block: dict[str, Any]) -> dict[str, Any]:
    source: dict[str, Any] = block.get("source") or {}
    return {"type": "image", "mimeType": source.get("media_type", ""), "data": source.get("data", "")}
