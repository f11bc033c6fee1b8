"""What a recap is drafted from, pushed by the host or asked of it (protocol.md, 'recap')."""

from afterturn_protocol.base import Message, ModelInfo
from afterturn_protocol.shape import Int, Shape


class ContextSummary(Shape, frozen=True, kw_only=True):
    """The latest summary that stands for earlier messages.

    kind: "compaction" or "branchSummary".
    text: the summary.
    """

    kind: str
    text: str


class RecapContext(Shape, frozen=True, kw_only=True):
    """The host's projected context on the active branch.

    Pushed context is dropped on the next session/changed or turn start.

    messages: the conversation, oldest first.
    first_user_request: the earliest request that was not omitted; wins over what `messages` holds.
    summary: the latest active summary; wins over what `messages` holds.
    model: the model the session runs on.
    revision: the host's own mark for this state; equal means unchanged.
    """

    messages: list[Message]
    first_user_request: str | None = None
    summary: ContextSummary | None = None
    model: ModelInfo | None = None
    revision: Int | str | None = None
