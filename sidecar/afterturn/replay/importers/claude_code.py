"""Claude Code: JSON lines, one API message spread over several of them."""

from collections.abc import Iterator
from typing import Any, cast

from afterturn.replay.importers.assembly import Assembly, SessionAssembly
from afterturn.replay.importers.blocks import take_reply
from afterturn.replay.importers.fields import count, epoch_ms, obj, objects, optional, text
from afterturn.replay.json_values import values
from afterturn.replay.source import Source
from afterturn.replay.stream import Event

HARNESS = "claude-code"
_TITLES = ("summary", "aiTitle", "customTitle")


def recognises(value: Any) -> bool:
    line = obj(value)
    return isinstance(line.get("type"), str) and (
        ("sessionId" in line and "payload" not in line) or "leafUuid" in line or {"uuid", "message"} <= line.keys()
    )


def read(source: Source) -> Iterator[Event]:
    """The main session, and one for each sub-agent whose lines are in the file.

    A turn is one API message: its lines share `message.id`, and results may stand between them. Lines that are no
    message (progress, snapshots, titles), meta text and the summary after a compaction are no one's words.
    """
    assembly = Assembly(HARNESS, lambda: source.position)
    sessions = _Sessions(assembly, source)
    for item in values(source, assembly.skip):
        line = obj(item.value)
        kind = line.get("type")
        if kind in ("summary", "ai-title", "custom-title"):
            sessions.title = sessions.title or next(filter(None, (optional(line.get(name)) for name in _TITLES)), None)
        elif kind in ("assistant", "user") and isinstance(line.get("message"), dict):
            (_assistant if kind == "assistant" else _user)(sessions.of(line), line)
        elif line.get("subtype") == "compact_boundary" and not line.get("isSidechain"):
            before = count(obj(line.get("compactMetadata")).get("preTokens"))
            sessions.of(line).compaction(epoch_ms(line.get("timestamp")), before)
        yield from assembly.ready()
    yield from assembly.finish()


class _Sessions:
    """The file's main session, which its first line names, and those of its sub-agents, whose parent that is."""

    __slots__ = ("_assembly", "_main", "_source", "title")

    def __init__(self, assembly: Assembly, source: Source) -> None:
        self._assembly = assembly
        self._source = source
        self._main: str | None = None
        self.title: str | None = None

    def of(self, line: dict[str, Any]) -> SessionAssembly:
        """The session that a line belongs to."""
        if self._main is None:
            self._main = optional(line.get("sessionId")) or self._source.name(HARNESS)
        agent = optional(line.get("agentId")) or ("sidechain" if line.get("isSidechain") else None)
        session = self._assembly.session(f"{self._main}/{agent}" if agent else self._main)
        start = session.start
        if agent:
            start.parent_id = self._main
        else:
            start.title = start.title or self.title
        start.cwd = start.cwd or optional(line.get("cwd"))
        start.model = start.model or optional(obj(line.get("message")).get("model"))
        start.started = start.started or epoch_ms(line.get("timestamp"))
        return session


def _assistant(session: SessionAssembly, line: dict[str, Any]) -> None:
    message = obj(line.get("message"))
    key = text(message.get("id"))
    turn = (session.held(key) if key else None) or session.turn(epoch_ms(line.get("timestamp")), key or None)
    turn.failed = turn.failed or bool(line.get("isApiErrorMessage"))
    take_reply(session, turn, _blocks(message))


def _user(session: SessionAssembly, line: dict[str, Any]) -> None:
    stamp = epoch_ms(line.get("timestamp"))
    for block in _blocks(obj(line.get("message"))):
        if block.get("type") == "tool_result":
            session.result(
                text(block.get("tool_use_id")),
                _result(block.get("content")),
                is_error=bool(block.get("is_error")),
                timestamp=stamp,
            )
        elif block.get("type") == "text" and not (line.get("isMeta") or line.get("isCompactSummary")):
            session.user(text(block.get("text")), stamp)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _result(content: object) -> str | list[dict[str, Any]]:
    if not isinstance(content, list):
        return text(content)
    blocks = objects(cast("object", content))
    return [_image(block) if block.get("type") == "image" else block for block in blocks]


def _image(block: dict[str, Any]) -> dict[str, Any]:
    source = obj(block.get("source"))
    return {"type": "image", "mimeType": text(source.get("media_type")), "data": text(source.get("data"))}
