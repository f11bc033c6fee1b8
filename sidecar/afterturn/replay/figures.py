"""What a replay found out about one file. Sizes in chars, times in epoch ms, durations in ms."""

from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from afterturn.replay.stream import Call


class ToolFigures(msgspec.Struct, rename="camel"):
    """One kind of tool: its calls, and their results before and after."""

    calls: int = 0
    errors: int = 0
    raw_chars: int = 0
    kept_chars: int = 0

    def add(self, call: Call) -> None:
        """Count a call; its result is kept whole until something takes its place."""
        size = len(call.result_text or "")
        self.calls += 1
        self.errors += call.is_error
        self.raw_chars += size
        self.kept_chars += size

    def join(self, other: "ToolFigures") -> None:
        """Add what was counted elsewhere."""
        self.calls += other.calls
        self.errors += other.errors
        self.raw_chars += other.raw_chars
        self.kept_chars += other.kept_chars


class Point(msgspec.Struct, frozen=True, array_like=True):
    """The size of the context after one turn: as it was, and with what afterturn put in place."""

    turn: int
    at: int
    before: int
    after: int


class Curve:
    """The points of a session, eight bytes a number: a long session has tens of thousands."""

    def __init__(self) -> None:
        self._numbers = array("q")

    def add(self, point: Point) -> None:
        """The next turn's."""
        self._numbers.extend((point.turn, point.at, point.before, point.after))

    def __len__(self) -> int:
        return len(self._numbers) // 4

    @property
    def last(self) -> Point | None:
        """The newest."""
        return Point(*self._numbers[-4:]) if self._numbers else None

    def __iter__(self) -> Iterator[Point]:
        for place in range(0, len(self._numbers), 4):
            yield Point(*self._numbers[place : place + 4])


class RecapFound(msgspec.Struct, rename="camel", frozen=True):
    """A recap. turn: how many turns there were. away_ms: how long the person was away; None at the session's end."""

    session_id: str
    turn: int
    at: int | None
    away_ms: int | None
    text: str
    origin: str
    model: str | None


class TraceFound(msgspec.Struct, rename="camel", frozen=True):
    """A trace in short. reflected: it has a reflection, which alpha weighs."""

    trace_id: str
    session_id: str
    at: int
    alpha: float
    reflected: bool
    asked: str
    said: str
    tools: list[str]
    reflection: str | None


class Spend(msgspec.Struct, rename="camel"):
    """What model calls cost; None where that is not known."""

    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost: float | None = 0.0
    models: list[str] = []

    def add(self, usage: Any) -> None:
        """Add a `Usage` of the protocol, as JSON; None is nothing."""
        if usage is not None:
            tokens = (usage["inputTokens"], usage["outputTokens"])
            self.join(Spend(usage["calls"], *tokens, usage["cost"], [usage["model"]]))

    def join(self, other: "Spend") -> None:
        """Add what was spent elsewhere."""
        self.calls += other.calls
        self.input_tokens = _counted(self.input_tokens, other.input_tokens)
        self.output_tokens = _counted(self.output_tokens, other.output_tokens)
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        self.models = list(dict.fromkeys([*self.models, *other.models]))


def _counted(known: int | None, more: int | None) -> int | None:
    return None if known is None or more is None else known + more


class SessionFigures(msgspec.Struct, rename="camel", kw_only=True):
    """One session. parent_id: of the session whose sub-agent it is, or from which it branched off.

    refs: results that were archived under a ref.
    """

    session_id: str
    title: str | None
    cwd: str | None
    model: str | None
    parent_id: str | None
    branched: bool = False
    started: int | None = None
    ended: int | None = None
    turns: int = 0
    requests: int = 0
    failed_turns: int = 0
    tool_calls: int = 0
    results: int = 0
    errors: int = 0
    compactions: int = 0
    refs: int = 0
    curve: Curve = msgspec.field(name="context")
    compacted_at: list[int] = []

    @property
    def is_sub_agent(self) -> bool:
        """Whether an agent talks to it, and no person."""
        return self.parent_id is not None and not self.branched

    @property
    def lasted_ms(self) -> int | None:
        """From its first sign to its last; None where no times are known."""
        return None if self.started is None or self.ended is None else max(0, self.ended - self.started)


class FileFigures(msgspec.Struct, kw_only=True):
    """One file with all its sessions.

    may_ask: a model might be asked. warnings: what went less well, and how often. more_traces: those that are not held
    any more. new_traces: those that the user's store did not have; None where they are not kept there.
    """

    file: str
    may_ask: bool = False
    harness: str = ""
    sessions: list[SessionFigures] = []
    tools: dict[str, ToolFigures] = {}
    recaps: list[RecapFound] = []
    traces: list[TraceFound] = []
    more_traces: int = 0
    warnings: Counter[str] = msgspec.field(default_factory=Counter[str])
    spend: Spend = msgspec.field(default_factory=Spend)
    new_traces: int | None = None
    took_ms: int = 0

    @property
    def trace_count(self) -> int:
        """All that were found."""
        return len(self.traces) + self.more_traces

    def total(self, name: str) -> int:
        """A count of the sessions, summed."""
        return sum(getattr(session, name) for session in self.sessions)

    @property
    def raw_chars(self) -> int:
        """All results as they were."""
        return sum(tool.raw_chars for tool in self.tools.values())

    @property
    def kept_chars(self) -> int:
        """All results with what took their place."""
        return sum(tool.kept_chars for tool in self.tools.values())

    @property
    def main(self) -> SessionFigures:
        """The session that the file is about: of those that come of no other the one with most turns."""
        own = [session for session in self.sessions if session.parent_id is None] or self.sessions
        return max(own, key=lambda session: session.turns)
