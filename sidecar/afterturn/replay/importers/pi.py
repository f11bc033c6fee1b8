"""pi: JSON lines, v1 linear, v2 and v3 a tree of entries with ids and parents."""

from collections.abc import Iterator
from typing import Any

from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say, think
from afterturn.replay.importers.fields import count, epoch_ms, obj, objects, optional, prose, text
from afterturn.replay.importers.pi_tree import Tree
from afterturn.replay.json_values import values
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event

HARNESS = "pi"
_ROLES = ("user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage", "system")


def recognises(value: Any) -> bool:
    entry = obj(value)
    if entry.get("type") == "session":
        return bool({"cwd", "version", "provider"} & entry.keys())
    is_message = entry.get("type") == "message" and obj(entry.get("message")).get("role") in _ROLES
    return is_message and not {"sessionID", "sessionId", "uuid"} & entry.keys()


def read(source: Source) -> Iterator[Event]:
    """The path from the root to the last entry is the session; each branch that was left is a session of its own.

    A command that the user ran (`bashExecution`) is a turn with one call. Replies that ended in an error or were
    aborted are failed turns, and so are those that a later edit took out of the context. An edit that puts other text
    in place of a result is passed over: the agent saw the original first.
    """
    source.plan(2)
    tree = Tree(source)
    assembly = Assembly(HARNESS, lambda: source.position)
    header: dict[str, Any] = {}
    name = source.name(HARNESS)
    for item in values(source, assembly.skip):
        entry = obj(item.value)
        kind = entry.get("type")
        branch = tree.branch(text(entry.get("id")))
        if kind == "session" and not header:
            header = entry
            name = optional(header.get("id")) or name
        elif kind in ("message", "compaction") or (branch is None and kind in ("model_change", "session_info")):
            _entry(_session(assembly, name, header, branch), entry, tree)
        yield from assembly.ready()
    yield from assembly.finish()


def _session(assembly: Assembly, name: str, header: dict[str, Any], branch: str | None) -> SessionAssembly:
    session = assembly.session(f"{name}/{branch}" if branch else name)
    start = session.start
    start.parent_id, start.branched = (name, True) if branch else (None, False)
    start.cwd = optional(header.get("cwd"))
    start.started = start.started or epoch_ms(header.get("timestamp"))
    start.model = start.model or optional(header.get("modelId"))
    return session


def _entry(session: SessionAssembly, entry: dict[str, Any], tree: Tree) -> None:
    kind = entry.get("type")
    stamp = epoch_ms(entry.get("timestamp"))
    if kind == "message":
        _message(session, entry, text(entry.get("id")) in tree.omitted)
    elif kind == "compaction":
        session.compaction(stamp, count(entry.get("tokensBefore")))
    elif kind == "model_change":
        session.start.model = session.start.model or optional(entry.get("modelId"))
    else:
        session.start.title = optional(entry.get("name")) or session.start.title


def _message(session: SessionAssembly, entry: dict[str, Any], omitted: bool) -> None:
    message = obj(entry.get("message"))
    stamp = epoch_ms(message.get("timestamp")) or epoch_ms(entry.get("timestamp"))
    role = message.get("role")
    if role == "user":
        session.user(prose(message.get("content")), stamp)
    elif role == "assistant":
        _assistant(session, message, stamp, omitted)
    elif role == "toolResult":
        session.result(
            text(message.get("toolCallId")),
            _result(message.get("content")),
            is_error=bool(message.get("isError")),
            timestamp=stamp,
        )
    elif role == "bashExecution":
        call = Call(f"bash-{stamp or 0}", role, {"command": message.get("command")}, text(message.get("output")))
        call.is_error = bool(message.get("exitCode") or message.get("cancelled"))
        call.result_timestamp = stamp
        session.call(session.turn(stamp), call)


def _assistant(session: SessionAssembly, message: dict[str, Any], stamp: int | None, omitted: bool) -> None:
    session.start.model = session.start.model or optional(message.get("model"))
    turn = session.turn(stamp)
    turn.aborted = message.get("stopReason") == "aborted"
    turn.failed = omitted or turn.aborted or message.get("stopReason") == "error"
    for block in objects(message.get("content")):
        kind = block.get("type")
        if kind == "text":
            say(turn, text(block.get("text")))
        elif kind == "thinking":
            think(turn, text(block.get("thinking")))
        elif kind == "toolCall":
            session.call(turn, Call(text(block.get("id")), text(block.get("name")), block.get("arguments")))


def _result(content: object) -> str | list[dict[str, Any]]:
    blocks = objects(content)
    return prose(content) if all(block.get("type") == "text" for block in blocks) else blocks
