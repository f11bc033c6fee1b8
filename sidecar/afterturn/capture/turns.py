"""Turns as capture reads them: their text, calls and what was put into them (capture.md, 'Input', 'Steps').

What is odd but harmless is tolerated here and counted.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from afterturn.capture.injected import (
    Strip,
    is_plain,
    own_blocks,
    value_without_recalled,
    without_injected,
    without_own,
    without_recalled,
)
from afterturn.capture.notes import Notes, joined
from afterturn.capture.reading import Redactor, redacted_value
from afterturn.capture.unwrapping import UNKNOWN, calls_of_turn, is_from_text, unwrapped
from afterturn_protocol.blocks import content_text
from afterturn_protocol.capture import Episode, Turn, TurnMeta
from afterturn_protocol.traces import ToolCallDTO

_NO_META = TurnMeta()
ROLES = ("user", "assistant", "tool", "system")


class ReadTurn(Struct, frozen=True, kw_only=True):
    """One turn. position: its index in the episode. turn_id: the host's, None where it has none. ts: epoch ms.

    injected: of a user turn, all that it said was put in. calls: of a tool turn what it tells of, of an assistant
    turn what it lists. given: the reflection that the host sent, word for word.
    """

    position: int
    turn_id: str | None
    ts: int
    role: str
    text: str
    injected: bool
    thinking: str | None
    calls: tuple[ToolCallDTO, ...]
    given: str | None
    depth: int | None
    is_subagent: bool | None


def read_turns(episode: Episode, redact: Redactor, notes: Notes) -> list[ReadTurn]:
    """The user, assistant and tool turns of an episode, in order."""
    read: list[ReadTurn] = []
    times = _times(episode, notes)
    for position, turn in enumerate(episode.turns):
        if turn.role not in ROLES:
            notes.add("extract", "role_unknown")
        if turn.role in ("user", "assistant", "tool"):
            read.append(_read(position, turn, times[position], redact, notes))
    return read


def _times(episode: Episode, notes: Notes) -> list[int]:
    """A time for every turn: its own, else that of the turn before it, else the first that is known, else 0."""
    known = [turn.ts for turn in episode.turns if turn.ts is not None]
    last = episode.started_at
    if last is None:
        last = known[0] if known else (episode.ended_at or 0)
    times: list[int] = []
    for turn in episode.turns:
        last = last if turn.ts is None else turn.ts
        times.append(last)
    notes.add("extract", "time_missing", len(times) - len(known))
    return times


def _read(position: int, turn: Turn, ts: int, redact: Redactor, notes: Notes) -> ReadTurn:
    meta, role = turn.meta or _NO_META, turn.role
    if turn.content is None and role != "tool" and not meta.tool_calls:
        notes.add("extract", "content_null")
    text, injected = _text(turn, notes)
    calls: Sequence[ToolCallDTO] = ()
    thinking = given = None
    if role == "tool":
        calls, text = _told(turn.meta, text, redact), ""
    elif role == "assistant":
        calls = [inner for call in meta.tool_calls or () for inner in _clean(call.name, unwrapped(call), redact)]
        thinking = _thinking(turn, notes)
        given = _own(meta.reflection, without_recalled, notes)
        if given is not None and not given.strip():
            given = None
    return ReadTurn(
        position=position,
        turn_id=turn.id or None,
        ts=ts,
        role=role,
        text=text,
        injected=injected,
        thinking=thinking,
        calls=tuple([_without_recalled(call, notes) for call in calls]),
        given=given,
        depth=meta.depth,
        is_subagent=meta.is_subagent,
    )


def _text(turn: Turn, notes: Notes) -> tuple[str, bool]:
    """The text of a turn without what was put in, and whether that was all of a user turn."""
    content = turn.content
    if isinstance(content, str) and is_plain(content):
        return content, False
    # What a tool gave may stand there for its output, condensed: the agent saw nothing else.
    strip = {"user": without_injected, "assistant": without_own}.get(turn.role, without_recalled)
    put_in = 0
    if isinstance(content, list):
        content, put_in = own_blocks(content, strip)
    text, stripped = strip(content_text(content))
    put_in += stripped
    notes.add("extract", "injected", put_in)
    shown = isinstance(content, list) and any(block.get("type") == "image" for block in content)
    return text, bool(put_in) and turn.role == "user" and not text.strip() and not shown


def _told(meta: TurnMeta | None, text: str, redact: Redactor) -> list[ToolCallDTO]:
    name = (meta.name or meta.tool) if meta else None
    return _clean(name or UNKNOWN, calls_of_turn(meta, text), redact)


def _clean(name: str, calls: list[ToolCallDTO], redact: Redactor) -> list[ToolCallDTO]:
    """The calls behind one that is named so, without what shows as a secret only now that names stand beside values."""
    if not is_from_text(name, calls):
        return calls
    return [
        replace(each, input=redacted_value(each.input, redact)[0], output=redacted_value(each.output, redact)[0])
        for each in calls
    ]


def _without_recalled(call: ToolCallDTO, notes: Notes) -> ToolCallDTO:
    input, stripped = value_without_recalled(call.input)
    output, more = value_without_recalled(call.output)
    stripped += more
    notes.add("extract", "injected", stripped)
    thought = _own(call.thinking_before, without_recalled, notes)
    said = _own(call.assistant_text_before, without_own, notes)
    if not stripped and thought is call.thinking_before and said is call.assistant_text_before:
        return call
    return replace(call, input=input, output=output, thinking_before=thought, assistant_text_before=said)


def _own(text: str | None, strip: Strip, notes: Notes) -> str | None:
    """A text without what this program wrote."""
    if text is None or is_plain(text):
        return text
    left, stripped = strip(text)
    notes.add("extract", "injected", stripped)
    return left if stripped else text


def _thinking(turn: Turn, notes: Notes) -> str | None:
    """The agent's reasoning: what the host sent beside the turn, and thinking blocks; the same twice is once."""
    thought = turn.meta.agent_thinking if turn.meta else None
    thought = _own(thought, without_recalled, notes)
    if not isinstance(turn.content, list):
        return thought.strip() or None if thought else None
    parts = [thought]
    if turn.content:
        blocks = [block for block in turn.content if block.get("type") == "thinking"]
        texts = [text for block in blocks if isinstance(text := block.get("text", block.get("thinking")), str)]
        parts += [_own(text, without_recalled, notes) for text in texts]
    return joined(dict.fromkeys(parts)) or None
