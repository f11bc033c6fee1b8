"""Condensing: batches of finished tool calls become bullets with recovery refs (protocol.md, 'condense')."""

from typing import Any

from afterturn_protocol.base import Usage
from afterturn_protocol.blocks import Block
from afterturn_protocol.refs import Ref
from afterturn_protocol.shape import Count, Int, Millis, Shape


class ToolCall(Shape, frozen=True, kw_only=True):
    """One tool call of a batch, with its result if there is one yet.

    Neither `resultText` nor `content` means no result yet; an empty one is a result.

    tool_call_id: the host's id of the call; it may occur again, then `resultTimestamp` tells them apart.
    tool_name: the tool.
    args: any JSON; omitted and null are the same.
    result_text: the result as text.
    content: the result as blocks; wins over `resultText`.
    is_error: whether the tool failed; omitted means no.
    result_timestamp: when the result came, epoch ms.
    entry_id: the host's id of the entry that holds the result, given back in the answer.
    status: "ok", "error", "denied", "notRun"; wins over `isError`.
    """

    tool_call_id: str
    tool_name: str
    args: Any = None
    result_text: str | None = None
    content: list[Block] | None = None
    is_error: bool | None = None
    result_timestamp: Int | None = None
    entry_id: str | None = None
    status: str | None = None

    @property
    def has_result(self) -> bool:
        """Whether the call has a result, be it an empty one."""
        return self.content is not None or self.result_text is not None

    @property
    def outcome(self) -> str:
        """How the call ended: `status` where it is given, else "error" or "ok" by `isError`."""
        if self.status is not None:
            return self.status
        return "error" if self.is_error else "ok"

    @property
    def failed(self) -> bool:
        """Whether the call ended with an error; a denied call, or one that was not run, did not."""
        return self.outcome == "error"


class Batch(Shape, frozen=True, kw_only=True):
    """The finished tool calls of one or more turns.

    batch_id: the host's name for the batch; the server makes one where it is omitted.
    turn_index: the turn, counted over the whole session.
    timestamp: when the turn ended, epoch ms.
    assistant_text: what the assistant wrote beside its calls.
    user_text: the request that the turn answers.
    tool_calls: the calls, in order.
    """

    batch_id: str | None = None
    turn_index: Int
    timestamp: Millis
    assistant_text: str | None = None
    user_text: str | None = None
    tool_calls: list[ToolCall]


class CondenseOptions(Shape, frozen=True, kw_only=True):
    """Settings `condense.*` for one request; what is omitted is as the settings say (condense.md, 'Options').

    model: "provider/id".
    fallback: when a model fails: "extractive" or "none".
    prune_on: "agent-message" or "on-demand".
    batching_mode: "turn" or "agent-message".
    min_batch_chars: less text than this is left alone, in chars; 0 turns the check off.
    dedup_by_content_hash: replace a repeated result by a pointer to the first.
    protected_tools: tool names left verbatim, exact or with `*`.
    protected_paths: globs of paths left verbatim.
    spill_threshold: results from this size on are replaced at once, in chars.
    spill_preview_bytes: size of their preview, in bytes.
    auto_budget_threshold: fraction of the context window at which condensing starts.
    budget_turn_delta: growth since the last turn, as a fraction of the window, at which it starts.
    max_attempts: model attempts for one batch.
    concurrency: batches worked on at once in the background.
    reasoning: "off" or "default".
    recovery_tool_name: the host's tool that brings originals back.
    idle_timeout_ms: a model that sends nothing for so long has failed, in ms.
    total_timeout_ms: limit for a model call that a request waits for, in ms.
    background_timeout_ms: limit for a model call in the background, in ms.
    """

    model: str | None = None
    fallback: str | None = None
    prune_on: str | None = None
    batching_mode: str | None = None
    min_batch_chars: Count | None = None
    dedup_by_content_hash: bool | None = None
    protected_tools: list[str] | None = None
    protected_paths: list[str] | None = None
    spill_threshold: Count | None = None
    spill_preview_bytes: Count | None = None
    auto_budget_threshold: float | None = None
    budget_turn_delta: float | None = None
    max_attempts: Count | None = None
    concurrency: Count | None = None
    reasoning: str | None = None
    recovery_tool_name: str | None = None
    idle_timeout_ms: Count | None = None
    total_timeout_ms: Count | None = None
    background_timeout_ms: Count | None = None


class SummarizeParams(Shape, frozen=True, kw_only=True):
    """Params of `condense/summarize`.

    session_id: the session.
    batch: the calls.
    options: settings for this request.
    work_done_token: asks for `$/progress` under this token.
    """

    session_id: str
    batch: Batch
    options: CondenseOptions | None = None
    work_done_token: Int | str | None = None


class CondenseItem(Shape, frozen=True, kw_only=True):
    """What became of one call of a batch.

    index: the call's place in the batch, from 0.
    tool_call_id: the call.
    result_timestamp: as it was given, epoch ms.
    entry_id: as it was given.
    turn_index: the turn of the call, counted over the whole session.
    short_id: its ref; null for a call without a result, and for a recovered one that stands for several.
    recovered_refs: for state "recovered", the refs that the recovery tool was asked for.
    state: "condensed", "passthrough", "protected", "duplicate", "incomplete", "recovered".
    duplicate_of: for state "duplicate", the first ref with the same text.
    replacement: what to put in place of the result, frozen for ever; only for "condensed" and "duplicate", and
        only where it is shorter.
    """

    index: Count
    tool_call_id: str
    result_timestamp: Int | None = None
    entry_id: str | None = None
    turn_index: Int
    short_id: str | None
    recovered_refs: list[str] | None = None
    state: str
    duplicate_of: str | None = None
    replacement: str | None = None


class CondenseWarning(Shape, frozen=True, kw_only=True):
    """Something that went less well than it should, without failing the request.

    stage: where: such as "model", "check", "archive".
    message: one sentence for a person.
    """

    stage: str
    message: str


class CondenseResult(Shape, frozen=True, kw_only=True):
    """Result of `condense/summarize`, and what `condense.ready` carries.

    A model that fails is not an error of the request: `outcome` and `warnings` say so.

    outcome: "summarized", "skipped", "failed", "disabled".
    reason: why it was not summarised: "trivial", "oversized", "deduplicated", "protected", "empty",
        "provider_error", "attempts_exhausted", "budget_exceeded"; more may come.
    retryable: whether sending the batch again can help.
    retry_after_ms: how long to wait before that, in ms.
    batch_id: the batch's id, given or made.
    summary_text: the bullets with inline refs, then the footer; only when summarised.
    refs: the summarised calls in label order; empty unless summarised.
    items: every call of the batch, in order, whatever the outcome.
    source: who wrote the summary: "model", "extractive", "none".
    raw_chars: size of the results that the summary stands for, in chars.
    summary_chars: size of `summaryText`, in chars; 0 without one.
    usage: what it cost; null where no model was called, or the result is repeated from memory.
    warnings: what went less well.
    """

    outcome: str
    reason: str | None = None
    retryable: bool | None = None
    retry_after_ms: Count | None = None
    batch_id: str
    summary_text: str | None = None
    refs: list[Ref]
    items: list[CondenseItem]
    source: str
    raw_chars: Count
    summary_chars: Count
    usage: Usage | None
    warnings: list[CondenseWarning]


class ContextUsage(Shape, frozen=True, kw_only=True):
    """How full the model's context is.

    tokens: tokens in use; null or omitted where unknown, right after a host compaction for one.
    window: size of the context window, in tokens; null or omitted where unknown.
    """

    tokens: Count | None = None
    window: Count | None = None


class CondenseTurnEndParams(Shape, frozen=True, kw_only=True):
    """Params of `condense/onTurnEnd`.

    session_id: the session.
    batch: the turn's calls; omitted for a turn without any.
    final: the turn is the last one of its user request.
    stop_reason: why the assistant stopped.
    usage: how full the context is.
    """

    session_id: str
    batch: Batch | None = None
    final: bool
    stop_reason: str | None = None
    usage: ContextUsage | None = None


class CondenseTurnEndResult(Shape, frozen=True, kw_only=True):
    """Result of `condense/onTurnEnd`. Summaries follow as `condense.ready`.

    items: the calls of this turn; a very big result has its replacement at once.
    pending_calls: calls that wait to be condensed, this turn's included.
    will_condense: work on them starts now.
    trigger: what started it: "agent-message", "budget", "delta".
    """

    items: list[CondenseItem]
    pending_calls: Count
    will_condense: bool
    trigger: str | None = None


class CondenseReady(Shape, frozen=True, kw_only=True):
    """Params of the event `condense.ready`.

    session_id: the session.
    result: what became of the batch.
    """

    session_id: str
    result: CondenseResult


class FlushParams(Shape, frozen=True, kw_only=True):
    """Params of `condense/flush`: condense what waits now.

    session_id: the session.
    """

    session_id: str


class FlushResult(Shape, frozen=True, kw_only=True):
    """Result of `condense/flush`.

    batches: how many batches were started; each ends in a `condense.ready`.
    """

    batches: Count


class FuseParams(Shape, frozen=True, kw_only=True):
    """Params of `condense/fuse`: join a range of summaries into one block. One of the two lists is given.

    session_id: the session.
    batch_ids: the batches to join.
    short_ids: the refs to join, `tN` and `bN`.
    """

    session_id: str
    batch_ids: list[str] | None = None
    short_ids: list[str] | None = None


class FuseResult(Shape, frozen=True, kw_only=True):
    """Result of `condense/fuse`.

    block_id: the block's ref, such as b1.
    summary_text: the block's text with its refs.
    refs: the calls that the block stands for.
    source: who wrote it: "model", "extractive", "none".
    usage: what it cost; null where no model was called.
    """

    block_id: str
    summary_text: str
    refs: list[Ref]
    source: str
    usage: Usage | None


class PlanParams(Shape, frozen=True, kw_only=True):
    """Params of `condense/plan`.

    session_id: the session.
    """

    session_id: str


class PlannedReplacement(Shape, frozen=True, kw_only=True):
    """A result to replace in the host's history.

    tool_call_id: the call.
    result_timestamp: as it was given, epoch ms.
    entry_id: as it was given.
    short_id: its ref.
    text: what to put there, the same bytes for ever.
    """

    tool_call_id: str
    result_timestamp: Int | None = None
    entry_id: str | None = None
    short_id: str
    text: str


class PlannedSummary(Shape, frozen=True, kw_only=True):
    """The summary of a batch.

    batch_id: the batch.
    summary_text: bullets with inline refs, then the footer.
    refs: the summarised calls in label order.
    """

    batch_id: str
    summary_text: str
    refs: list[Ref]


class PlannedBlock(Shape, frozen=True, kw_only=True):
    """A block that stands for several batches.

    block_id: its ref.
    summary_text: its text with its refs.
    refs: the calls that it stands for.
    """

    block_id: str
    summary_text: str
    refs: list[Ref]


class PlanResult(Shape, frozen=True, kw_only=True):
    """Result of `condense/plan`: all that a host has to apply to rebuild its condensed history.

    replacements: single results, in order.
    summaries: batches, in order.
    blocks: blocks, in order.
    plan_hash: equal as long as the plan is.
    """

    replacements: list[PlannedReplacement]
    summaries: list[PlannedSummary]
    blocks: list[PlannedBlock]
    plan_hash: str
