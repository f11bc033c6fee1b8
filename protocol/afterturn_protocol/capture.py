"""Capture: a finished episode becomes scored, searchable traces (protocol.md, 'capture and traces'; capture.md)."""

from typing import Any

from afterturn_protocol.base import Usage
from afterturn_protocol.blocks import Block
from afterturn_protocol.shape import Count, Int, Millis, Shape
from afterturn_protocol.traces import ToolCallDTO, Trace


class TurnMeta(Shape, frozen=True, kw_only=True):
    """What a host knows about a turn beside its text. Fields that are not listed are ignored.

    reflection: of an assistant turn, the agent's own reflection, kept word for word.
    agent_thinking: of an assistant turn, its reasoning.
    tool_calls: of an assistant turn, its calls where no tool turns follow.
    depth: how deep in sub-agents, a whole number from 0.
    is_subagent: the turn is a sub-agent's.
    name: of a tool turn, the tool.
    tool: the same under another name.
    input: of a tool turn, the arguments, any JSON.
    args: the same under another name.
    output: of a tool turn, the result, any JSON.
    result: the same under another name.
    error_code: of a tool turn, set where the call failed.
    tool_call_id: of a tool turn, the host's id of the call.
    started_at: of a tool turn, epoch ms.
    ended_at: of a tool turn, epoch ms.
    thinking_before: of a tool turn, the model's reasoning right before the call.
    assistant_text_before: of a tool turn, what the assistant wrote right before the call.
    """

    reflection: str | None = None
    agent_thinking: str | None = None
    tool_calls: list[ToolCallDTO] | None = None
    depth: Count | None = None
    is_subagent: bool | None = None
    name: str | None = None
    tool: str | None = None
    input: Any = None
    args: Any = None
    output: Any = None
    result: Any = None
    error_code: str | None = None
    tool_call_id: str | None = None
    started_at: Millis | None = None
    ended_at: Millis | None = None
    thinking_before: str | None = None
    assistant_text_before: str | None = None


class Turn(Shape, frozen=True, kw_only=True):
    """One turn of an episode.

    id: the host's id of the turn.
    ts: epoch ms; null or omitted is tolerated with a warning.
    role: "user", "assistant", "tool", "system"; others are ignored with a warning.
    content: a string, a list of blocks, or null.
    meta: what the host knows beside.
    """

    id: str | None = None
    ts: Millis | None = None
    role: str
    content: str | list[Block] | None = None
    meta: TurnMeta | None = None


class EpisodeMeta(Shape, frozen=True, kw_only=True):
    """What holds for all turns of an episode. Fields that are not listed are ignored.

    depth: how deep in sub-agents, a whole number from 0.
    is_subagent: the episode is a sub-agent's.
    """

    depth: Count | None = None
    is_subagent: bool | None = None


class Intent(Shape, frozen=True, kw_only=True):
    """What the episode was for.

    kind: the host's word for it.
    reason: why the host thinks so.
    """

    kind: str
    reason: str | None = None


class Episode(Shape, frozen=True, kw_only=True):
    """A finished piece of work, from a request to its answer.

    id: the host's id.
    session_id: the session.
    started_at: epoch ms; null or omitted is tolerated with a warning.
    ended_at: epoch ms.
    status: the host's word for how it ended.
    turns: all turns, in order.
    meta: what holds for all of them.
    intent: what it was for.
    r_task: reward of the task as the host knows it.
    """

    id: str
    session_id: str
    started_at: Millis | None = None
    ended_at: Millis | None = None
    status: str | None = None
    turns: list[Turn]
    meta: EpisodeMeta | None = None
    intent: Intent | None = None
    r_task: float | None = None


class CaptureOptions(Shape, frozen=True, kw_only=True):
    """Settings `capture.*` for one episode; what is omitted is as the settings say. No part of its identity.

    model: "provider/id".
    capture_abandoned: capture it also where it was abandoned.
    granularity: "turn" or "tool".
    max_text_chars: longest text kept, in chars.
    max_tool_output_chars: longest tool output kept, in chars.
    embed_traces: make vectors.
    alpha_scoring: have a model score reflections.
    synth_reflections: have a model write missing reflections.
    llm_concurrency: model calls at once.
    batch_mode: "auto", "per_step", "per_episode".
    batch_threshold: with "auto", the most steps that go into one call.
    reflection_context_mode: "task" or "task_downstream".
    long_episode_reflect_mode: "per_step_parallel" or "per_step_downstream".
    downstream_step_count: how many later steps are shown, at most 3.
    task_context_max_chars: size of the task's part of a prompt, in chars.
    downstream_context_max_chars: size of the later steps' part, in chars.
    downstream_per_step_max_chars: size of one later step, in chars.
    outcome_max_chars: size of the outcome's part, in chars.
    max_llm_calls_per_episode: most model calls.
    result_detail: "full" or "ids".
    """

    model: str | None = None
    capture_abandoned: bool | None = None
    granularity: str | None = None
    max_text_chars: Count | None = None
    max_tool_output_chars: Count | None = None
    embed_traces: bool | None = None
    alpha_scoring: bool | None = None
    synth_reflections: bool | None = None
    llm_concurrency: Count | None = None
    batch_mode: str | None = None
    batch_threshold: Count | None = None
    reflection_context_mode: str | None = None
    long_episode_reflect_mode: str | None = None
    downstream_step_count: Count | None = None
    task_context_max_chars: Count | None = None
    downstream_context_max_chars: Count | None = None
    downstream_per_step_max_chars: Count | None = None
    outcome_max_chars: Count | None = None
    max_llm_calls_per_episode: Count | None = None
    result_detail: str | None = None


class EpisodeFinalizedParams(Shape, frozen=True, kw_only=True):
    """Params of `capture/episodeFinalized`.

    episode: the episode.
    closed_by: "finalized" (the default) or "abandoned".
    idempotency_key: the host's own key for the content; omitted means its hash.
    project: what scopes search; omitted means the session's.
    options: settings for this episode.
    """

    episode: Episode
    closed_by: str | None = None
    idempotency_key: str | None = None
    project: str | None = None
    options: CaptureOptions | None = None

    @property
    def session_id(self) -> str:
        """The episode's session, in whose order of arrival the request takes effect."""
        return self.episode.session_id


class EpisodeFinalizedResult(Shape, frozen=True, kw_only=True):
    """Result of `capture/episodeFinalized`: the episode and its job are on disk.

    job_id: the job; null where the episode was skipped.
    episode_id: the episode.
    revision: how often its content has changed, from 1.
    status: "accepted", "duplicate" (known and unfinished), "done" (known and finished), "skipped".
    reason: why it was skipped.
    """

    job_id: str | None
    episode_id: str
    revision: Count
    status: str
    reason: str | None = None


class CaptureStatusParams(Shape, frozen=True, kw_only=True):
    """Params of `capture/status`. One of the two is given.

    job_id: the job.
    episode_id: the episode, of which the newest revision counts.
    """

    job_id: str | None = None
    episode_id: str | None = None


class CaptureError(Shape, frozen=True, kw_only=True):
    """Why a job failed.

    code: such as "internal" or "deleted".
    message: one sentence for a person.
    retryable: whether capture/retry can help.
    """

    code: str
    message: str
    retryable: bool


class CaptureStatusResult(Shape, frozen=True, kw_only=True):
    """Result of `capture/status`.

    job_id: the job.
    episode_id: the episode.
    state: "queued", "running", "done", "doneEmpty", "failed".
    attempts: how often it was started.
    stage: where it is, or where it failed.
    error: why it failed.
    """

    job_id: str
    episode_id: str
    state: str
    attempts: Count
    stage: str | None = None
    error: CaptureError | None = None


class CaptureDrainParams(Shape, frozen=True, kw_only=True):
    """Params of `capture/drain`.

    timeout_ms: how long to wait, in ms; omitted means not at all.
    """

    timeout_ms: Count | None = None


class CaptureDrainResult(Shape, frozen=True, kw_only=True):
    """Result of `capture/drain`.

    remaining: jobs of this connection's sessions that are not finished.
    """

    remaining: Count


class CaptureRetryParams(Shape, frozen=True, kw_only=True):
    """Params of `capture/retry`.

    job_id: a failed job.
    """

    job_id: str


class CaptureRetryResult(Shape, frozen=True, kw_only=True):
    """Result of `capture/retry`.

    job_id: the new job.
    """

    job_id: str


class StageTimings(Shape, frozen=True, kw_only=True):
    """How long each stage took, in ms.

    extract: finding the steps.
    normalize: cutting and cleaning them.
    reflect: finding or writing reflections.
    alpha: scoring them.
    embed: making vectors.
    persist: writing it all.
    """

    extract: Count
    normalize: Count
    reflect: Count
    alpha: Count
    embed: Count
    persist: Count


class LlmCalls(Shape, frozen=True, kw_only=True):
    """How many model calls were needed; repairs and retries do not count.

    reflection_synth: to write reflections.
    alpha_scoring: to score them.
    batched_reflection: 1 where one call for all steps was accepted, else 0.
    """

    reflection_synth: Count
    alpha_scoring: Count
    batched_reflection: Count


class CaptureWarning(Shape, frozen=True, kw_only=True):
    """Something that went less well than it should, without failing the episode.

    stage: where.
    code: such as "llm_unavailable", "llm_timeout", "llm_output_malformed", "embedding_failed".
    message: one sentence for a person.
    detail: what a program may want to know, any JSON.
    """

    stage: str
    code: str | None = None
    message: str
    detail: Any = None


class CaptureResult(Shape, frozen=True, kw_only=True):
    """What became of an episode.

    episode_id: the episode.
    session_id: the session.
    trace_ids: its traces, in step order.
    traces: the same in full; empty with the setting `capture.resultDetail` "ids".
    started_at: epoch ms.
    completed_at: epoch ms.
    stage_timings: how long each stage took.
    llm_calls: how many model calls were needed.
    usage: what they cost; null where no model was called.
    warnings: what went less well.
    state: "done" or "doneEmpty".
    redactions: how many secrets were replaced.
    """

    episode_id: str
    session_id: str
    trace_ids: list[str]
    traces: list[Trace]
    started_at: Millis
    completed_at: Millis
    stage_timings: StageTimings
    llm_calls: LlmCalls
    usage: Usage | None
    warnings: list[CaptureWarning]
    state: str
    redactions: Count


class CaptureStarted(Shape, frozen=True, kw_only=True):
    """Params of the event `capture.started`; not kept, and sent again when a job is resumed.

    job_id: the job.
    episode_id: the episode.
    session_id: the session.
    """

    job_id: str
    episode_id: str
    session_id: str


class CaptureDone(Shape, frozen=True, kw_only=True):
    """Params of the event `capture.done`.

    job_id: the job.
    seq: place in the store's order of commits.
    replayed: the result is an earlier one, sent again.
    result: what became of the episode.
    """

    job_id: str
    seq: Int
    replayed: bool | None = None
    result: CaptureResult


class CaptureFailed(Shape, frozen=True, kw_only=True):
    """Params of the event `capture.failed`.

    job_id: the job.
    seq: place in the store's order of commits; null while the store itself fails.
    episode_id: the episode.
    session_id: the session.
    stage: where it failed.
    error: why.
    """

    job_id: str
    seq: Int | None
    episode_id: str
    session_id: str
    stage: str
    error: CaptureError
