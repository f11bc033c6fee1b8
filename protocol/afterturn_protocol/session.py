"""Sessions: open, change, close, delete (protocol.md, 'session')."""

from afterturn_protocol.base import ModelInfo
from afterturn_protocol.context import RecapContext
from afterturn_protocol.shape import Count, Int, Shape


class SavedRecap(Shape, frozen=True, kw_only=True):
    """A recap that the host kept in its session file.

    text: the recap.
    model: "provider/id" of the model that drafted it, or null.
    current: whether no message, compaction, branch summary or context edit came after it; omitted where the host
        cannot tell.
    """

    text: str
    model: str | None = None
    current: bool | None = None


class SessionOpenParams(Shape, frozen=True, kw_only=True):
    """Params of `session/open`.

    session_id: the host's id for the session.
    project: what scopes search, an absolute path or any string; omitted means a project of its own.
    reason: "startup", "new", "resume", "fork", "reload".
    parent_session_id: with a fork, the session it was forked from; its refs resolve here too.
    has_history: the session holds earlier turns.
    has_initial_prompt: the session starts working at once.
    interactive: a person sits before it.
    model: what the session runs on.
    context: what a recap can be drafted from.
    saved_recap: the recap the host kept, if any.
    """

    session_id: str
    project: str | None = None
    reason: str | None = None
    parent_session_id: str | None = None
    has_history: bool | None = None
    has_initial_prompt: bool | None = None
    interactive: bool | None = None
    model: ModelInfo | None = None
    context: RecapContext | None = None
    saved_recap: SavedRecap | None = None


class SessionOpenResult(Shape, frozen=True, kw_only=True):
    """Result of `session/open`.

    session_id: as it was given.
    known: the store knew the session before.
    """

    session_id: str
    known: bool


class SessionDeleteParams(Shape, frozen=True, kw_only=True):
    """Params of `session/delete`: erases all of a session, its archive included.

    session_id: the session.
    """

    session_id: str


class DeletedCounts(Shape, frozen=True, kw_only=True):
    """How much was erased.

    results: archived tool results.
    traces: trace rows.
    recaps: stored recaps.
    """

    results: Count
    traces: Count
    recaps: Count


class SessionDeleteResult(Shape, frozen=True, kw_only=True):
    """Result of `session/delete`.

    deleted: how much was erased.
    """

    deleted: DeletedCounts


class SessionChangedParams(Shape, frozen=True, kw_only=True):
    """Params of `session/changed`.

    session_id: the session.
    kind: "message", "compaction", "branchSummary", "contextEdit", "navigate", "metadata", "model".
    revision: the host's own mark for the state after the change.
    model: with kind "model", what the session runs on now.
    """

    session_id: str
    kind: str
    revision: Int | str | None = None
    model: ModelInfo | None = None


class SessionCloseParams(Shape, frozen=True, kw_only=True):
    """Params of `session/close`: timers end and drafts are cancelled; nothing is erased.

    session_id: the session.
    """

    session_id: str
