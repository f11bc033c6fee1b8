"""Episodes on their way into traces (capture.md)."""

from collections.abc import Callable
from typing import Any

from afterturn.replay.figures import FileFigures, TraceFound
from afterturn.replay.server import RequestRefused, Server, ServerFailed
from afterturn.store_error import StoreError
from afterturn.text import cut_words, one_line
from afterturn_protocol.capture import Episode

MOST_AT_ONCE = 16
_GIST = 300
_LOOKED_AT = 2000
_PAGE = 500


class Captures:
    """Sends episodes and collects what they became. wait: until a condition holds, False where it never will.
    readable: makes a text one for people, without secrets.

    kept: the server is not that of the turns, and its store keeps the traces: sessions are opened there as well, and
    what the store did not have before is counted.
    """

    def __init__(
        self,
        server: Server,
        wait: Callable[[Callable[[], bool]], bool],
        found: FileFigures,
        readable: Callable[[str], str],
        *,
        kept: bool,
    ) -> None:
        self._server = server
        self._wait = wait
        self._found = found
        self._readable = readable
        self._jobs: set[str] = set()
        self._known: set[str] = set()
        self._names: dict[str, str] = {}
        self._kept = kept
        if kept:
            found.new_traces = 0

    def begin(self, session_id: str, name: str, project: str | None) -> None:
        """A session starts; where its traces are kept, note those that are there already. name: its id in the file."""
        self._names[session_id] = name
        if not self._kept:
            return
        self._server.ask("session/open", {"sessionId": session_id, "project": project, "reason": "new"})
        params: dict[str, Any] = {"sessionId": session_id, "limit": _PAGE}
        while True:
            page = self._server.ask("traces/list", params)
            self._known.update(trace["traceId"] for trace in page["traces"])
            if page.get("nextCursor") is None:
                return
            params["cursor"] = page["nextCursor"]

    def send(self, episode: Episode) -> None:
        """Hand an episode over; waits where many are on their way already. One that is refused is counted.

        Raises ServerFailed where no more can be stored.
        """
        try:
            answer = self._server.ask("capture/episodeFinalized", {"episode": episode})
        except RequestRefused as refusal:
            if refusal.kind == StoreError.kind:
                raise
            self._found.warnings[str(refusal)] += 1
            return
        if answer["jobId"] is not None:
            self._jobs.add(answer["jobId"])
        if len(self._jobs) >= MOST_AT_ONCE:
            self._wait(lambda: len(self._jobs) < MOST_AT_ONCE)

    def finish(self, session_id: str) -> None:
        """A session is over: wait for all that is on its way."""
        if self._jobs:
            self._server.ask("capture/drain", {"timeoutMs": 60_000})
        if not self._wait(lambda: not self._jobs):
            self._found.warnings["a capture without an answer"] += len(self._jobs)
            self._jobs.clear()
        if self._kept:
            self._server.ask("session/close", {"sessionId": session_id})

    def done(self, params: dict[str, Any]) -> None:
        """`capture.done`."""
        result = params["result"]
        if params["jobId"] not in self._jobs:
            return
        self._jobs.discard(params["jobId"])
        self._found.spend.add(result["usage"])
        for warning in result["warnings"]:
            self._warn(warning["message"])
        for trace in result["traces"]:
            self._found.traces.append(self._in_short(trace))
            if self._kept and trace["traceId"] not in self._known:
                self._known.add(trace["traceId"])
                self._found.new_traces = (self._found.new_traces or 0) + 1

    def _in_short(self, trace: dict[str, Any]) -> TraceFound:
        reflection = trace["reflection"]
        text = reflection["text"]
        return TraceFound(
            trace_id=trace["traceId"],
            session_id=self._names[trace["sessionId"]],
            at=trace["ts"],
            alpha=reflection["alpha"],
            reflected=text is not None,
            asked=self._gist(trace["userText"]),
            said=self._gist(trace["agentText"]),
            tools=list(dict.fromkeys(call["name"] for call in trace["toolCalls"])),
            reflection=None if text is None else self._gist(text),
        )

    def _gist(self, text: str) -> str:
        return cut_words(one_line(self._readable(text[:_LOOKED_AT])), _GIST)

    def _warn(self, message: str) -> None:
        """Count a warning; one that begins with a number counts so often, so that those of all episodes are one."""
        number, _, rest = message.partition(" ")
        if number.isascii() and number.isdigit():
            self._found.warnings[f"capture: {rest}"] += int(number)
        else:
            self._found.warnings[f"capture: {message}"] += 1

    def failed(self, params: dict[str, Any]) -> None:
        """`capture.failed`. Raises ServerFailed where no more can be stored."""
        if params["jobId"] not in self._jobs:
            return
        self._jobs.discard(params["jobId"])
        said = f"capture failed: {params['error']['message']}"
        if params["error"]["code"] == StoreError.kind:
            raise ServerFailed(said)
        self._found.warnings[said] += 1
