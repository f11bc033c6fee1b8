"""The recap service: timers, contexts and drafts of every session, around the machine (recap.md; protocol.md, 'recap').

What the host tells takes effect before the call returns; what follows from it - events, drafts - comes after the
answer. Nothing the host tells waits for a model or the disk.
"""

import sys
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import TYPE_CHECKING, Any

from anyio import CancelScope, to_thread

from afterturn.recap.contexts import check_context
from afterturn.recap.job import Job
from afterturn.recap.machine import State, step
from afterturn.recap.policy import Policy, policy_of
from afterturn.recap.ports import Found, KeptRecap, Needs
from afterturn.recap.signals import (
    MANUAL,
    REOPEN,
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
    Focus,
    Gather,
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
    Written,
)
from afterturn.recap.timers import Timers
from afterturn_protocol.base import ModelInfo
from afterturn_protocol.context import RecapContext
from afterturn_protocol.recap import (
    Recap,
    RecapCleared,
    RecapFailed,
    RecapFocusParams,
    RecapGetResult,
    RecapInputParams,
    RecapNowParams,
    RecapNowResult,
    RecapSkipped,
    RecapTurnEndParams,
)
from afterturn_protocol.session import SavedRecap, SessionChangedParams, SessionOpenParams

if TYPE_CHECKING:
    from afterturn.recap.drafting import Drafter

AfterReply = Callable[[Callable[[], None]], None]
"""Runs what it is given once the answer is on its way."""

Spawn = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a task that outlives the call which starts it."""

_DRAFTING = "afterturn.recap.drafting"

NO_EFFECT = ("metadata", "model")
"""Changes of a session that leave its conversation as it is."""


class _Session:
    """What the process holds of one session."""

    __slots__ = ("closed", "context", "given", "id", "model", "saved", "scopes", "state")

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.state = State()
        self.context: RecapContext | None = None
        self.model: ModelInfo | None = None
        self.saved: SavedRecap | None = None
        self.scopes: dict[int, CancelScope] = {}
        self.given: dict[int, RecapNowResult] = {}
        self.closed = False


class RecapService:
    """Decides, drafts and shows. needs: the outside. spawn: starts a task in the background."""

    def __init__(self, needs: Needs, *, spawn: Spawn) -> None:
        self._needs = needs
        self._spawn = spawn
        self._sessions: dict[str, _Session] = {}
        self._timers = Timers(needs.clock, spawn, self._wake)
        self._made_drafter: Drafter | None = None
        self._noted: set[str] = set()

    # -- what the host tells ---------------------------------------------------------------------------------

    def opened(self, params: SessionOpenParams, after_reply: AfterReply) -> None:
        """`session/open`. Raises InvalidInputError for a context with a block that is none; nothing is set then."""
        check_context("$.context", params.context)
        session = self._session(params.session_id)
        session.context = params.context or session.context
        session.model = params.model or session.model
        saved = params.saved_recap
        session.saved = saved if saved is not None and saved.text.strip() else None
        history = params.has_history
        if history is None:
            history = params.saved_recap is not None or bool(params.context and params.context.messages)
        event = Opened(history, bool(params.has_initial_prompt), params.reason, params.interactive is not False)
        self._tell(session, event, after_reply)

    def changed(self, params: SessionChangedParams, after_reply: AfterReply) -> None:
        """`session/changed`."""
        session = self._session(params.session_id)
        session.model = params.model or session.model
        if params.kind in NO_EFFECT:
            return
        context = session.context
        if params.kind == "navigate":
            session.context = session.saved = None
            self._tell(session, Navigated(), after_reply)
        elif context is None or params.revision is None or params.revision != context.revision:
            session.context = session.saved = None
            self._tell(session, Changed(), after_reply)

    def closed(self, session_id: str) -> None:
        """`session/close`, and `session/delete`: timers end, the draft is cancelled, nothing is held any more."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self._tell(session, Closed(), _at_once)
            session.closed = True
            self._timers.set(session_id, None)

    def focus(self, params: RecapFocusParams, after_reply: AfterReply) -> None:
        """`recap/onFocus`."""
        self._tell(self._session(params.session_id), Focus(params.focused, params.at), after_reply)

    def turn_start(self, session_id: str, after_reply: AfterReply) -> None:
        """`recap/onTurnStart` and `recap/onAgentStart`."""
        session = self._session(session_id)
        session.context = session.saved = None
        self._tell(session, TurnStart(), after_reply)

    def input(self, params: RecapInputParams, after_reply: AfterReply) -> None:
        """`recap/onInput`. A kind that is not known is not taken for something sent."""
        event = Submitted() if params.kind == "submitted" else Typed()
        self._tell(self._session(params.session_id), event, after_reply)

    def turn_end(self, params: RecapTurnEndParams, after_reply: AfterReply) -> None:
        """`recap/onTurnEnd`. A phase that is not known is not taken for the end of the work.

        Raises InvalidInputError for a context with a block that is none; the turn has not ended then.
        """
        check_context("$.context", params.context)
        session = self._session(params.session_id)
        session.saved = None
        if params.context is not None:
            session.context = params.context
        settled = params.phase in (None, "settled") and not params.will_continue
        self._tell(session, TurnEnd(settled), after_reply)

    def dismiss(self, session_id: str, after_reply: AfterReply) -> None:
        """`recap/dismiss`."""
        self._tell(self._session(session_id), Dismissed(), after_reply)

    # -- what the host asks ----------------------------------------------------------------------------------

    async def now(self, params: RecapNowParams, *, arrived: Callable[[], None]) -> RecapNowResult:
        """`recap/now`: a draft, whatever there was before. `arrived` is called once it has the slot.

        Raises InvalidInputError for a context with a block that is none.
        """
        check_context("$.context", params.context)
        session = self._session(params.session_id)
        if params.context is not None:
            session.context = params.context
        self._tell(session, Asked(), _at_once)
        draft = session.state.draft
        assert draft is not None
        arrived()
        try:
            await self._run(session, draft)
        finally:
            self._tell(session, Dropped(draft.id, "cancelled"), _at_once)
            given = session.given.pop(draft.id)
        return given

    async def get(self, session_id: str) -> RecapGetResult:
        """`recap/get`: the recap that is shown; else the one that is kept, if nothing is known to have overtaken it."""
        session = self._sessions.get(session_id)
        if session is not None and session.state.shown is not None:
            return RecapGetResult(recap=session.state.shown)
        found = await self._needs.store().find(session_id)
        if found is None or found.kept is None or (session is not None and not session.state.stands):
            return RecapGetResult(recap=None)
        kept = found.kept
        return RecapGetResult(
            recap=Recap(
                recap_id=self._needs.new_id(),
                session_id=session_id,
                text=kept.text,
                model=kept.model,
                trigger=REOPEN,
                origin="saved",
                context_hash=kept.context_hash,
                created_at=kept.created_at,
                save=False,
                usage=None,
            )
        )

    # -- the machine -----------------------------------------------------------------------------------------

    def _session(self, session_id: str) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _Session(session_id)
        return session

    def _policy(self) -> Policy:
        return policy_of(self._needs.settings(), self._needs.capability())

    def _tell(self, session: _Session, event: Event, after_reply: AfterReply) -> None:
        """Let an event take effect; what it leads to follows the answer."""
        policy = self._policy()
        session.state, effects = step(session.state, event, self._needs.clock.now_ms(), policy)
        if not session.closed:
            self._timers.set(session.id, session.state.deadline())
        self._timers.check()
        later = [effect for effect in effects if not _settle(session, effect)]
        if later:
            after_reply(lambda: self._do(session, later, policy))

    def _wake(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            self._tell(session, Woken(), _at_once)

    def _do(self, session: _Session, effects: list[Effect], policy: Policy) -> None:
        for effect in effects:
            match effect:
                case Gather(draft) if draft.trigger != MANUAL:  # `recap/now` runs its own, and ends with its request
                    self._spawn(self._run(session, draft))
                case Show(recap):
                    self._needs.emit("recap.ready", recap)
                case Clear(recap_id, reason):
                    cleared = RecapCleared(session_id=session.id, recap_id=recap_id, reason=reason)
                    self._needs.emit("recap.cleared", cleared)
                case Skip(trigger, reason) if policy.explain:
                    skipped = RecapSkipped(session_id=session.id, trigger=trigger, reason=reason)
                    self._needs.emit("recap.skipped", skipped)
                case Pause(trigger, error):
                    self._needs.emit("recap.failed", RecapFailed(session_id=session.id, trigger=trigger, error=error))
                case _:
                    pass

    def _note(self, sentence: str) -> None:
        """Tell once what is wrong with the settings."""
        if sentence not in self._noted:
            self._noted.add(sentence)
            self._needs.tell(sentence)

    # -- drafts ----------------------------------------------------------------------------------------------

    async def _run(self, session: _Session, draft: Draft) -> None:
        """Work on a draft until it is over, or not wanted any more."""
        if not _wants(session, draft):
            return
        try:
            with CancelScope() as session.scopes[draft.id]:
                await self._draft(session, draft)
        except Exception as problem:
            # Nobody waits for this, or it is only a recap that somebody waits for: it is told as one that failed.
            self._needs.report(f"drafting a recap failed: {type(problem).__name__}")
            self._tell(session, Dropped(draft.id, "failed"), _at_once)
        finally:
            session.scopes.pop(draft.id, None)

    async def _draft(self, session: _Session, draft: Draft) -> None:
        found = await self._needs.store().find(session.id)
        drafter = await self._drafter()
        gathered, material = await drafter.gather(self._job(session, draft, found))
        self._tell(session, gathered, _at_once)
        wanted = session.state.draft  # it knows more of itself now
        if wanted is None or wanted.id != draft.id or material is None:
            return
        written = await drafter.write(self._job(session, wanted, found), material)
        self._tell(session, written, _at_once)
        if isinstance(written, Written) and found is not None:
            recap = written.recap
            if recap.save and session.state.shown is recap:
                self._spawn(self._keep(session.id, found.epoch, recap))

    async def _drafter(self) -> "Drafter":
        """Most sessions never get as far as a draft, whose rules take 15 ms to load."""
        if self._made_drafter is None:
            if _DRAFTING not in sys.modules:
                await to_thread.run_sync(import_module, _DRAFTING)
            from afterturn.recap.drafting import Drafter

            self._made_drafter = Drafter(self._needs, self._note)
        return self._made_drafter

    async def _keep(self, session_id: str, epoch: int, recap: Recap) -> None:
        kept = KeptRecap(
            text=recap.text, model=recap.model, context_hash=recap.context_hash, created_at=recap.created_at
        )
        await self._needs.store().keep(session_id, epoch, kept, now_ms=self._needs.clock.now_ms())

    def _job(self, session: _Session, draft: Draft, found: Found | None) -> Job:
        return Job(
            draft=draft,
            session_id=session.id,
            context=session.context,
            model=session.model,
            saved=session.saved,
            kept=None if found is None else found.kept,
            away_since=session.state.blurred_at,
        )


def _settle(session: _Session, effect: Effect) -> bool:
    """Do at once what only concerns work under way, and is nothing that the client hears of; whether it was that."""
    match effect:
        case Abort(draft_id):
            if draft_id in session.scopes:  # else it has not begun, and will see for itself
                session.scopes[draft_id].cancel()
        case Give(draft_id, recap, reason):
            session.given[draft_id] = RecapNowResult(recap=recap, reason=reason)
        case _:
            return False
    return True


def _wants(session: _Session, draft: Draft) -> bool:
    return session.state.draft is not None and session.state.draft.id == draft.id


def _at_once(effect: Callable[[], None]) -> None:
    effect()
