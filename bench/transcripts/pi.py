"""pi: JSON lines, v1 linear, v2 and v3 a tree of entries with ids and parents."""

from typing import Any

from afterturn.cli.transcript import Call, Session, SessionBuilder, epoch_ms, say

from . import jsonseq


def read_pi(text: str, *, leaf_only: bool = False) -> list[Session]:
    """The session of one file.

    All entries in file order, the order in which a sidecar beside the host saw them; with `leaf_only` just the path
    from the root to the last entry, which is what the model's context is built from after branching. A command that
    the user ran (`bashExecution`) is a turn of its own with one call.
    """
    entries = list(jsonseq.values(text))
    header = entries[0] if entries and entries[0].get("type") == "session" else {}
    build = SessionBuilder(header.get("id", "pi"))
    for entry in _leaf_path(entries) if leaf_only else entries:
        if entry.get("type") == "message":
            _message(build, entry)
    return [build.done()]


def _leaf_path(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_id = {entry["id"]: entry for entry in entries if "id" in entry and entry["type"] != "session"}
    if not by_id:
        return entries
    path: list[dict[str, Any]] = []
    at: dict[str, Any] | None = list(by_id.values())[-1]
    while at is not None:
        path.append(at)
        at = by_id.get(at.get("parentId") or "")
    return path[::-1]


def _message(build: SessionBuilder, entry: dict[str, Any]) -> None:
    message = entry["message"]
    stamp = epoch_ms(message.get("timestamp")) or epoch_ms(entry.get("timestamp")) or 0
    role = message["role"]
    if role == "user":
        build.user(_text(message["content"]))
    elif role == "assistant":
        turn = build.turn(stamp)
        for block in message["content"] or []:
            if block["type"] == "text":
                say(turn, block["text"])
            elif block["type"] == "toolCall":
                build.call(turn, Call(block["id"], block["name"], block["arguments"]))
    elif role == "toolResult":
        blocks = message["content"]
        only_text = isinstance(blocks, str) or all(block["type"] == "text" for block in blocks)
        build.result(
            message["toolCallId"],
            _text(blocks) if only_text else blocks,
            is_error=bool(message.get("isError")),
            timestamp=stamp,
        )
    elif role == "bashExecution":
        turn = build.turn(stamp)
        call = Call(f"bash-{stamp}", "bashExecution", {"command": message["command"]}, message.get("output") or "")
        call.is_error = bool(message.get("exitCode"))
        call.result_timestamp = stamp
        build.call(turn, call)


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
