"""When a recap is drafted, shown and taken away: `step(state, event, now, policy) -> (state, effects)` (recap.md).

Pure: whoever calls it keeps the state, does the effects and comes back with what they led to. Timers are deadlines in
the state, on the wall clock, so that a suspended machine counts as away; every event looks at them first or last, so
that it does not matter who notices that one has passed.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from afterturn.recap.policy import Policy
from afterturn.recap.signals import (
    AWAY,
    IDLE,
    MANUAL,
    REOPEN,
    TURN_END,
    Abort,
    Asked,
    Changed,
    Clear,
    Closed,
    Dismissed,
    Draft,
    Dropped,
    Effect,
    Event,
    Failed,
    Focus,
    Gather,
    Gathered,
    Give,
    Navigated,
    Opened,
    Pause,
    Show,
    Skip,
    Submitted,
    TurnEnd,
    TurnStart,
    Typed,
    Woken,
    Write,
    Written,
)
from afterturn_protocol.recap import Recap, RecapError

POST_TURN_MS = 3_000
TRUSTED_LAG_MS = 5_000
"""How late a blur may be reported; beyond that the two clocks disagree, and ours counts."""

FAILURES_BEFORE_PAUSE = 3
PAUSE_MS = 600_000


class State(Struct, kw_only=True):
    """What a session's recap depends on. Never changed in place: `step` gives a new one. Times in epoch ms.

    focus: "unknown", "focused", "blurred". focus_seen: a focus report came, ever. blurred_at: since when it is
    blurred. interactive: a person sits before it. active: the agent is running.
    drafts: how many there were. last_key: hash of the input that was last drafted successfully. inherits: the input
    to come next is the one that the saved recap stands for. shown: what the person sees. facts_key: hash of the input
    whose facts were shown because a model failed. stands: a recap that was kept earlier was not overtaken.
    failures: in a row. seen_at: time of the last event.
    """

    focus: str = "unknown"
    focus_seen: bool = False
    blurred_at: int | None = None
    interactive: bool = True
    active: bool = False
    draft: Draft | None = None
    drafts: int = 0
    last_key: str | None = None
    inherits: bool = False
    shown: Recap | None = None
    facts_key: str | None = None
    stands: bool = True
    failures: int = 0
    paused_until: int | None = None
    away_at: int | None = None
    post_turn_at: int | None = None
    idle_at: int | None = None
    seen_at: int = 0

    def deadline(self) -> int | None:
        """When the next timer is due."""
        return min((at for at in (self.away_at, self.post_turn_at, self.idle_at) if at is not None), default=None)


def step(state: State, event: Event, now: int, policy: Policy) -> tuple[State, tuple[Effect, ...]]:
    """What an event leads to, at epoch ms `now`."""
    work = _Step(replace(state), now, policy)
    work.turn_back_the_clock()
    if isinstance(event, Focus | Typed):
        # The time until now was an absence that this event ends. Everything else says itself what it ends.
        work.fire_due(_reported(event, now))
    _HANDLERS[type(event)](work, event)
    work.fire_due(now)
    return work.state, tuple(work.effects)


def _reported(event: Focus | Typed, now: int) -> int:
    """When it happened, by the host's word; a clock that is ahead of ours is not believed."""
    return min(now, event.at) if isinstance(event, Focus) and event.at is not None else now


class _Step:
    """One step under way: the new state, and the effects so far."""

    def __init__(self, state: State, now: int, policy: Policy) -> None:
        self.state = state
        self.now = now
        self.policy = policy
        self.effects: list[Effect] = []

    # -- timers ----------------------------------------------------------------------------------------------

    def turn_back_the_clock(self) -> None:
        """Where the wall clock was set back, what is left of each timer stays."""
        state, back = self.state, self.state.seen_at - self.now
        if back > 0:
            for name in ("away_at", "post_turn_at", "idle_at", "blurred_at", "paused_until"):
                at = getattr(state, name)
                if at is not None:
                    setattr(state, name, at - back)
        state.seen_at = self.now

    def fire_due(self, at: int) -> None:
        """Fire what is due. Several at once, as after a sleep, are one trigger."""
        state = self.state
        away = state.away_at is not None and state.away_at <= at
        post_turn = state.post_turn_at is not None and state.post_turn_at <= at
        if away:
            state.away_at = None
        if post_turn:
            state.post_turn_at = None
            self.trigger(AWAY if away else TURN_END)
        elif away and state.post_turn_at is None:  # else the turn that just ended may be followed by another
            self.trigger(AWAY)
        if state.idle_at is not None and state.idle_at <= at:
            state.idle_at = None
            self.trigger(IDLE)

    def stop_timers(self) -> None:
        self.state.away_at = self.state.post_turn_at = self.state.idle_at = None

    # -- drafts ----------------------------------------------------------------------------------------------

    def trigger(self, name: str) -> None:
        """Something asks for a draft by itself."""
        state = self.state
        if (reason := self.barred()) is not None:
            self.skip(name, reason)
        elif state.active and not self.policy.during_active:
            self.skip(name, "agentActive")  # whoever is still away when it settles has the timer after a turn
        elif state.draft is not None:
            self.skip(name, "drafting")
        else:
            self.begin(name)

    def barred(self) -> str | None:
        """Why nothing at all is drafted by itself."""
        if not self.policy.auto:
            return "off"
        return None if self.can_show() else "cannotShow"

    def can_show(self) -> bool:
        return self.policy.can_show and self.state.interactive

    def begin(self, name: str) -> None:
        """Take the slot."""
        state = self.state
        state.drafts += 1
        state.draft = Draft(state.drafts, name, state.active)
        self.effects.append(Gather(state.draft))

    def end(self, reason: str) -> None:
        """Free the slot; there is no recap."""
        draft, self.state.draft = self.state.draft, None
        assert draft is not None
        if draft.trigger == MANUAL:
            self.effects.append(Give(draft.id, None, reason))
        else:
            self.skip(draft.trigger, reason)

    def abort(self, reason: str) -> None:
        """End the draft in flight, if there is one."""
        draft = self.state.draft
        if draft is not None:
            self.effects.append(Abort(draft.id))
            self.end(reason)

    def overtake(self) -> None:
        """The session went on: what the draft in flight is made from may be of the past."""
        draft = self.state.draft
        if draft is None or draft.while_active:
            return
        if draft.asked and not draft.pulled:
            self.abort("changed")
        else:
            self.state.draft = replace(draft, changed=True)

    def owns(self, draft_id: int) -> Draft | None:
        """The draft in flight, if it is this one: a late end never frees a newer one's slot."""
        draft = self.state.draft
        return draft if draft is not None and draft.id == draft_id else None

    # -- what is shown ---------------------------------------------------------------------------------------

    def show(self, recap: Recap) -> None:
        state, draft = self.state, self.state.draft
        assert draft is not None
        state.draft = None
        state.shown = recap
        state.idle_at = state.post_turn_at = None
        if draft.trigger == MANUAL:
            self.effects.append(Give(draft.id, recap, None))
        else:
            self.effects.append(Show(recap))

    def clear(self, reason: str) -> None:
        state, shown = self.state, self.state.shown
        state.stands = False
        state.shown = None
        if shown is not None and self.can_show():
            self.effects.append(Clear(shown.recap_id, reason))

    def skip(self, trigger: str, reason: str) -> None:
        self.effects.append(Skip(trigger, reason))


# -- what the host says -------------------------------------------------------------------------------------------


def _opened(work: _Step, event: Opened) -> None:
    work.state.interactive = event.interactive
    if event.reason in ("reload", "new"):
        work.skip(REOPEN, event.reason)
    elif not event.history:
        work.skip(REOPEN, "noHistory")
    elif event.prompt:
        work.skip(REOPEN, "prompt")
    else:
        work.abort("superseded")
        work.trigger(REOPEN)


def _focus(work: _Step, event: Focus) -> None:
    state = work.state
    if not work.policy.reads_focus:
        return
    state.focus_seen = True
    state.idle_at = None
    if event.focused:
        for name, at in ((AWAY, state.away_at), (TURN_END, state.post_turn_at)):
            if at is not None:
                work.skip(name, "returned")
        state.focus, state.blurred_at = "focused", None
        work.stop_timers()
    elif state.focus != "blurred":
        state.focus = "blurred"
        state.blurred_at = max(_reported(event, work.now), work.now - TRUSTED_LAG_MS)
        state.away_at = state.blurred_at + work.policy.away_ms


def _turn_start(work: _Step, event: TurnStart) -> None:
    state = work.state
    state.idle_at = state.post_turn_at = None
    state.active = True
    state.inherits = False
    if state.draft is not None and not state.draft.while_active:
        work.abort("turnStart")
    work.clear("turnStart")


def _turn_end(work: _Step, event: TurnEnd) -> None:
    state, policy = work.state, work.policy
    state.inherits = False
    work.overtake()  # a host need not tell of a turn's start
    if state.focus == "blurred":
        state.post_turn_at = work.now + POST_TURN_MS
    if event.settled:
        state.active = False
        if not policy.reads_focus or not (state.focus_seen or policy.trusts_focus):
            state.idle_at = work.now + policy.idle_ms


def _typed(work: _Step, event: Typed) -> None:
    if work.state.idle_at is not None:
        work.state.idle_at = work.now + work.policy.idle_ms


def _submitted(work: _Step, event: Submitted) -> None:
    work.stop_timers()
    work.state.inherits = False
    work.abort("input")
    work.clear("input")


def _changed(work: _Step, event: Changed) -> None:
    work.state.inherits = False
    work.state.stands = False
    work.overtake()


def _navigated(work: _Step, event: Navigated) -> None:
    state = work.state
    work.stop_timers()
    work.abort("navigate")
    work.clear("navigate")
    state.active = state.inherits = False
    state.last_key = state.facts_key = None


def _asked(work: _Step, event: Asked) -> None:
    work.abort("superseded")
    work.begin(MANUAL)


def _dismissed(work: _Step, event: Dismissed) -> None:
    work.clear("dismissed")


def _closed(work: _Step, event: Closed) -> None:
    work.stop_timers()
    work.abort("closed")


def _woken(work: _Step, event: Woken) -> None:
    """The timers are looked at in any case."""


# -- how a draft goes on ------------------------------------------------------------------------------------------


def _gathered(work: _Step, event: Gathered) -> None:
    state, draft = work.state, work.owns(event.draft_id)
    if draft is None:
        return
    if draft.changed and not (event.pulled and event.saved is None):
        work.end("changed")  # what is pulled is compared again at the end; the rest is of before the change
    elif draft.trigger != MANUAL and (reason := _refusal(work, event)) is not None:
        work.end(reason)
    elif event.saved is not None:
        if event.key is None:
            state.inherits = True
        else:
            state.last_key = event.key
        work.show(event.saved)
    elif event.problem is not None:
        work.end(event.problem)
    elif not event.writable:
        work.end("noModel")
    else:
        state.draft = replace(draft, asked=True, pulled=event.pulled)
        work.effects.append(Write(state.draft))


def _refusal(work: _Step, event: Gathered) -> str | None:
    """Why what is drafted by itself is not."""
    state = work.state
    if (reason := work.barred()) is not None:
        return reason
    if event.saved is not None or event.problem is not None:
        return None
    if state.inherits:
        state.inherits = False
        state.last_key = event.key
    if event.key == state.last_key:
        return "unchanged"
    if not event.active:
        return "noActivity"
    if state.paused_until is not None and work.now < state.paused_until:
        return "paused"
    return None


def _written(work: _Step, event: Written) -> None:
    state, draft = work.state, work.owns(event.draft_id)
    if draft is None:
        return
    if draft.changed and not event.compared:
        work.end("changed")
        return
    if draft.trigger != MANUAL and (reason := work.barred()) is not None:
        work.end(reason)
        return
    state.last_key = event.key
    state.inherits = False
    state.failures = 0
    state.paused_until = None
    work.show(event.recap)


def _failed(work: _Step, event: Failed) -> None:
    state, draft = work.state, work.owns(event.draft_id)
    if draft is None:
        return
    if event.counts:
        _count_failure(work, draft, event.error)
    if draft.changed:
        work.end("changed")
    elif draft.trigger != MANUAL and (reason := work.barred()) is not None:
        work.end(reason)
    elif event.facts is None:
        work.end("failed")
    elif draft.trigger != MANUAL and event.key == state.facts_key:
        work.end("unchanged")
    else:
        state.facts_key = event.key
        work.show(event.facts)


def _count_failure(work: _Step, draft: Draft, error: RecapError) -> None:
    state = work.state
    state.failures += 1
    if state.failures >= FAILURES_BEFORE_PAUSE:
        state.paused_until = work.now + PAUSE_MS
    if state.failures == FAILURES_BEFORE_PAUSE and work.can_show():
        work.effects.append(Pause(draft.trigger, error))


def _dropped(work: _Step, event: Dropped) -> None:
    if work.owns(event.draft_id) is not None:
        work.end(event.reason)


_HANDLERS: dict[type, Callable[[_Step, Any], None]] = {
    Opened: _opened,
    Focus: _focus,
    TurnStart: _turn_start,
    TurnEnd: _turn_end,
    Typed: _typed,
    Submitted: _submitted,
    Changed: _changed,
    Navigated: _navigated,
    Asked: _asked,
    Dismissed: _dismissed,
    Closed: _closed,
    Woken: _woken,
    Gathered: _gathered,
    Written: _written,
    Failed: _failed,
    Dropped: _dropped,
}
