"""Whole sessions, for where a file is known to fit into memory."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from afterturn.replay.reading import events
from afterturn.replay.stream import Call, Compaction, Event, SessionStart, Turn


class Session(msgspec.Struct):
    """The turns and compactions of one session in the order they happened; the rest is as in its start and end."""

    session_id: str
    turns: list[Turn] = []
    compactions: list[Compaction] = []
    start: SessionStart | None = None
    orphan_results: int = 0
    skipped: dict[str, int] = {}

    @property
    def calls(self) -> list[Call]:
        return [call for turn in self.turns for call in turn.calls]


def sessions(path: Path) -> list[Session]:
    """All sessions of a file, in the order in which they begin. Raises UnreadableError."""
    return collected(events(path))


def collected(stream: Iterable[Event]) -> list[Session]:
    """The sessions that a stream of events tells of."""
    found: dict[str, Session] = {}
    for event in stream:
        session = found.setdefault(event.session_id, Session(event.session_id))
        if isinstance(event, SessionStart):
            session.start = event
        elif isinstance(event, Turn):
            session.turns.append(event)
        elif isinstance(event, Compaction):
            session.compactions.append(event)
        else:
            session.orphan_results, session.skipped = event.orphan_results, event.skipped
    return list(found.values())
