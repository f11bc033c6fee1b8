"""Real sessions become episodes and are captured without a model: the one that ships, and all beside the checkout."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from afterturn.capture.reading import redacted
from afterturn.redact import Redactor
from afterturn.replay.sessions import Session
from afterturn.replay.sessions import sessions as read_sessions
from afterturn_protocol.capture import Episode
from bench.quality.batches import sessions
from tests.capture.harness import FakeEmbedder, capture

pytestmark = pytest.mark.anyio

SHIPPED = Path(__file__).parents[2] / "sidecar" / "afterturn" / "cli" / "demo_session" / "session.jsonl"
REAL = {"shipped": read_sessions(SHIPPED)[0]} | {f"{each.file}#{each.number}": each.session for each in sessions()}


def episode_of(session: Session) -> Episode:
    """A session as a host would send it: user, assistant and tool turns in order."""
    turns: list[dict[str, Any]] = []
    for number, turn in enumerate(session.turns):
        if turn.user_text is not None:
            turns.append({"role": "user", "content": turn.user_text, "ts": turn.timestamp})
        if turn.assistant_text is not None or turn.calls:
            text = turn.assistant_text or ""
            turns.append({"id": f"a{number}", "role": "assistant", "content": text, "ts": turn.timestamp})
        for call in turn.calls:
            meta = {"name": call.tool_name, "input": call.args, "toolCallId": call.tool_call_id}
            if call.is_error:
                meta["errorCode"] = "tool_error"
            turns.append({"role": "tool", "content": call.result, "ts": call.result_timestamp, "meta": meta})
    return msgspec.convert({"id": "e", "sessionId": session.session_id, "startedAt": 0, "turns": turns}, Episode)


@pytest.mark.parametrize("name", sorted(REAL))
@pytest.mark.parametrize("granularity", ["turn", "tool"])
async def test_a_session_is_captured(name: str, granularity: str) -> None:
    given = episode_of(REAL[name])
    clean, _ = redacted(given, Redactor().redact)
    captured = await capture(clean, embedder=FakeEmbedder(), granularity=granularity)
    traces = captured.result.traces
    assert captured.result.state == ("done" if traces else "doneEmpty")
    assert traces or not any(turn.role == "assistant" for turn in given.turns)
    calls = sum(turn.role == "tool" for turn in given.turns)
    if granularity == "turn":
        repeated = [each for each in captured.result.warnings if each.code in ("repeated_step", "empty_step")]
        assert sum(len(trace.tool_calls) for trace in traces) == calls or repeated
    assert all(len(trace.user_text) <= 4000 and len(trace.agent_text) <= 4000 for trace in traces)
    assert all(len(call.output or "") <= 2000 for trace in traces for call in trace.tool_calls)
    assert [trace.reflection.source for trace in traces if trace.reflection.source not in ("none", "extracted")] == []
    again = await capture(clean, granularity=granularity, known=captured.rows)
    assert again.rows == captured.rows
