"""From turns to steps (seed core-capture, section 4; capture.md, 'Steps').

A segment ends at a user turn once it holds an assistant turn; each is one step, or with granularity "tool" one
sub-step for each call and one for the reply.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from afterturn.capture.injected import asks_for_none, is_no_answer
from afterturn.capture.notes import Notes, joined
from afterturn.capture.turns import ReadTurn
from afterturn.capture.unwrapping import UNKNOWN
from afterturn_protocol.capture import EpisodeMeta
from afterturn_protocol.traces import ToolCallDTO

Kind = Literal["step", "synthetic", "tool", "reply"]
BETWEEN_USERS = "\n---\n"


class Step(Struct, frozen=True, kw_only=True):
    """One step of an episode; with its episode, (turn_id, kind, occurrence) is what makes it the same step again.

    turn_id: id of its first assistant turn, else "#" and its position; a synthetic step's is that of its first turn.
    ts: when that turn was, epoch ms. given: the reflection that the host sent, word for word.
    """

    turn_id: str
    kind: Kind
    occurrence: int
    ts: int
    user_text: str
    agent_text: str
    thinking: str | None
    calls: tuple[ToolCallDTO, ...]
    given: str | None
    depth: int
    is_subagent: bool
    truncated: bool = False


def steps_of(turns: Sequence[ReadTurn], meta: EpisodeMeta | None, granularity: str, notes: Notes) -> list[Step]:
    """The steps of an episode, in order."""
    steps: list[Step] = []
    segments = _segments(turns, notes)
    any_answer = any(turn.role == "assistant" for turn in turns)
    synthetic = 0
    for segment in segments:
        said = [turn for turn in segment if turn.role == "assistant"]
        worked = any(turn.calls for turn in segment)
        if said and not worked and _is_idle(segment, said):
            notes.add("extract", "injected", len(said))
        elif said:
            steps += _answered(segment, said, meta, granularity)
        elif worked or (_is_asked(segment) and not any_answer):
            steps.append(_synthetic(segment, meta))
            synthetic += 1
        elif _is_asked(segment):
            notes.add("extract", "unanswered_turn", sum(turn.role == "user" for turn in segment))
    steps = _counted(steps)
    notes.add("extract", "tool_name_missing", sum(call.name == UNKNOWN for step in steps for call in step.calls))
    logging.getLogger("afterturn.capture.extractor").debug(
        "%d turns, %d segments, %d steps, %d synthetic", len(turns), len(segments), len(steps), synthetic
    )
    return steps


def _segments(turns: Sequence[ReadTurn], notes: Notes) -> list[list[ReadTurn]]:
    segments: list[list[ReadTurn]] = []
    segment: list[ReadTurn] = []
    answered = False
    for turn in turns:
        if turn.role == "user":
            # A host may put a reminder between a call and what the agent makes of it: the exchange goes on.
            if turn.injected and segment and (segment[-1].role == "tool" or segment[-1].calls):
                continue
            if answered:
                segments.append(segment)
                segment, answered = [], False
        elif turn.role == "assistant":
            answered = True
        segment.append(turn)
    if segment:
        segments.append(segment)
    return segments


def _is_asked(segment: Sequence[ReadTurn]) -> bool:
    return any(turn.role == "user" and not turn.injected for turn in segment)


def _is_idle(segment: Sequence[ReadTurn], said: Sequence[ReadTurn]) -> bool:
    """Whether, where nothing was done, nobody asked and nothing was said either (capture.md, 'Steps').

    Who puts in a text may also do so without a mark; then it says itself what the answer to nothing is.
    """
    users = [turn for turn in segment if turn.role == "user"]
    asked = [turn.text for turn in users if not turn.injected]
    texts = [turn.text for turn in said if turn.text.strip()]
    if not all(is_no_answer(text) for text in texts):
        return False
    if users and not asked:
        return True
    return bool(texts) and all(asks_for_none(text) for text in asked)


class _Call:
    """A call on its way into a step. open: it is listed by an assistant turn, and no tool turn has told of it yet."""

    __slots__ = ("call", "open")

    def __init__(self, call: ToolCallDTO, *, open: bool) -> None:
        self.call = call
        self.open = open


_Part = ReadTurn | _Call


def _parts(segment: Sequence[ReadTurn]) -> list[_Part]:
    """The assistant turns and calls of a segment, in order; a call that is listed and told of is one call."""
    parts: list[_Part] = []
    waiting: list[_Call] = []
    answered = False
    for turn in segment:
        if turn.role == "assistant":
            answered = True
            parts.append(turn)
            listed = [_Call(call, open=True) for call in turn.calls]
            parts += listed
            waiting += listed
        elif turn.role == "tool":
            for call in turn.calls:
                match = _match(call, waiting)
                if match is not None:
                    match.call, match.open = _merged(match.call, call), False
                    waiting.remove(match)
                else:
                    parts.append(_Call(call if answered else replace(call, before_assistant=True), open=False))
    return parts


def _match(told: ToolCallDTO, waiting: Sequence[_Call]) -> _Call | None:
    """The listed call that a tool turn tells of: by id, else by name and input where one has no id."""
    if not waiting:
        return None
    if told.tool_call_id:
        found = next((each for each in waiting if each.call.tool_call_id == told.tool_call_id), None)
        if found is not None:
            return found
    named = [each for each in waiting if _may_be(each.call, told)]
    rules: tuple[Callable[[ToolCallDTO], bool], ...] = (
        lambda call: call.input == told.input,
        lambda call: call.input is None or told.input is None,
    )
    return next((each for rule in rules for each in named if rule(each.call)), None)


def _may_be(listed: ToolCallDTO, told: ToolCallDTO) -> bool:
    """Whether two calls can be one, as far as names, ids and outputs say."""
    if listed.name != told.name or (listed.tool_call_id and told.tool_call_id):
        return False
    return listed.output is None or listed.output == told.output


def _merged(listed: ToolCallDTO, told: ToolCallDTO) -> ToolCallDTO:
    """One call of what was listed and what was told; what was told wins where both say something."""
    return ToolCallDTO(
        name=listed.name if told.name == UNKNOWN else told.name,
        input=listed.input if told.input is None else told.input,
        output=listed.output if told.output is None else told.output,
        error_code=told.error_code or listed.error_code,
        tool_call_id=told.tool_call_id or listed.tool_call_id,
        started_at=listed.started_at if told.started_at is None else told.started_at,
        ended_at=listed.ended_at if told.ended_at is None else told.ended_at,
        thinking_before=told.thinking_before or listed.thinking_before,
        assistant_text_before=told.assistant_text_before or listed.assistant_text_before,
    )


def _user_text(segment: Sequence[ReadTurn]) -> str:
    return joined([turn.text for turn in segment if turn.role == "user"], BETWEEN_USERS)


def _step(
    first: ReadTurn,
    segment: Sequence[ReadTurn],
    meta: EpisodeMeta | None,
    kind: Kind,
    *,
    user_text: str,
    said: Sequence[ReadTurn],
    calls: Sequence[ToolCallDTO],
) -> Step:
    depth, is_subagent = _level(segment, meta)
    return Step(
        turn_id=first.turn_id or f"#{first.position}",
        kind=kind,
        occurrence=0,
        ts=first.ts,
        user_text=user_text,
        agent_text=joined([turn.text for turn in said]),
        thinking=joined([turn.thinking for turn in said]) or None,
        calls=tuple(calls),
        given=_given(said),
        depth=depth,
        is_subagent=is_subagent,
    )


def _given(said: Sequence[ReadTurn]) -> str | None:
    given = [turn.given for turn in said if turn.given is not None]
    return given[0] if len(given) == 1 else joined(given) or None


def _level(segment: Sequence[ReadTurn], meta: EpisodeMeta | None) -> tuple[int, bool]:
    """Depth and sub-agent flag: of the first assistant turn that says it, else of any turn, else of the episode."""
    ordered = [turn for turn in segment if turn.depth is not None or turn.is_subagent is not None]
    if not ordered:
        return (meta.depth or 0, bool(meta.is_subagent)) if meta else (0, False)
    ordered.sort(key=lambda turn: turn.role != "assistant")
    depth = next((turn.depth for turn in ordered if turn.depth is not None), meta.depth if meta else None)
    flag = next(
        (turn.is_subagent for turn in ordered if turn.is_subagent is not None), meta.is_subagent if meta else None
    )
    return depth or 0, bool(flag)


def _synthetic(segment: Sequence[ReadTurn], meta: EpisodeMeta | None) -> Step:
    first = next((turn for turn in segment if turn.role == "user" and not turn.injected), segment[0])
    calls = [part.call for part in _parts(segment) if isinstance(part, _Call)]
    return _step(first, segment, meta, "synthetic", user_text=_user_text(segment), said=(), calls=calls)


def _answered(
    segment: Sequence[ReadTurn], said: Sequence[ReadTurn], meta: EpisodeMeta | None, granularity: str
) -> list[Step]:
    user_text = _user_text(segment)
    parts = _parts(segment)
    if granularity == "turn":
        calls = [part.call for part in parts if isinstance(part, _Call)]
        return [_step(said[0], segment, meta, "step", user_text=user_text, said=said, calls=calls)]
    steps: list[Step] = []

    def add(kind: Kind, said_before: Sequence[ReadTurn], calls: Sequence[ToolCallDTO]) -> None:
        text = user_text if not steps else ""
        steps.append(_step(said[0], segment, meta, kind, user_text=text, said=said_before, calls=calls))

    reply = _reply(parts)
    before: list[ReadTurn] = []
    for part in parts:
        if isinstance(part, _Call):
            add("tool", before, [part.call])
            before = []
        elif part is not reply:
            before.append(part)
    if reply is not None:
        before.append(reply)
    if not steps or any(turn.text.strip() for turn in before):
        add("reply", before, ())
    elif before:
        steps[-1] = _with_rest(steps[-1], before)
    return steps


def _reply(parts: Sequence[_Part]) -> ReadTurn | None:
    """The assistant turn whose words end the segment: the last one, unless calls that were told of come after it."""
    last = max((index for index, part in enumerate(parts) if isinstance(part, ReadTurn)), default=-1)
    told = any(isinstance(part, _Call) and not part.open for part in parts[last + 1 :])
    part = parts[last] if last >= 0 else None
    return part if isinstance(part, ReadTurn) and not told else None


def _with_rest(step: Step, said: Sequence[ReadTurn]) -> Step:
    """A segment may end without words, but not lose what was thought."""
    thinking = joined([step.thinking, *(turn.thinking for turn in said)]) or None
    given = [text for text in (step.given, _given(said)) if text is not None]
    return replace(step, thinking=thinking, given=given[0] if len(given) == 1 else joined(given) or None)


def _counted(steps: Sequence[Step]) -> list[Step]:
    seen: dict[tuple[str, str], int] = {}
    counted: list[Step] = []
    for step in steps:
        key = (step.turn_id, step.kind)
        counted.append(replace(step, occurrence=seen.get(key, 0)) if key in seen else step)
        seen[key] = seen.get(key, 0) + 1
    return counted
