"""opencode: session, message and part objects, as a concatenated export or as a stream of events."""

from typing import Any

from afterturn.cli.transcript import Call, Session, SessionBuilder, say

from . import jsonseq


def read_opencode(text: str) -> list[Session]:
    """The sessions of one file, by their id.

    In the event form a part is sent again whenever it changes: the last write wins, and text that only came as
    deltas is put together. The role stands on the message. A turn is one assistant message; call and result share a
    part. Ids sort by time within a session.
    """
    messages: dict[str, dict[str, Any]] = {}
    parts: dict[str, dict[str, Any]] = {}
    for value in jsonseq.values(text):
        for item in value if isinstance(value, list) else [value]:
            _take(item, messages, parts)
    by_message: dict[str, list[dict[str, Any]]] = {}
    for part in sorted(parts.values(), key=lambda part: part["id"]):
        by_message.setdefault(part["messageID"], []).append(part)
    builders: dict[str, SessionBuilder] = {}
    for message in sorted(messages.values(), key=lambda message: (message["time"]["created"], message["id"])):
        build = builders.setdefault(message["sessionID"], SessionBuilder(message["sessionID"]))
        _message(build, message, by_message.get(message["id"], []))
    return [build.done() for build in builders.values()]


def _take(item: dict[str, Any], messages: dict[str, dict[str, Any]], parts: dict[str, dict[str, Any]]) -> None:
    event = item.get("event")
    if isinstance(event, dict):
        properties = event["properties"]
        if event["type"] == "message.updated":
            item = properties["info"]
        elif event["type"] == "message.part.updated":
            item = properties["part"]
        elif event["type"] == "message.part.delta" and properties["partID"] in parts:
            part = parts[properties["partID"]]
            part[properties["field"]] = part.get(properties["field"], "") + properties["delta"]
            return
        else:
            return
    if "messageID" in item:
        parts[item["id"]] = item
    elif "role" in item:
        messages[item["id"]] = item


def _message(build: SessionBuilder, message: dict[str, Any], parts: list[dict[str, Any]]) -> None:
    if message["role"] == "user":
        for part in parts:
            if part["type"] == "text" and not part.get("synthetic"):
                build.user(part["text"])
        return
    turn = build.turn(message["time"]["created"])
    for part in parts:
        if part["type"] == "text":
            say(turn, part["text"])
        elif part["type"] == "tool":
            build.call(turn, _call(part))


def _call(part: dict[str, Any]) -> Call:
    state = part["state"]
    call = Call(part["callID"], part["tool"], state.get("input"))
    if state["status"] in ("completed", "error"):
        call.is_error = state["status"] == "error"
        call.result = state.get("error") or "" if state["status"] == "error" else state.get("output") or ""
        call.result_timestamp = (state.get("time") or {}).get("end")
    return call
