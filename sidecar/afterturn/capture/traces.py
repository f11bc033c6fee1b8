"""Rows made of steps (capture.md, 'Result')."""

from afterturn.capture.drafts import Draft
from afterturn.capture.rows import SCHEMA_VERSION, TraceRow
from afterturn_protocol.capture import Episode
from afterturn_protocol.traces import Trace, TraceVectors


def row_of(draft: Draft, episode: Episode, project: str | None) -> TraceRow:
    """The row of a step, without vectors."""
    step = draft.step
    trace = Trace(
        trace_id=draft.trace_id,
        episode_id=episode.id,
        session_id=episode.session_id,
        project=project,
        turn_id=step.turn_id,
        step_index=draft.index,
        ts=step.ts,
        user_text=step.user_text,
        agent_text=step.agent_text,
        agent_thinking=step.thinking,
        tool_calls=list(step.calls),
        reflection=draft.reflection,
        depth=step.depth,
        is_subagent=step.is_subagent,
        superseded=False,
        tags=draft.tags,
        error_signatures=draft.signatures,
        truncated=step.truncated,
        value=0.0,
        r_human=None,
        priority=0.0,
        vectors=TraceVectors(summary=False, action=False),
        schema_version=SCHEMA_VERSION,
    )
    return TraceRow(trace=trace, content=draft.content, summary_vector=None, action_vector=None)
