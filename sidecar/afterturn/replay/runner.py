"""A file through the real methods: every session in it, as its host would have sent it."""

import time
from collections.abc import Callable, Iterable
from typing import Any

from afterturn.replay.arrivals import Arrivals
from afterturn.replay.captures import Captures
from afterturn.replay.exhibits import Exhibits
from afterturn.replay.figures import Curve, FileFigures, SessionFigures
from afterturn.replay.host import Desk, HostedSession
from afterturn.replay.server import RequestRefused, Server
from afterturn.replay.stream import Compaction, Event, SessionEnd, SessionStart, Turn

_DEEPEST = 64


class Replay:
    """Sends files to servers. work: for turns and recaps. memory: for traces; the same one, or one whose store keeps
    them, so that those that are new are counted. Nothing else of a file stays on any server.

    readable: makes a text one for people, without secrets. away_ms: a longer pause has a recap at its end.
    may_ask: the servers have a model.
    """

    def __init__(
        self,
        work: Server,
        memory: Server,
        *,
        readable: Callable[[str], str],
        away_ms: int,
        may_ask: bool = False,
        exhibits: Exhibits | None = None,
    ) -> None:
        self._work = work
        self._memory = memory
        self._readable = readable
        self._away_ms = away_ms
        self._may_ask = may_ask
        self._exhibits = exhibits

    def run(self, file: str, events: Iterable[Event]) -> FileFigures:
        """Send what a file holds, as it is read. Raises ServerFailed, and whatever reading raises."""
        begun = time.monotonic()
        found = FileFigures(file=file, may_ask=self._may_ask)
        sessions = _Sessions()
        memory = Arrivals(self._memory)
        kept = self._memory is not self._work
        captures = Captures(
            self._memory, lambda done: memory.until(done, "captureJobs"), found, self._readable, kept=kept
        )
        work = Arrivals(self._work) if kept else memory
        memory.handle("capture.done", captures.done)
        memory.handle("capture.failed", captures.failed)
        work.handle("condense.ready", sessions.ready)
        desk = Desk(work, captures, found, self._exhibits, self._away_ms, self._readable)
        for event in events:
            sessions.take(event, desk)
        found.took_ms = round((time.monotonic() - begun) * 1000)
        return found

    def forget(self, found: FileFigures) -> None:
        """Erase what a file left, traces that are to be kept aside: others follow, and the disk is not endless."""
        for session in found.sessions:
            try:
                self._work.ask("session/delete", {"sessionId": wire_id_of(found.harness, session.session_id)})
            except RequestRefused:
                continue  # a very long one takes longer than a request may; its store goes at the end in any case


def wire_id_of(harness: str, session_id: str) -> str:
    """A session's id for the server: never that of the same session as its harness calls it, which may be live."""
    return f"{harness}:{session_id}"


class _Sessions:
    """The sessions of one file; they may be interleaved."""

    def __init__(self) -> None:
        self._hosted: dict[str, HostedSession] = {}
        self._by_wire_id: dict[str, HostedSession] = {}
        self._depths: dict[str, int] = {}

    def take(self, event: Event, desk: Desk) -> None:
        """One event."""
        match event:
            case SessionStart():
                self._start(event, desk)
            case Turn():
                self._hosted[event.session_id].turn(event)
            case Compaction():
                self._hosted[event.session_id].compacted()
            case SessionEnd():
                self._end(event, desk)

    def ready(self, params: dict[str, Any]) -> None:
        """`condense.ready`."""
        session = self._by_wire_id.get(params["sessionId"])
        if session is not None:
            session.ready(params["result"])

    def _start(self, start: SessionStart, desk: Desk) -> None:
        found = desk.found
        found.harness = start.harness
        figures = SessionFigures(
            session_id=start.session_id,
            title=None if start.title is None else desk.line(start.title) or None,
            cwd=None if start.cwd is None else desk.readable(start.cwd),
            model=None if start.model is None else desk.readable(start.model),
            parent_id=start.parent_id,
            branched=start.branched,
            started=start.started,
            curve=Curve(),
        )
        found.sessions.append(figures)
        depth = 0
        if start.parent_id is not None:
            depth = min(self._depths.get(start.parent_id, 0) + figures.is_sub_agent, _DEEPEST)
        self._depths[start.session_id] = depth
        wire_id = wire_id_of(start.harness, start.session_id)
        hosted = HostedSession(desk, figures, wire_id, start.cwd, depth)
        self._hosted[start.session_id] = self._by_wire_id[wire_id] = hosted

    def _end(self, end: SessionEnd, desk: Desk) -> None:
        hosted = self._hosted.pop(end.session_id)
        hosted.end()
        self._by_wire_id = {wire_id: each for wire_id, each in self._by_wire_id.items() if each is not hosted}
        if end.orphan_results:
            desk.found.warnings["a result without a call"] += end.orphan_results
        for reason, count in end.skipped.items():
            desk.found.warnings[f"skipped: {reason}"] += count
