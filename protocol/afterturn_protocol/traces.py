"""Traces: the rows that capture leaves, listed, searched, scored and deleted (protocol.md, 'capture and traces')."""

from typing import Any

from afterturn_protocol.shape import Count, Int, Millis, Shape


class ToolCallDTO(Shape, frozen=True, kw_only=True):
    """A tool call inside a turn or a trace.

    name: the tool.
    input: any JSON.
    output: any JSON, mostly text.
    error_code: set where the call failed.
    tool_call_id: the host's id of the call.
    started_at: epoch ms.
    ended_at: epoch ms.
    thinking_before: the model's reasoning right before the call.
    assistant_text_before: what the assistant wrote right before the call.
    before_assistant: in a trace, the call came before the step's first assistant turn.
    """

    name: str
    input: Any = None
    output: Any = None
    error_code: str | None = None
    tool_call_id: str | None = None
    started_at: Millis | None = None
    ended_at: Millis | None = None
    thinking_before: str | None = None
    assistant_text_before: str | None = None
    before_assistant: bool | None = None


class Reflection(Shape, frozen=True, kw_only=True):
    """Why a step did what it did, and how much that is worth.

    text: the reflection; null where there is none.
    alpha: its weight, 0 to 1; 0 unless usable.
    usable: whether it can be learned from.
    reason: why it got this weight.
    source: "adapter", "extracted", "synth", "none".
    model: "provider/id" of the model that wrote or scored it.
    prompt_version: the version of the prompt that it was asked with.
    """

    text: str | None
    alpha: float
    usable: bool
    reason: str | None = None
    source: str
    model: str | None = None
    prompt_version: str | None = None


class TraceVectors(Shape, frozen=True, kw_only=True):
    """Which vectors a trace has; the vectors themselves are never sent.

    summary: the one of the user text is there.
    action: the one of agent text and tool calls is there.
    model: the embedding model.
    dimension: its number of components.
    """

    summary: bool
    action: bool
    model: str | None = None
    dimension: Count | None = None


class Trace(Shape, frozen=True, kw_only=True):
    """One step of an episode.

    trace_id: deterministic, so a second capture gives the same.
    episode_id: the episode.
    session_id: the session.
    project: what scopes search.
    turn_id: id of the step's first assistant turn, else "#" and its position.
    step_index: place in the episode, from 0.
    ts: when that turn was, epoch ms.
    user_text: what was asked.
    agent_text: what the assistant wrote.
    agent_thinking: its reasoning.
    tool_calls: its calls, in order.
    reflection: why, and what that is worth.
    depth: how deep in sub-agents, 0 for the main agent.
    is_subagent: the step is a sub-agent's.
    superseded: a later revision of the episode does not have the step any more.
    tags: derived words, at most 8.
    error_signatures: derived forms of its errors, at most 4.
    truncated: some text was cut to its limit.
    value: learned value, 0 at first.
    r_human: a person's rating, or null.
    priority: replay priority, 0 at first.
    vectors: which vectors there are.
    schema_version: version of the row's form.
    """

    trace_id: str
    episode_id: str
    session_id: str
    project: str | None = None
    turn_id: str
    step_index: Count
    ts: Millis
    user_text: str
    agent_text: str
    agent_thinking: str | None = None
    tool_calls: list[ToolCallDTO]
    reflection: Reflection
    depth: Count
    is_subagent: bool
    superseded: bool
    tags: list[str]
    error_signatures: list[str]
    truncated: bool
    value: float
    r_human: float | None
    priority: float
    vectors: TraceVectors
    schema_version: Int


class TracesListParams(Shape, frozen=True, kw_only=True):
    """Params of `traces/list`. Without any filter: the projects of this connection's sessions.

    episode_id: only this episode.
    session_id: only this session.
    project: only this project; "*" is all.
    cursor: where the last page ended.
    limit: most traces in one page.
    """

    episode_id: str | None = None
    session_id: str | None = None
    project: str | None = None
    cursor: str | None = None
    limit: Count | None = None


class TracesListResult(Shape, frozen=True, kw_only=True):
    """Result of `traces/list`.

    traces: one page.
    next_cursor: for the next page; omitted at the end.
    """

    traces: list[Trace]
    next_cursor: str | None = None


class TracesGetParams(Shape, frozen=True, kw_only=True):
    """Params of `traces/get`.

    trace_ids: the traces.
    """

    trace_ids: list[str]


class TracesGetResult(Shape, frozen=True, kw_only=True):
    """Result of `traces/get`.

    traces: what was found, in the order asked for.
    missing: the ids that were not.
    """

    traces: list[Trace]
    missing: list[str]


class TracesSearchParams(Shape, frozen=True, kw_only=True):
    """Params of `traces/search`.

    query: words to look for.
    project: where; "*" is everywhere; omitted means the session's project, else this connection's.
    session_id: takes the project from this session.
    limit: most hits.
    mode: "hybrid" (the default), "text", "vector".
    vector: compare with "summary" or "action" vectors only.
    """

    query: str
    project: str | None = None
    session_id: str | None = None
    limit: Count | None = None
    mode: str | None = None
    vector: str | None = None


class HitScores(Shape, frozen=True, kw_only=True):
    """The parts of a score.

    text: by full text.
    summary: by the summary vector.
    action: by the action vector.
    """

    text: float | None = None
    summary: float | None = None
    action: float | None = None


class TraceHit(Shape, frozen=True, kw_only=True):
    """A trace that was found.

    trace: the trace.
    score: higher is better; comparable within one answer only.
    scores: its parts.
    """

    trace: Trace
    score: float
    scores: HitScores


class TracesSearchResult(Shape, frozen=True, kw_only=True):
    """Result of `traces/search`.

    hits: best first. What of them goes into a prompt stands between `<afterturn-recall>`, at the beginning of a line,
        and `</afterturn-recall>`, so that it is not captured again (spec/capture.md, 'What is left out').
    stale: traces that were left out because their vectors come from another model.
    """

    hits: list[TraceHit]
    stale: Count | None = None


class TracesDeleteParams(Shape, frozen=True, kw_only=True):
    """Params of `traces/delete`. Without any filter the request is refused with -32602.

    trace_ids: these traces.
    episode_id: all of this episode.
    session_id: all of this session.
    project: all of this project; "*" is all.
    before: only what is older than this, epoch ms.
    """

    trace_ids: list[str] | None = None
    episode_id: str | None = None
    session_id: str | None = None
    project: str | None = None
    before: Millis | None = None


class TracesDeleteResult(Shape, frozen=True, kw_only=True):
    """Result of `traces/delete`.

    deleted: how many traces were erased.
    """

    deleted: Count


class ScoreUpdate(Shape, frozen=True, kw_only=True):
    """New scores for one trace; what is omitted stays.

    trace_id: the trace.
    value: learned value.
    priority: replay priority.
    r_human: a person's rating.
    """

    trace_id: str
    value: float | None = None
    priority: float | None = None
    r_human: float | None = None


class TracesUpdateScoreParams(Shape, frozen=True, kw_only=True):
    """Params of `traces/updateScore`.

    updates: the new scores.
    """

    updates: list[ScoreUpdate]


class TracesUpdateScoreResult(Shape, frozen=True, kw_only=True):
    """Result of `traces/updateScore`.

    updated: how many traces were changed; an unknown id changes none.
    """

    updated: Count
