"""Recaps: what the session is about, for a person who was away (protocol.md, 'recap')."""

from afterturn_protocol.base import Usage
from afterturn_protocol.context import RecapContext
from afterturn_protocol.shape import Int, Millis, Shape


class Recap(Shape, frozen=True, kw_only=True):
    """A recap, and the params of the event `recap.ready`.

    recap_id: its id.
    session_id: the session.
    text: one to three sentences.
    model: "provider/id" of the model that drafted it; null for facts.
    trigger: "away", "turnEnd", "idle", "reopen", "manual".
    origin: "generated", "saved", "facts".
    context_hash: hash of the input it stands for.
    revision: the host's own mark for that input.
    created_at: epoch ms.
    save: the host should keep it; false for saved ones, facts, and drafts made while the agent runs.
    usage: what it cost; null where no model was called.
    """

    recap_id: str
    session_id: str
    text: str
    model: str | None
    trigger: str
    origin: str
    context_hash: str
    revision: Int | str | None = None
    created_at: Millis
    save: bool
    usage: Usage | None


class RecapFocusParams(Shape, frozen=True, kw_only=True):
    """Params of `recap/onFocus`.

    session_id: the session.
    focused: whether the person looks at it now.
    at: when the focus changed, epoch ms; omitted means now.
    source: who saw it: such as "terminal" or "window".
    """

    session_id: str
    focused: bool
    at: Millis | None = None
    source: str | None = None


class RecapTurnStartParams(Shape, frozen=True, kw_only=True):
    """Params of `recap/onTurnStart`.

    session_id: the session.
    turn_id: the host's id of the turn.
    """

    session_id: str
    turn_id: str | None = None


class RecapAgentStartParams(Shape, frozen=True, kw_only=True):
    """Params of `recap/onAgentStart`.

    session_id: the session.
    """

    session_id: str


class RecapInputParams(Shape, frozen=True, kw_only=True):
    """Params of `recap/onInput`.

    session_id: the session.
    kind: "typed" or "submitted".
    """

    session_id: str
    kind: str


class RecapTurnEndParams(Shape, frozen=True, kw_only=True):
    """Params of `recap/onTurnEnd`.

    session_id: the session.
    turn_id: the host's id of the turn.
    phase: "settled" (the default) or "turn".
    stop_reason: why the assistant stopped.
    will_continue: another turn follows by itself.
    context: what a recap can be drafted from now.
    """

    session_id: str
    turn_id: str | None = None
    phase: str | None = None
    stop_reason: str | None = None
    will_continue: bool | None = None
    context: RecapContext | None = None


class RecapNowParams(Shape, frozen=True, kw_only=True):
    """Params of `recap/now`.

    session_id: the session.
    context: what to draft from; omitted means what is known.
    """

    session_id: str
    context: RecapContext | None = None


class RecapNowResult(Shape, frozen=True, kw_only=True):
    """Result of `recap/now`; the recap is not sent as an event too.

    recap: the recap, or null.
    reason: why there is none.
    """

    recap: Recap | None
    reason: str | None = None


class RecapGetParams(Shape, frozen=True, kw_only=True):
    """Params of `recap/get`.

    session_id: the session.
    """

    session_id: str


class RecapGetResult(Shape, frozen=True, kw_only=True):
    """Result of `recap/get`.

    recap: the recap that is shown or saved, or null.
    """

    recap: Recap | None


class RecapDismissParams(Shape, frozen=True, kw_only=True):
    """Params of `recap/dismiss`: the person does not want to see it any more.

    session_id: the session.
    """

    session_id: str


class RecapCleared(Shape, frozen=True, kw_only=True):
    """Params of the event `recap.cleared`: take the recap off the screen.

    session_id: the session.
    recap_id: the recap.
    reason: such as "input", "turnStart", "dismissed", "navigate".
    """

    session_id: str
    recap_id: str
    reason: str


class RecapSkipped(Shape, frozen=True, kw_only=True):
    """Params of the event `recap.skipped`, sent with the setting `recap.explain`.

    session_id: the session.
    trigger: what could have led to a draft.
    reason: why it did not.
    """

    session_id: str
    trigger: str
    reason: str


class RecapError(Shape, frozen=True, kw_only=True):
    """Why drafting failed.

    code: such as "llm_timeout".
    message: one sentence for a person.
    retryable: whether a later draft can succeed.
    """

    code: str
    message: str
    retryable: bool


class RecapFailed(Shape, frozen=True, kw_only=True):
    """Params of the event `recap.failed`.

    session_id: the session.
    trigger: what led to the draft.
    error: why it failed.
    """

    session_id: str
    trigger: str
    error: RecapError
