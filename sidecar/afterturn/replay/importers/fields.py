"""Fields of JSON values of which nothing is certain: what is there in the wanted type, or nothing."""

from datetime import UTC, datetime
from typing import Any, cast

from afterturn.replay.json_values import DECODER


def obj(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list."""
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[object]", value) if isinstance(item, dict)]


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def optional(value: object) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def wire_block(block: dict[str, Any]) -> dict[str, Any]:
    """A block of a result as the protocol takes it: what should be text and is not counts as ""."""
    kind = block.get("type")
    if kind == "text":
        return {**block, "text": text(block.get("text"))}
    if kind == "image":
        image = {"type": "image", "mimeType": text(block.get("mimeType"))}
        return {**image, "data": block["data"]} if isinstance(block.get("data"), str) else image
    return {**block, "type": text(kind)}


def prose(content: object, kind: str = "text") -> str:
    """The text of a content that is a text or a list of blocks: its blocks of that kind, joined by a line break."""
    if isinstance(content, str):
        return content
    return "\n".join(text(block.get("text")) for block in objects(content) if block.get("type", kind) == kind)


def epoch_ms(stamp: object) -> int | None:
    """Epoch ms of an ISO 8601 text (UTC when it names no zone) or of a number already in ms; None for anything else."""
    if isinstance(stamp, bool) or not isinstance(stamp, int | float | str):
        return None
    try:
        if not isinstance(stamp, str):
            return int(stamp) if 0 < stamp < _LATEST_MS else None
        moment = datetime.fromisoformat(stamp)
        ms = round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
        return ms if ms > 0 else None
    except (ValueError, OverflowError):
        return None


_LATEST_MS = 253_402_300_800_000
"""The year 10000."""


def parsed(arguments: object) -> Any:
    """Arguments that are JSON in a text, or the text where it is none; anything else as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return DECODER.decode(arguments)
    except (ValueError, RecursionError):
        return arguments
