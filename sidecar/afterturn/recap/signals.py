"""What happens around a session's recap, and what is to be done about it, as values (recap.md, the two tables)."""

from msgspec import Struct

from afterturn_protocol.recap import Recap, RecapError

AWAY, TURN_END, IDLE, REOPEN, MANUAL = "away", "turnEnd", "idle", "reopen", "manual"
"""What leads to a draft."""


class Draft(Struct, frozen=True, gc=False):
    """The one draft that may be in flight.

    id: counts up within the session. while_active: begun while the agent was running, so that its work goes on
    beside the draft. changed: the input may have changed since. asked: it was decided to write it. pulled: its input
    was asked of the host, so that it can be asked again.
    """

    id: int
    trigger: str
    while_active: bool
    changed: bool = False
    asked: bool = False
    pulled: bool = False


# -- events -----------------------------------------------------------------------------------------------------


class Opened(Struct, frozen=True, gc=False):
    """The session is opened, or opened again. reason: as in `session/open`."""

    history: bool
    prompt: bool
    reason: str | None
    interactive: bool


class Focus(Struct, frozen=True, gc=False):
    """The person looks, or looks away. at: when that was, epoch ms; None means now."""

    focused: bool
    at: int | None = None


class TurnStart(Struct, frozen=True, gc=False):
    """A turn starts, or the agent."""


class TurnEnd(Struct, frozen=True, gc=False):
    """A turn ends. settled: and no other follows by itself."""

    settled: bool


class Typed(Struct, frozen=True, gc=False):
    """The person is typing."""


class Submitted(Struct, frozen=True, gc=False):
    """The person sent something."""


class Changed(Struct, frozen=True, gc=False):
    """A message, compaction, branch summary or context edit landed."""


class Navigated(Struct, frozen=True, gc=False):
    """The session stands on another branch now."""


class Asked(Struct, frozen=True, gc=False):
    """`recap/now`."""


class Dismissed(Struct, frozen=True, gc=False):
    """`recap/dismiss`."""


class Closed(Struct, frozen=True, gc=False):
    """The host is done with the session, or the session is deleted."""


class Woken(Struct, frozen=True, gc=False):
    """A deadline may have passed."""


class Gathered(Struct, frozen=True, kw_only=True, gc=False):
    """What a draft would be made of is known.

    problem: why there is nothing to draft from ("noContext", "empty"). key: hash of the input; None where only
    `saved` is known. active: the activity gate passes. writable: there is a model to ask, or facts may be shown.
    pulled: the input was asked of the host. saved: a recap that is kept and still current.
    """

    draft_id: int
    problem: str | None = None
    key: str | None = None
    active: bool = False
    writable: bool = False
    pulled: bool = False
    saved: Recap | None = None


class Written(Struct, frozen=True, gc=False):
    """The draft is there. key: hash of the input it was made from. compared: which is the input still."""

    draft_id: int
    key: str
    recap: Recap
    compared: bool = False


class Failed(Struct, frozen=True, kw_only=True, gc=False):
    """No model wrote the draft. facts: what can be shown instead. counts: towards the pause after failures."""

    draft_id: int
    key: str
    error: RecapError
    facts: Recap | None
    counts: bool = True


class Dropped(Struct, frozen=True, gc=False):
    """The draft came to nothing."""

    draft_id: int
    reason: str


Event = (
    Opened | Focus | TurnStart | TurnEnd | Typed | Submitted | Changed | Navigated | Asked | Dismissed | Closed | Woken
    | Gathered | Written | Failed | Dropped
)  # fmt: skip


# -- effects ----------------------------------------------------------------------------------------------------


class Gather(Struct, frozen=True, gc=False):
    """Find out what there is to draft from, and come back with `Gathered`."""

    draft: Draft


class Write(Struct, frozen=True, gc=False):
    """Write it - this is where a model is asked - and come back with `Written`, `Failed` or `Dropped`."""

    draft: Draft


class Abort(Struct, frozen=True, gc=False):
    """End the work on this draft."""

    draft_id: int


class Show(Struct, frozen=True, gc=False):
    """`recap.ready`."""

    recap: Recap


class Give(Struct, frozen=True, gc=False):
    """The answer of `recap/now`. reason: why there is no recap."""

    draft_id: int
    recap: Recap | None
    reason: str | None


class Clear(Struct, frozen=True, gc=False):
    """`recap.cleared`."""

    recap_id: str
    reason: str


class Skip(Struct, frozen=True, gc=False):
    """`recap.skipped`, for a client that asks for it."""

    trigger: str
    reason: str


class Pause(Struct, frozen=True, gc=False):
    """`recap.failed`: nothing is drafted by itself for a while."""

    trigger: str
    error: RecapError


Effect = Gather | Write | Abort | Show | Give | Clear | Skip | Pause
