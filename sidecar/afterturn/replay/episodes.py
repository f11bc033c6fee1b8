"""Episodes: a user request and its turns, as `capture/episodeFinalized` takes them (capture.md, 'Input')."""

import hashlib
from collections import Counter

from afterturn.replay.ends import both_ends
from afterturn.replay.stream import Call, Turn
from afterturn_protocol.capture import Episode, EpisodeMeta, TurnMeta
from afterturn_protocol.capture import Turn as EpisodeTurn

MOST_CHARS = 4_000_000
"""An episode that would be longer goes in parts: a message has a limit, and so has this process's memory."""

LONGEST_RESULT = 200_000
"""Capture keeps 2,000 chars of an output; what is sent of a huge one is its head and its tail."""


class Episodes:
    """Collects the turns of one session; `add` and `close` give the episodes that are finished.

    An episode's id is made of its session, its request and when that was made, so that the same file gives the same
    ids, also once it has grown.
    """

    def __init__(self, session_id: str, depth: int) -> None:
        self._session_id = session_id
        self._meta = EpisodeMeta(depth=depth, is_subagent=True) if depth else None
        self._seen: Counter[str] = Counter()
        self._id = ""
        self._part = 0
        self._request: Turn | None = None
        self._turns: list[EpisodeTurn] = []
        self._chars = 0
        self._answered = False
        self._started: int | None = None
        self._ended: int | None = None

    def add(self, turn: Turn) -> list[Episode]:
        """Take a turn in; the episode that its request ended, or the part that it filled."""
        done = self.close() if turn.user_text else []
        if self._request is None or turn.user_text:
            self._begin(turn)
        self._append(turn)
        if self._chars > MOST_CHARS:
            done += self._finished()
            self._part += 1
            self._again()
        return done

    def close(self) -> list[Episode]:
        """The episode under way, if the assistant did anything in it."""
        done = self._finished()
        self._request = None
        return done

    def _begin(self, turn: Turn) -> None:
        said = (turn.user_text or "").encode("utf-8", "surrogatepass")
        key = hashlib.sha256(b"%d\0" % (turn.user_timestamp or 0) + said).hexdigest()[:16]
        self._seen[key] += 1
        again = f".{self._seen[key]}" if self._seen[key] > 1 else ""
        self._id = f"{self._session_id}#{key}{again}"
        self._part = 0
        self._request = turn
        self._clear()

    def _again(self) -> None:
        """The next part says what it is a part of."""
        request = self._request
        self._clear()
        if request is not None and request.user_text:
            self._turns.append(_user_turn(request))

    def _clear(self) -> None:
        self._turns, self._chars, self._answered = [], 0, False
        self._started = self._ended = None

    def _append(self, turn: Turn) -> None:
        turns = turns_of(turn)
        self._turns += turns
        self._answered = self._answered or any(each.role == "assistant" for each in turns)
        self._chars += len(turn.user_text or "") + len(turn.assistant_text or "") + len(turn.thinking or "")
        self._chars += sum(min(len(call.result_text or ""), LONGEST_RESULT) for call in turn.calls)
        times = [each.ts for each in turns if each.ts is not None]
        if times:
            self._started = min(times) if self._started is None else self._started
            self._ended = max(times)

    def _finished(self) -> list[Episode]:
        turns = self._turns
        if not self._answered:
            self._clear()
            return []
        episode = Episode(
            id=f"{self._id}/{self._part + 1}" if self._part else self._id,
            session_id=self._session_id,
            started_at=self._started,
            ended_at=self._ended,
            turns=turns,
            meta=self._meta,
        )
        self._clear()
        return [episode]


def turns_of(turn: Turn) -> list[EpisodeTurn]:
    """One turn of the stream as turns of an episode: the user's, the assistant's, then one for each tool call."""
    turns = [_user_turn(turn)] if turn.user_text else []
    if turn.assistant_text or turn.calls:
        meta = TurnMeta(agent_thinking=turn.thinking) if turn.thinking else None
        turns.append(
            EpisodeTurn(ts=turn.timestamp or None, role="assistant", content=turn.assistant_text or "", meta=meta)
        )
    return turns + [_tool_turn(call, turn) for call in turn.calls]


def _user_turn(turn: Turn) -> EpisodeTurn:
    return EpisodeTurn(ts=turn.user_timestamp or turn.timestamp or None, role="user", content=turn.user_text)


def _tool_turn(call: Call, turn: Turn) -> EpisodeTurn:
    meta = TurnMeta(
        name=call.tool_name,
        input=call.args,
        output=None if call.result is None else both_ends(call.result_text or "", LONGEST_RESULT),
        error_code="error" if call.is_error else None,
        tool_call_id=call.tool_call_id,
        started_at=turn.timestamp or None,
        ended_at=call.result_timestamp,
    )
    return EpisodeTurn(ts=call.result_timestamp or turn.timestamp or None, role="tool", content=None, meta=meta)
