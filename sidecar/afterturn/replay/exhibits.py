"""Summaries beside their originals, for a page: the largest turns, kept on disk while a replay goes on."""

import heapq
import json
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple, cast

import msgspec

from afterturn.replay.server import Server

MOST = 300
LONGEST_ORIGINAL = 20_000
LONGEST_ARGS = 2_000


class Scene(msgspec.Struct, frozen=True):
    """A turn whose summary is still to come. session: what it is called. request: what the user had asked.

    Both are short and without secrets.
    """

    session: str
    turn: int
    at: int
    request: str


class Original(msgspec.Struct, frozen=True):
    """One call: its args, and its result as the archive gave it back, both made readable.

    total_chars: of the whole result. is_cut: the archive was not asked for all of it.
    """

    ref: str
    tool: str
    args: str
    text: str
    total_chars: int
    is_cut: bool
    is_error: bool
    replacement: str | None


class Exhibit(msgspec.Struct, frozen=True):
    """One condensed batch, of one turn or of several."""

    session: str
    turn: int
    last_turn: int
    at: int
    request: str
    summary: str
    originals: list[Original]

    @property
    def raw_chars(self) -> int:
        """Its results as they were."""
        return sum(original.total_chars for original in self.originals)

    @property
    def kept_chars(self) -> int:
        """Its results with what took their place."""
        return sum(
            original.total_chars if original.replacement is None else len(original.replacement)
            for original in self.originals
        )


class _Place(NamedTuple):
    """Where an exhibit lies in the spool; the smallest comes first in a heap. order: of the session, of the turn."""

    raw_chars: int
    order: tuple[int, int]
    start: int
    length: int


class Exhibits:
    """The MOST batches with the largest results; the originals come from the archive by their refs, as for an agent.

    spool: a file that nobody else uses. readable: makes a text one for people, without secrets.
    """

    def __init__(self, spool: IO[bytes], readable: Callable[[str], str]) -> None:
        self._spool = spool
        self._readable = readable
        self._places: list[_Place] = []  # a heap
        self._sessions: dict[str, int] = {}
        self.offered = 0

    def offer(self, server: Server, session_id: str, scenes: Sequence[Scene], result: dict[str, Any]) -> None:
        """Keep a summarised batch if it is among the largest. session_id: as the server knows it."""
        raw, scene = result["rawChars"], scenes[0]
        self.offered += 1
        session = self._sessions.setdefault(session_id, len(self._sessions))
        if len(self._places) == MOST and raw <= self._places[0].raw_chars:
            return
        exhibit = Exhibit(
            session=scene.session,
            turn=scene.turn,
            last_turn=scenes[-1].turn,
            at=scene.at,
            request=scene.request,
            summary=self._readable(result["summaryText"]),
            originals=self._originals(server, session_id, result["items"]),
        )
        data = json.dumps(msgspec.to_builtins(exhibit)).encode("ascii")
        place = _Place(raw, (session, scene.turn), self._spool.seek(0, 2), len(data))
        self._spool.write(data)
        if len(self._places) == MOST:
            heapq.heapreplace(self._places, place)
        else:
            heapq.heappush(self._places, place)

    def _originals(self, server: Server, session_id: str, items: Sequence[dict[str, Any]]) -> list[Original]:
        """What stands behind the refs of the items, each as long as a page may show it."""
        replacements = {item["shortId"]: item.get("replacement") for item in items if item.get("shortId")}
        asked = {"sessionId": session_id, "refs": list(replacements), "limit": LONGEST_ORIGINAL}
        return [
            Original(
                ref=record["shortId"],
                tool=record["toolName"],
                args=self._readable(_args_text(record["args"])[:LONGEST_ARGS]),
                text=self._readable(record["text"]),
                total_chars=record["totalChars"],
                is_cut=len(record["text"]) < record["totalChars"],
                is_error=record["isError"],
                replacement=replacements[record["shortId"]],
            )
            for record in server.ask("condense/resolveRef", asked)["records"]
        ]

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Exhibit]:
        """Those that were kept, session by session and turn by turn; one at a time in memory."""
        for place in sorted(self._places, key=lambda place: place.order):
            self._spool.seek(place.start)
            yield msgspec.convert(json.loads(self._spool.read(place.length)), Exhibit)


def _args_text(args: Any) -> str:
    """Args for reading: a name and its value a line."""
    if not isinstance(args, dict):
        return "" if args is None else _value_text(args)
    values = cast("dict[str, Any]", args)
    return "\n".join(f"{name}: {_value_text(value)}" for name, value in values.items())


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
