"""Sessions put together from pieces in file order: turns leave as soon as nothing more can come to them."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

from afterturn.replay.importers.fields import wire_block
from afterturn.replay.stream import Call, Compaction, Event, SessionEnd, SessionStart, Turn

MAX_HELD_TURNS = 500
MAX_HELD_BYTES = 16 * 1024 * 1024
"""Of the file, since the oldest turn that waits for an answer. No harness seen answers a call later than that."""
LATE_TURNS = 4
"""So many turns are held though nothing is awaited: a line of one API message may come after a line of the next."""
MAX_SAID_CHARS = 4 * 1024 * 1024
"""Of a user's words without a reply; what comes then is another turn."""


class Assembly:
    """All sessions of one file, in the order in which they were begun; `position` tells how far the file is read."""

    __slots__ = ("_harness", "_ids", "_position", "_ready", "_sessions", "_skipped")

    def __init__(self, harness: str, position: Callable[[], int] = lambda: 0) -> None:
        self._harness = harness
        self._position = position
        self._ids: set[str] = set()
        self._ready: list[Event] = []
        self._sessions: dict[str, SessionAssembly] = {}
        self._skipped: Counter[str] = Counter()

    def session(self, session_id: str) -> "SessionAssembly":
        """The session of that id; it is begun where there is none yet."""
        return self._sessions.get(session_id) or self._begun(session_id)

    def next_session(self, session_id: str) -> "SessionAssembly":
        """A session of its own, in a file that holds one after another: the one before ends."""
        for earlier in list(self._sessions.values()):
            self._end(earlier)
        name, number = session_id, 1
        while name in self._ids:
            number += 1
            name = f"{session_id}#{number}"
        return self._begun(name)

    def skip(self, reason: str) -> None:
        """Counts what could not be read; it is told at the next end of a session."""
        self._skipped[reason] += 1

    def ready(self) -> Iterator[Event]:
        """The events that are complete by now."""
        if self._ready:
            yield from self._ready
            self._ready.clear()

    def finish(self) -> Iterator[Event]:
        """What is left, and the end of each session."""
        for session in list(self._sessions.values()):
            self._end(session)
            yield from self.ready()

    def _begun(self, session_id: str) -> "SessionAssembly":
        self._ids.add(session_id)
        begun = SessionAssembly(SessionStart(session_id, self._harness), self._ready, self._position)
        self._sessions[session_id] = begun
        return begun

    def _end(self, session: "SessionAssembly") -> None:
        if session.finish(dict(self._skipped)):
            self._skipped.clear()
        del self._sessions[session.start.session_id]


class SessionAssembly:
    """One session: gives each result to the oldest unanswered call of its id.

    The oldest, because ids are reused within one file by some harnesses, and results come in call order.
    """

    __slots__ = (
        "_by_key",
        "_held",
        "_open",
        "_orphans",
        "_position",
        "_ready",
        "_said",
        "_said_at",
        "_said_size",
        "_started",
        "start",
    )

    def __init__(self, start: SessionStart, ready: list[Event], position: Callable[[], int]) -> None:
        self.start = start
        self._started = False
        self._held: deque[_Held] = deque()
        self._by_key: dict[str, Turn] = {}
        self._open: dict[str, deque[tuple[Call, _Held]]] = {}
        self._orphans = 0
        self._said: list[str] = []
        self._said_at: int | None = None
        self._said_size = 0
        self._ready = ready
        self._position = position

    def user(self, text: str, timestamp: int | None = None) -> None:
        """What the user said; it opens the next turn. Blank text is dropped."""
        if text.strip():
            self._said.append(text)
            self._said_at = timestamp or self._said_at
            self._said_size += len(text)
        if self._said_size > MAX_SAID_CHARS:
            self.turn(self._said_at)

    def turn(self, timestamp: int | None = None, key: str | None = None) -> Turn:
        """Begins the next turn. `key` finds it again with `held` as long as it has not left."""
        turn = Turn(
            self.start.session_id,
            user_text="\n\n".join(self._said) or None,
            user_timestamp=self._said_at,
            timestamp=timestamp or 0,
        )
        self._said, self._said_at, self._said_size = [], None, 0
        self._hold(turn, key)
        if key is not None:
            self._by_key[key] = turn
        return turn

    def held(self, key: str) -> Turn | None:
        """The turn of that key, unless it has left."""
        return self._by_key.get(key)

    def call(self, turn: Turn, call: Call, key: str | None = None) -> None:
        """Adds a call to a turn that is held; without a result it waits for one under its id, or under `key`."""
        turn.calls.append(call)
        if call.result is not None:
            return
        held = next(each for each in reversed(self._held) if each.event is turn)
        held.waiting += 1
        key = call.tool_call_id if key is None else key
        held.keys.append(key)
        self._open.setdefault(key, deque()).append((call, held))

    def result(self, key: str, result: str | list[dict[str, Any]], *, is_error: bool, timestamp: int | None) -> None:
        """Answers a call; counted as an orphan when none waits under that key."""
        waiting = self._open.get(key)
        if not waiting:
            self._orphans += 1
            return
        call, held = waiting.popleft()
        if not waiting:
            del self._open[key]
        call.result = result if isinstance(result, str) else [wire_block(block) for block in result]
        call.is_error, call.result_timestamp = is_error, timestamp
        held.waiting -= 1

    def compaction(self, timestamp: int | None, tokens_before: int | None) -> None:
        self._hold(Compaction(self.start.session_id, timestamp, tokens_before), None)

    def finish(self, skipped: dict[str, int]) -> bool:
        """Everything leaves; words of the user that got no reply become a last turn of their own.

        False, and no event, where the session holds nothing at all.
        """
        if self._said:
            self.turn(self._said_at)
        while self._held:
            self._leave()
        if not self._started and not self._orphans:
            return False
        self._begin()
        self._ready.append(SessionEnd(self.start.session_id, self._orphans, skipped))
        return True

    def _hold(self, event: Turn | Compaction, key: str | None) -> None:
        while self._held and (self._is_settled() or self._is_too_much()):
            self._leave()
        self._held.append(_Held(event, key, self._position()))

    def _is_settled(self) -> bool:
        return self._held[0].waiting == 0 and len(self._held) >= LATE_TURNS

    def _is_too_much(self) -> bool:
        return len(self._held) >= MAX_HELD_TURNS or self._position() - self._held[0].position > MAX_HELD_BYTES

    def _leave(self) -> None:
        held = self._held.popleft()
        if held.key is not None and self._by_key.get(held.key) is held.event:
            del self._by_key[held.key]
        for key in held.keys if held.waiting else ():
            waiting = self._open.get(key)
            while waiting and waiting[0][1] is held:
                waiting.popleft()
            if waiting is not None and not waiting:
                del self._open[key]
        self._begin()
        self._ready.append(held.event)

    def _begin(self) -> None:
        if not self._started:
            self._started = True
            self._ready.append(self.start)


class _Held:
    __slots__ = ("event", "key", "keys", "position", "waiting")

    def __init__(self, event: Turn | Compaction, key: str | None, position: int) -> None:
        self.event = event
        self.key = key
        self.position = position
        self.waiting = 0  # calls without a result yet
        self.keys: list[str] = []


def say(turn: Turn, text: str) -> None:
    """Adds a piece of the assistant's prose to a turn. Blank text is dropped."""
    if text.strip():
        turn.assistant_text = text if turn.assistant_text is None else f"{turn.assistant_text}\n\n{text}"


def think(turn: Turn, text: str) -> None:
    """Adds a piece of the assistant's thinking to a turn. Blank text is dropped."""
    if text.strip():
        turn.thinking = text if turn.thinking is None else f"{turn.thinking}\n\n{text}"
