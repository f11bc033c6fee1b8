"""OpenHands SDK: JSON lines of events, each with a `kind`."""

from collections.abc import Iterator
from typing import Any

from afterturn.replay.importers.assembly import Assembly, SessionAssembly, say, think
from afterturn.replay.importers.fields import epoch_ms, obj, objects, optional, parsed, prose, text
from afterturn.replay.json_values import values
from afterturn.replay.source import Source
from afterturn.replay.stream import Call, Event


def is_sdk(value: dict[str, Any]) -> bool:
    return text(value.get("kind")).endswith("Event") and "source" in value and "timestamp" in value


def read_sdk(harness: str, source: Source) -> Iterator[Event]:
    """The session of one file. A turn is one response of the model, whose actions share its id."""
    assembly = Assembly(harness, lambda: source.position)
    session: SessionAssembly | None = None
    for item in values(source, assembly.skip):
        event = obj(item.value)
        if session is None:
            first = optional(event.get("id"))
            session = assembly.session(f"{harness} {first}" if first else source.name(harness))
        _take(session, event)
        yield from assembly.ready()
    yield from assembly.finish()


def _take(session: SessionAssembly, event: dict[str, Any]) -> None:
    stamp = epoch_ms(event.get("timestamp"))
    session.start.started = session.start.started or stamp
    kind = event.get("kind")
    call_id = text(event.get("tool_call_id"))
    if kind == "MessageEvent":
        said = prose(obj(event.get("llm_message")).get("content"))
        if event.get("source") == "user":
            session.user(said, stamp)
        else:
            say(session.turn(stamp), said)
    elif kind == "ActionEvent":
        _action(session, event, stamp)
    elif kind == "ObservationEvent":
        seen = obj(event.get("observation"))
        metadata = obj(seen.get("metadata"))
        shown = f"{text(metadata.get('prefix'))}{prose(seen.get('content'))}{text(metadata.get('suffix'))}"
        # -1 stands for "still running".
        failed = bool(seen.get("is_error")) or seen.get("exit_code") not in (None, 0, -1)
        session.result(call_id, shown, is_error=failed, timestamp=stamp)
    elif kind in ("AgentErrorEvent", "UserRejectObservation"):
        said = text(event.get("error")) or text(event.get("rejection_reason"))
        session.result(call_id, said, is_error=True, timestamp=stamp)
    elif kind == "Condensation":
        session.compaction(stamp, None)


def _action(session: SessionAssembly, event: dict[str, Any], stamp: int | None) -> None:
    key = text(event.get("llm_response_id"))
    turn = session.held(key) if key else None
    if turn is None:
        turn = session.turn(stamp, key or None)
    for part in objects(event.get("thought")):
        say(turn, text(part.get("text")))
    think(turn, text(event.get("reasoning_content")))
    arguments = parsed(obj(event.get("tool_call")).get("arguments"))
    session.call(turn, Call(text(event.get("tool_call_id")), text(event.get("tool_name")), arguments))
