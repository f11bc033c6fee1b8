"""Codex: JSON lines (or pretty-printed objects) of `{timestamp, type, payload}`."""

import json
import re
from typing import Any

from afterturn.cli.transcript import Call, Session, SessionBuilder, Turn, epoch_ms, say

from . import jsonseq

_EXIT = re.compile(r"^Process exited with code (-?\d+)$", re.MULTILINE)


def read_codex(text: str) -> list[Session]:
    """The session of one file.

    Only `response_item` lines count: `event_msg` says the same again for the screen. A turn is a run of calls with
    no output between them. A web search has no output in the file and stays unanswered. Tool search, image
    generation and the like are left out.
    """
    lines = list(jsonseq.values(text))
    session_id = next((line["payload"].get("id") for line in lines if line["type"] == "session_meta"), None)
    reader = _Reader(session_id or "codex")
    for line in lines:
        if line["type"] == "response_item":
            reader.item(line["payload"], epoch_ms(line.get("timestamp")))
    return [reader.build.done()]


class _Reader:
    __slots__ = ("_turn", "build")

    def __init__(self, session_id: str) -> None:
        self.build = SessionBuilder(session_id)
        self._turn: Turn | None = None

    def item(self, item: dict[str, Any], stamp: int | None) -> None:
        kind = item["type"]
        if kind == "message":
            words = "\n".join(part.get("text") or "" for part in item["content"])
            if item["role"] == "assistant":
                say(self._current(stamp), words)
            elif item["role"] == "user":
                self._turn = None
                self.build.user(words)
        elif kind == "function_call":
            self._call(item["call_id"], item["name"], _json_or_text(item["arguments"]), stamp)
        elif kind == "custom_tool_call":
            self._call(item["call_id"], item["name"], {"input": item["input"]}, stamp)
        elif kind == "web_search_call":
            self._call(item.get("id") or f"web-search-{stamp}", "web_search", item.get("action"), stamp)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._turn = None
            result, failed = _output(item["output"])
            self.build.result(item["call_id"], result, is_error=failed, timestamp=stamp)

    def _current(self, stamp: int | None) -> Turn:
        if self._turn is None:
            self._turn = self.build.turn(stamp or 0)
        return self._turn

    def _call(self, call_id: str, name: str, args: Any, stamp: int | None) -> None:
        self.build.call(self._current(stamp), Call(call_id, name, args))


def _json_or_text(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def _output(output: Any) -> tuple[str | list[dict[str, Any]], bool]:
    """The text or blocks of an output, and whether it says that the command failed."""
    if isinstance(output, list):
        return [_block(part) for part in output], False
    if isinstance(output, dict):
        return output.get("text") or output.get("output") or output.get("content") or "", False
    unwrapped = _json_or_text(output)
    if isinstance(unwrapped, dict) and isinstance(unwrapped.get("output"), str):
        return unwrapped["output"], bool((unwrapped.get("metadata") or {}).get("exit_code"))
    exited = _EXIT.search(output[:400])
    return output, exited is not None and exited[1] != "0"


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "input_text":
        return {"type": "text", "text": part["text"]}
    if part["type"] == "input_image":
        return {"type": "image", "mimeType": "", "data": part.get("image_url", "")}
    return part
