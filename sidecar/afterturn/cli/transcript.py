"""What a reader makes of one agent harness's session file, whatever the harness."""

from datetime import UTC, datetime
from typing import Any

import msgspec


class Call(msgspec.Struct):
    """One tool call and its result.

    `result` is the text the agent saw, or the content blocks where the harness keeps blocks
    (``{"type": "text", "text"}``, ``{"type": "image", "mimeType", "data"?}``, others as found), or None when the
    call was never answered. `result_timestamp` is in epoch ms, None when the harness keeps none.
    """

    tool_call_id: str
    tool_name: str
    args: Any = None
    result: str | list[dict[str, Any]] | None = None
    is_error: bool = False
    result_timestamp: int | None = None

    @property
    def result_text(self) -> str | None:
        """The result's text: text blocks joined by a line break (protocol.md, 'condense'); None when unanswered."""
        if not isinstance(self.result, list):
            return self.result
        return "\n".join(str(block.get("text", "")) for block in self.result if block.get("type") == "text")


class Turn(msgspec.Struct):
    """One reply of the assistant with the calls it made; `user_text` is what the user said since the turn before.

    `timestamp` is in epoch ms, 0 when the harness keeps none.
    """

    user_text: str | None = None
    assistant_text: str | None = None
    timestamp: int = 0
    calls: list[Call] = []


class Session(msgspec.Struct):
    """The turns of one session in the order they happened; `orphan_results` counts results without a call."""

    session_id: str
    turns: list[Turn] = []
    orphan_results: int = 0

    @property
    def calls(self) -> list[Call]:
        return [call for turn in self.turns for call in turn.calls]


class SessionBuilder:
    """Collects turns in file order and gives each result to the oldest unanswered call of its id.

    The oldest, because ids are reused within one file by some harnesses, and results come in call order.
    """

    __slots__ = ("_open", "_said", "session")

    def __init__(self, session_id: str) -> None:
        self.session = Session(session_id)
        self._open: dict[str, list[Call]] = {}
        self._said: list[str] = []

    def user(self, text: str) -> None:
        """What the user said; it opens the next turn. Blank text is dropped."""
        if text.strip():
            self._said.append(text)

    def turn(self, timestamp: int = 0) -> Turn:
        """Begins the next turn."""
        turn = Turn(user_text="\n\n".join(self._said) or None, timestamp=timestamp)
        self._said = []
        self.session.turns.append(turn)
        return turn

    def call(self, turn: Turn, call: Call) -> None:
        turn.calls.append(call)
        if call.result is None:
            self._open.setdefault(call.tool_call_id, []).append(call)

    def result(
        self, tool_call_id: str, result: str | list[dict[str, Any]], *, is_error: bool, timestamp: int | None
    ) -> bool:
        """Answers a call; False, and counted as an orphan, when none with that id is open."""
        waiting = self._open.get(tool_call_id)
        if not waiting:
            self.session.orphan_results += 1
            return False
        call = waiting.pop(0)
        call.result, call.is_error, call.result_timestamp = result, is_error, timestamp
        return True

    def done(self) -> Session:
        """The session; words of the user that got no reply become a last turn of their own."""
        if self._said:
            self.turn()
        return self.session


def say(turn: Turn, text: str) -> None:
    """Adds a piece of the assistant's prose to a turn. Blank text is dropped."""
    if text.strip():
        turn.assistant_text = text if turn.assistant_text is None else f"{turn.assistant_text}\n\n{text}"


def epoch_ms(stamp: object) -> int | None:
    """Epoch ms of an ISO 8601 text (UTC when it names no zone) or of a number already in ms; None for anything else."""
    if isinstance(stamp, bool) or not isinstance(stamp, int | float | str):
        return None
    if not isinstance(stamp, str):
        return int(stamp)
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
