"""Codex: rollouts, JSON lines (or pretty-printed objects) of `{timestamp, type, payload}`."""

import re
from collections.abc import Iterator
from typing import Any, cast

from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say, think
from afterturn.replay.importers.fields import epoch_ms, obj, objects, optional, parsed, prose, text
from afterturn.replay.json_values import values
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event, Turn

HARNESS = "codex"
_LINES = frozenset(("session_meta", "response_item", "turn_context", "event_msg", "compacted", "world_state"))
_EXIT = re.compile(r"(?:\AExit code: |^Process exited with code )(-?\d+)$", re.MULTILINE)
_EXIT_WITHIN = 400
"""Chars: the exit code stands in the lines that Codex puts before an output."""


def recognises(value: Any) -> bool:
    line = obj(value)
    return ("payload" in line and text(line.get("type")) in _LINES) or {
        "id",
        "timestamp",
        "instructions",
    } <= line.keys()


def read(source: Source) -> Iterator[Event]:
    """The session of one file; a sub-agent has a file of its own that names its parent.

    Only `response_item` lines count: `event_msg` says the same again for the screen. The oldest rollouts have the items
    without the envelope. A turn is a run of calls with no output between them. A web search has no output in the file
    and stays unanswered. Tool search, image generation and the like are left out.
    """
    assembly = Assembly(HARNESS, lambda: source.position)
    reader: _Reader | None = None
    for item in values(source, assembly.skip):
        line = obj(item.value)
        payload = obj(line.get("payload")) if "payload" in line else line
        kind = line.get("type") if "payload" in line else "response_item"
        if reader is None:
            about = payload if kind == "session_meta" or "instructions" in payload else {}
            reader = _Reader(assembly.session(optional(about.get("id")) or source.name(HARNESS)))
            reader.describe(about)
        reader.line(text(kind), payload, epoch_ms(line.get("timestamp")))
        yield from assembly.ready()
    yield from assembly.finish()


class _Reader:
    __slots__ = ("_session", "_turn")

    def __init__(self, session: SessionAssembly) -> None:
        self._session = session
        self._turn: Turn | None = None

    def describe(self, about: dict[str, Any]) -> None:
        """What the first line says of the session. Later such lines are those of sessions that it was forked from."""
        start = self._session.start
        start.cwd = optional(about.get("cwd"))
        start.started = epoch_ms(about.get("timestamp"))
        spawned = obj(obj(obj(about.get("source")).get("subagent")).get("thread_spawn"))
        start.parent_id = optional(spawned.get("parent_thread_id")) or optional(about.get("parent_thread_id"))

    def line(self, kind: str, payload: dict[str, Any], stamp: int | None) -> None:
        start = self._session.start
        if kind == "response_item":
            self._item(payload, stamp)
        elif kind == "compacted":
            self._turn = None
            self._session.compaction(stamp, None)
        elif kind == "turn_context":
            start.model = start.model or optional(payload.get("model"))
            start.cwd = start.cwd or optional(payload.get("cwd"))
        elif payload.get("type") == "thread_name_updated":
            start.title = optional(payload.get("thread_name")) or start.title

    def _item(self, item: dict[str, Any], stamp: int | None) -> None:
        kind = item.get("type")
        call_id = text(item.get("call_id"))
        if kind == "message":
            self._message(item, stamp)
        elif kind == "reasoning":
            for part in objects(item.get("summary")):
                think(self._current(stamp), text(part.get("text")))
        elif kind == "function_call":
            self._call(call_id, text(item.get("name")), parsed(item.get("arguments")), stamp)
        elif kind == "custom_tool_call":
            self._call(call_id, text(item.get("name")), {"input": item.get("input")}, stamp)
        elif kind == "local_shell_call":
            self._call(call_id or text(item.get("id")), "local_shell", item.get("action"), stamp)
        elif kind == "web_search_call":
            self._call(optional(item.get("id")) or f"web-search-{stamp}", "web_search", item.get("action"), stamp)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._turn = None
            result, failed = _output(item.get("output"))
            self._session.result(call_id, result, is_error=failed, timestamp=stamp)

    def _message(self, item: dict[str, Any], stamp: int | None) -> None:
        words = "\n".join(text(part.get("text")) for part in objects(item.get("content")))
        if item.get("role") == "assistant":
            say(self._current(stamp), words)
        elif item.get("role") == "user":
            self._turn = None
            self._session.user(words, stamp)

    def _current(self, stamp: int | None) -> Turn:
        if self._turn is None:
            self._turn = self._session.turn(stamp)
        return self._turn

    def _call(self, call_id: str, name: str, args: Any, stamp: int | None) -> None:
        self._session.call(self._current(stamp), Call(call_id, name, args))


def _output(output: Any) -> tuple[str | list[dict[str, Any]], bool]:
    """The text or blocks of an output, and whether it says that the command failed."""
    if isinstance(output, list):
        return [_block(part) for part in objects(cast("list[Any]", output))], False
    if isinstance(output, dict):
        held = obj(cast("object", output))
        named = next((held[name] for name in ("text", "output", "content") if held.get(name)), "")
        return (named if isinstance(named, str) else prose(named)), _failed(held)
    said = text(output)
    unwrapped = obj(parsed(said))
    if isinstance(unwrapped.get("output"), str):
        return unwrapped["output"], _failed(unwrapped)
    exited = _EXIT.search(said[:_EXIT_WITHIN])
    return said, exited is not None and exited[1] != "0"


def _failed(output: dict[str, Any]) -> bool:
    return output.get("success") is False or bool(obj(output.get("metadata")).get("exit_code"))


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") == "input_text":
        return {"type": "text", "text": text(part.get("text"))}
    if part.get("type") == "input_image":
        return {"type": "image", "mimeType": "", "data": text(part.get("image_url"))}
    return part
