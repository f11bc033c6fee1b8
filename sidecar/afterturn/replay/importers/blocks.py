"""A reply in blocks as Anthropic's API has them, which more than one harness keeps as they came."""

from collections.abc import Iterable
from typing import Any

from afterturn.replay.importers.assembly import SessionAssembly, say, think
from afterturn.replay.importers.fields import text
from afterturn.replay.stream import Call, Turn


def take_reply(session: SessionAssembly, turn: Turn, blocks: Iterable[dict[str, Any]]) -> None:
    """What the assistant says, thinks and calls in these blocks joins its turn."""
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            say(turn, text(block.get("text")))
        elif kind == "thinking":
            think(turn, text(block.get("thinking")))
        elif kind == "tool_use":
            session.call(turn, Call(text(block.get("id")), text(block.get("name")), block.get("input")))
