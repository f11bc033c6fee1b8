"""The batches of a session, as a host with `batchingMode: "turn"` sends them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from afterturn.replay.sessions import Session
from afterturn.replay.stream import Call
from bench.transcripts import TranscriptFile, files, read

# Made from pi-large-session.v1.jsonl by migrating it: the same calls again.
_DERIVED = frozenset(("pi/pi-large-session.v3-migrated.jsonl", "pi/pi-large-session.v3-branched.jsonl"))


class BenchSession(NamedTuple):
    session_id: str
    file: str
    harness: str
    number: int
    """The session's place in its file, from 0."""
    session: Session


class BenchBatch(NamedTuple):
    turn: int
    """Index into the session's turns."""
    calls: list[Call]
    wire: dict[str, Any]
    """The batch as `condense/summarize` takes it."""


def sessions(harness: str | None = None) -> Iterator[BenchSession]:
    """Every session of every transcript that is not made from another one; ids are unique over all files."""
    for file in files(harness):
        if file.name not in _DERIVED:
            yield from _sessions(file)


def _sessions(file: TranscriptFile) -> Iterator[BenchSession]:
    for number, session in enumerate(read(file)):
        yield BenchSession(f"{file.name}#{number}", file.name, file.harness, number, session)


def batches(session: Session) -> Iterator[BenchBatch]:
    """One batch for each turn that has calls."""
    for index, turn in enumerate(session.turns):
        if not turn.calls:
            continue
        wire: dict[str, Any] = {"turnIndex": index, "timestamp": turn.timestamp}
        wire["toolCalls"] = [_wire_call(call) for call in turn.calls]
        if turn.user_text is not None:
            wire["userText"] = turn.user_text
        if turn.assistant_text is not None:
            wire["assistantText"] = turn.assistant_text
        yield BenchBatch(index, turn.calls, wire)


def _wire_call(call: Call) -> dict[str, Any]:
    wire: dict[str, Any] = {"toolCallId": call.tool_call_id, "toolName": call.tool_name, "args": call.args}
    if isinstance(call.result, str):
        wire["resultText"] = call.result
    elif call.result is not None:
        wire["content"] = call.result
    if call.is_error:
        wire["isError"] = True
    if call.result_timestamp is not None:
        wire["resultTimestamp"] = call.result_timestamp
    return wire
