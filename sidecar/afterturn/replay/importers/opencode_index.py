"""What an opencode file holds and where: its sessions and messages, and the place of each part."""

from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from afterturn.replay.importers.fields import count, obj, optional, text
from afterturn.replay.json_values import values
from afterturn.replay.source import Source

Place = tuple[int, int, int]
"""Offset and size in bytes, and which of the objects that stand there."""


class Message(msgspec.Struct):
    id: str
    session_id: str
    role: str
    created: int = 0
    model: str | None = None
    is_summary: bool = False
    failed: bool = False
    aborted: bool = False
    parts: dict[str, "Part"] = {}


class Part(msgspec.Struct):
    """Where a part was last written, and the pieces that were added to it since."""

    place: Place
    deltas: list[Place] = []


class Index:
    """Filled by one reading of the file; the texts stay in it.

    In the event form a part is sent again whenever it changes: the last write wins, and text that only came as deltas
    is put together.
    """

    __slots__ = ("_parts", "messages", "sessions")

    def __init__(self, source: Source, skip: Callable[[str], None]) -> None:
        self.sessions: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, Message] = {}
        self._parts: dict[str, Part] = {}
        begin = number = -1
        for value in values(source, skip):
            number = number if value.begin == begin else -1
            begin = value.begin
            for item in items(value.value):
                number += 1
                self._take(item, (begin, value.size, number))

    def in_order(self) -> list[Message]:
        """The messages by when they were begun; their ids sort by time within a session."""
        return sorted(self.messages.values(), key=lambda message: (message.created, message.id))

    def _take(self, item: dict[str, Any], place: Place) -> None:
        delta = delta_of(item)
        if delta is not None:
            if delta[0] in self._parts:
                self._parts[delta[0]].deltas.append(place)
        elif "messageID" in item:
            part_id = text(item.get("id"))
            self._parts[part_id] = Part(place)
            self._message(text(item.get("messageID"))).parts[part_id] = self._parts[part_id]
        elif "role" in item:
            describe(self._message(text(item.get("id"))), item)
        elif text(item.get("id")).startswith("ses_"):
            self.sessions[item["id"]] = {
                name: item.get(name) for name in ("title", "directory", "parentID", "time") if name in item
            }

    def _message(self, message_id: str) -> Message:
        return self.messages.setdefault(message_id, Message(message_id, "", ""))


def describe(message: Message, item: dict[str, Any]) -> None:
    """What an opencode message object says."""
    message.session_id = text(item.get("sessionID"))
    message.role = text(item.get("role"))
    message.created = count(obj(item.get("time")).get("created")) or 0
    message.model = optional(item.get("modelID"))
    message.is_summary = item.get("summary") is True
    message.failed = bool(item.get("error"))
    message.aborted = obj(item.get("error")).get("name") == "MessageAbortedError"


def items(value: Any) -> Iterator[dict[str, Any]]:
    """The objects that a value stands for: itself or its elements, taken out of the event that brought them."""
    for each in cast("list[Any]", value) if isinstance(value, list) else [value]:
        item = obj(each)
        event = obj(item.get("event")) or item
        properties = obj(event.get("properties"))
        kind = text(event.get("type"))
        if kind == "message.part.delta":
            yield event
        elif properties:
            found = obj(properties.get("info")) or obj(properties.get("part"))
            if found:
                yield found
        else:
            yield item


def delta_of(item: dict[str, Any]) -> tuple[str, str, str] | None:
    """The part, its field, and the piece of text that an event adds to it."""
    if item.get("type") != "message.part.delta":
        return None
    properties = obj(item.get("properties"))
    return text(properties.get("partID")), text(properties.get("field")), text(properties.get("delta"))
