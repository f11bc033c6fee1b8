"""One session as its host would have sent it: every turn, every pause, every finished request."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from afterturn.replay.arrivals import Arrivals
from afterturn.replay.batches import batch_of
from afterturn.replay.captures import Captures
from afterturn.replay.conversation import Conversation
from afterturn.replay.episodes import Episodes
from afterturn.replay.exhibits import Exhibits, Scene
from afterturn.replay.figures import FileFigures, Point, RecapFound, SessionFigures
from afterturn.replay.gaps import absence, asked_at, last_sign, signs
from afterturn.replay.ledger import Ledger
from afterturn.replay.server import RequestRefused
from afterturn.replay.stream import Turn
from afterturn.replay.wording import name_of
from afterturn.text import cut_words, one_line
from afterturn_protocol.capture import Episode

FLUSH_CHARS = 100_000
"""In a long request a host flushes when so much waits, about 25,000 tokens: its context fills up."""

LARGEST_TURN = 10_000_000
"""More chars of results than this may not fit a message, whose limit is in bytes."""

_LINE = 200
_LOOKED_AT = 4000


class Desk(msgspec.Struct, frozen=True):
    """What all sessions of a file share.

    work: the server of turns and recaps. exhibits: what is kept of the originals for a page, if anything is.
    away_ms: a longer pause has a recap at its end. readable: a text for people, without secrets.
    """

    work: Arrivals
    captures: Captures
    found: FileFigures
    exhibits: Exhibits | None
    away_ms: int
    readable: Callable[[str], str]

    def line(self, text: str) -> str:
        """A text as one short line without secrets."""
        return cut_words(one_line(self.readable(text[:_LOOKED_AT])), _LINE)


class HostedSession:
    """Sends one session, in order, and notes what comes back.

    wire_id: the session's id for the server. project: its folder. depth: how deep in sub-agents. A turn is held back
    until it is known whether it was the last one of its request.
    """

    def __init__(self, desk: Desk, figures: SessionFigures, wire_id: str, project: str | None, depth: int) -> None:
        self._desk = desk
        self._server = desk.work.server
        self._figures = figures
        self._id = wire_id
        self._ledger = Ledger(desk.found.tools)
        self._conversation = Conversation()
        self._episodes = Episodes(wire_id, depth)
        self._is_read = depth == 0
        self._held: Turn | None = None
        self._unanswered: str | None = None
        self._request = ""
        self._scenes: dict[int, Scene] = {}
        self._last_sign: int | None = None
        self._sent = 0
        self._highest_ref = 0
        opening = {"sessionId": wire_id, "project": project, "reason": "new", "interactive": self._is_read}
        self._server.ask("session/open", opening)
        desk.captures.begin(wire_id, figures.session_id, project)

    # -- what happened -----------------------------------------------------------------------------------------

    def turn(self, turn: Turn) -> None:
        """A turn. One that failed is left out, as a host leaves it out; its request goes to the attempt after it.

        Only a recap is told of it: it is where the person left the session.
        """
        self._count(turn)
        self._release(request_over=bool(turn.user_text))
        if turn.user_text:
            self._asked(turn)
        self._conversation.add(turn)
        self._last_sign = last_sign(turn) or self._last_sign
        asked = _joined(self._unanswered, turn.user_text)
        if turn.failed:
            self._figures.failed_turns += 1
            self._unanswered = asked
        else:
            self._held, self._unanswered = msgspec.structs.replace(turn, user_text=asked), None

    def compacted(self) -> None:
        """The harness made a summary of what came before."""
        self._release(request_over=False)
        self._figures.compactions += 1
        self._figures.compacted_at = [*self._figures.compacted_at, self._sent]
        self._ledger.compacted()
        self._server.notify("session/changed", {"sessionId": self._id, "kind": "compaction"})

    def end(self) -> None:
        """Nothing more comes: the last request is over, and a last recap is asked for."""
        self._release(request_over=True)
        self._capture(self._episodes.close())
        self._recap(self._last_sign, None)
        self._desk.captures.finish(self._id)
        self._server.ask("session/close", {"sessionId": self._id})

    def ready(self, result: dict[str, Any]) -> None:
        """`condense.ready`."""
        self._desk.found.spend.add(result["usage"])
        for warning in result["warnings"]:
            self._desk.found.warnings[f"condense: {warning['message']}"] += 1
        self._ledger.settle(result["items"])
        turns = {item["turnIndex"] for item in result["items"]}
        scenes = [scene for turn in sorted(turns) if (scene := self._scenes.pop(turn, None)) is not None]
        if self._desk.exhibits is not None and scenes and result["outcome"] == "summarized":
            self._desk.exhibits.offer(self._server, self._id, scenes, result)

    # -- what a host does then ---------------------------------------------------------------------------------

    def _count(self, turn: Turn) -> None:
        figures, calls = self._figures, turn.calls
        figures.turns += 1
        figures.requests += bool(turn.user_text)
        figures.tool_calls += len(calls)
        figures.results += sum(call.result is not None for call in calls)
        figures.errors += sum(call.is_error for call in calls)
        self._ledger.count(turn)
        times = signs(turn)
        if times:
            figures.started = min(*times, figures.started or times[0])
            figures.ended = max(*times, figures.ended or times[0])

    def _asked(self, turn: Turn) -> None:
        """A request comes after a pause, maybe a long one; what went before it is finished."""
        self._request = self._desk.line(turn.user_text or "")
        if self._figures.title is None:
            self._figures.title = self._request or None
        self._capture(self._episodes.close())
        away = absence(self._last_sign, asked_at(turn), self._desk.away_ms)
        if away is not None:
            self._recap(asked_at(turn), away)

    def _release(self, *, request_over: bool) -> None:
        """Send the turn that was held back. A reply without calls ends its request, too."""
        turn, self._held = self._held, None
        if turn is None:
            return
        index = self._sent
        self._sent += 1
        self._condense(turn, index, final=request_over or not turn.calls)
        self._capture(self._episodes.add(turn))
        self._figures.curve.add(Point(index, last_sign(turn) or 0, self._ledger.before, self._ledger.after))

    def _condense(self, turn: Turn, index: int, *, final: bool) -> None:
        """`condense/onTurnEnd`, and what is ready then; whatever waits at the end of a request is asked for."""
        if self._desk.exhibits is not None and turn.calls:
            self._scenes[index] = Scene(name_of(self._figures), index, turn.timestamp, self._request)
        answer = self._told(turn, index, final)
        self._ledger.add(turn, index, answer["items"])
        self._count_refs(answer["items"])
        if not self._ledger.waits or not (final or self._ledger.waiting_chars >= FLUSH_CHARS):
            return
        if not answer["willCondense"]:
            self._server.ask("condense/flush", {"sessionId": self._id})
        if not self._desk.work.until(lambda: not self._ledger.waits, "batches"):
            self._desk.found.warnings["a turn whose condensing did not end"] += self._ledger.waiting_turns
            self._ledger.give_up()

    def _count_refs(self, items: Sequence[dict[str, Any]]) -> None:
        """New ones: they only grow, and a call that came before has the ref that it had."""
        for item in items:
            ref = item.get("shortId")
            if ref is not None and item["state"] != "recovered" and int(ref[1:]) > self._highest_ref:
                self._highest_ref = int(ref[1:])
                self._figures.refs += 1

    def _told(self, turn: Turn, index: int, final: bool) -> dict[str, Any]:
        batch = batch_of(turn, index) if turn.calls else None
        if sum(len(call.result_text or "") for call in turn.calls) > LARGEST_TURN:
            self._desk.found.warnings["a turn with more results than fit a message: left as it is"] += 1
            batch = None
        told = {"sessionId": self._id, "batch": batch, "final": final}
        try:
            return self._server.ask("condense/onTurnEnd", told)
        except RequestRefused as refusal:
            self._desk.found.warnings[str(refusal)] += 1
            return self._server.ask("condense/onTurnEnd", {**told, "batch": None})

    def _capture(self, episodes: Sequence[Episode]) -> None:
        for episode in episodes:
            self._desk.captures.send(episode)

    def _recap(self, at: int | None, away_ms: int | None) -> None:
        """`recap/now`: the session's context is what a host would push at that moment. Nobody reads a sub-agent's."""
        if self._conversation.is_empty or not self._is_read:
            return
        asked = {"sessionId": self._id, "context": self._conversation.context()}
        try:
            recap = self._server.ask("recap/now", asked)["recap"]
        except RequestRefused as refusal:
            self._desk.found.warnings[str(refusal)] += 1
            return
        if recap is None:
            return
        self._desk.found.spend.add(recap["usage"])
        self._desk.found.recaps.append(
            RecapFound(
                session_id=self._figures.session_id,
                turn=self._sent,
                at=at,
                away_ms=away_ms,
                text=recap["text"],
                origin=recap["origin"],
                model=recap["model"],
            )
        )


def _joined(first: str | None, second: str | None) -> str | None:
    return f"{first}\n\n{second}" if first and second else first or second
