"""The neutral stream: what every importer makes of a harness's session file, in the order things happened."""

from typing import Any

import msgspec

from afterturn_protocol.blocks import result_text


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
        """The result's text as a ref gives it back (protocol.md, 'condense'); None when unanswered."""
        return result_text(self.result) if isinstance(self.result, list) else self.result


class SessionStart(msgspec.Struct):
    """The first event of a session; `session_id` is unique within one file.

    The events of several sessions of a file may interleave. `parent_id` names the session whose sub-agent this one is,
    or from which it branched off, which `branched` says; that one may stand in another file. `started` is in epoch ms.
    """

    session_id: str
    harness: str
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    parent_id: str | None = None
    branched: bool = False
    started: int | None = None


class Turn(msgspec.Struct):
    """One reply of the assistant with the calls it made; `user_text` is what the user said since the turn before.

    `timestamp` is in epoch ms, 0 when the harness keeps none; `user_timestamp` is when the user last spoke. Words that
    got no reply are a turn without one, at that time. `failed` marks an attempt that ended in an error or was aborted,
    so that nothing of it stayed in the context; what it said, and the user's words before it, stand in it all the same.
    `aborted` says that the user ended it.
    """

    session_id: str
    user_text: str | None = None
    user_timestamp: int | None = None
    assistant_text: str | None = None
    thinking: str | None = None
    timestamp: int = 0
    calls: list[Call] = []
    failed: bool = False
    aborted: bool = False


class Compaction(msgspec.Struct):
    """The harness itself replaced what came before by a summary; `tokens_before` as the harness counted them."""

    session_id: str
    timestamp: int | None = None
    tokens_before: int | None = None


class SessionEnd(msgspec.Struct):
    """The last event of a session, with what its file held that no turn shows.

    `orphan_results` counts results without a call, `skipped` what could not be read, by reason in plain words
    (``{"a line that is no JSON": 2}``).
    """

    session_id: str
    orphan_results: int = 0
    skipped: dict[str, int] = {}


Event = SessionStart | Turn | Compaction | SessionEnd
