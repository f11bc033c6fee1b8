"""The transition table of recap.md, as data, and what must hold over any sequence of events."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.recap.machine import PAUSE_MS, State, step
from afterturn.recap.policy import Policy
from afterturn.recap.signals import (
    Abort,
    Asked,
    Changed,
    Clear,
    Closed,
    Dismissed,
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

START = 1_700_000_000_000
ERROR = RecapError(code="deadline", message="It took too long", retryable=True)


def recap(name: str, *, origin: str = "generated", key: str = "k") -> Recap:
    return Recap(
        recap_id=name, session_id="s", text="A text.", model=None, trigger="away", origin=origin, context_hash=key,
        created_at=START, save=False, usage=None,
    )  # fmt: skip


class Session:
    """One session's machine, played by hand. What it asks for is noted; a draft goes on when the script says so."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.state = State()
        self.now = START
        self.effects: list[Effect] = []
        self.writes = 0

    def tell(self, event: Event) -> None:
        self.state, effects = step(self.state, event, self.now, self.policy)
        self.effects += effects
        self.writes += sum(isinstance(effect, Write) for effect in effects)

    def wait(self, seconds: float, *, asleep: bool = False) -> None:
        """Time passes; timers fire when they are due, or not at all while the machine sleeps."""
        until = self.now + round(seconds * 1000)
        while not asleep and (due := self.state.deadline()) is not None and due <= until:
            self.now = max(self.now, due)
            self.tell(Woken())
        self.now = until

    @property
    def draft_id(self) -> int:
        """The draft in flight, or the one that was last."""
        return self.state.draft.id if self.state.draft is not None else self.state.drafts


OPEN = Opened(history=True, prompt=False, reason="resume", interactive=True)
BLUR, FOCUS = Focus(False), Focus(True)
SETTLED, TURN = TurnEnd(True), TurnEnd(False)

WORDS: dict[str, Event] = {
    "open": OPEN,
    "open-prompt": Opened(history=True, prompt=True, reason="resume", interactive=True),
    "open-empty": Opened(history=False, prompt=False, reason="startup", interactive=True),
    "open-reload": Opened(history=True, prompt=False, reason="reload", interactive=True),
    "open-new": Opened(history=True, prompt=False, reason="new", interactive=True),
    "open-script": Opened(history=True, prompt=False, reason="resume", interactive=False),
    "blur": BLUR,
    "focus": FOCUS,
    "start": TurnStart(),
    "settled": SETTLED,
    "turn": TURN,
    "typed": Typed(),
    "submit": Submitted(),
    "change": Changed(),
    "navigate": Navigated(),
    "now": Asked(),
    "dismiss": Dismissed(),
    "close": Closed(),
}


def play(script: str, policy: Policy) -> Session:
    """A script: the events above, `90s` to wait, `~8h` to sleep, `-1h` to set the clock back, and for a draft

    `input:key` it is gathered, `quiet:key` the gate fails, `pulled:key` it came from the host, `saved:key` a saved
    recap is current, `saved` the host says that one is, `none`, `empty`, `nomodel`; then `ok:key`, `same:key` (it was
    compared), `facts:key`, `fail:key` (with facts), `fail` (without), `drop`; `id=n` before `ok` makes it draft n's.
    """
    session = Session(policy)
    forced: int | None = None
    for word in script.split():
        name, _, key = word.partition(":")
        if name in WORDS:
            session.tell(WORDS[name])
            continue
        if word.startswith("id="):
            forced = int(word[3:])
            continue
        if word[0] == "-":
            session.now -= round(float(word[1:-1]) * UNITS[word[-1]] * 1000)
            continue
        if word[-1] in UNITS and word.strip("~" + word[-1]).replace(".", "").isdigit():
            seconds = float(word.strip("~" + word[-1])) * UNITS[word[-1]]
            session.wait(seconds, asleep=word[0] == "~")
            continue
        id, forced = (forced or session.draft_id), None
        session.tell(DRAFT[name](id, key))
    return session


UNITS = {"s": 1, "m": 60, "h": 3600}

DRAFT = {
    "input": lambda id, key: Gathered(draft_id=id, key=key, active=True, writable=True),
    "pulled": lambda id, key: Gathered(draft_id=id, key=key, active=True, writable=True, pulled=True),
    "quiet": lambda id, key: Gathered(draft_id=id, key=key, active=False, writable=True),
    "nomodel": lambda id, key: Gathered(draft_id=id, key=key, active=True, writable=False),
    "saved": lambda id, key: Gathered(draft_id=id, key=key or None, saved=recap(f"r{id}", origin="saved")),
    "none": lambda id, key: Gathered(draft_id=id, problem="noContext"),
    "empty": lambda id, key: Gathered(draft_id=id, key="e", problem="empty"),
    "ok": lambda id, key: Written(id, key, recap(f"r{id}", key=key)),
    "same": lambda id, key: Written(id, key, recap(f"r{id}", key=key), compared=True),
    "fail": lambda id, key: Failed(
        draft_id=id, key=key, error=ERROR, facts=recap(f"f{id}", origin="facts") if key else None
    ),
    "free": lambda id, key: Failed(draft_id=id, key=key, error=ERROR, facts=recap(f"f{id}"), counts=False),
    "drop": lambda id, key: Dropped(id, "changed"),
}


def said(effects: Iterable[Effect]) -> str:
    """Effects as short words, skips apart."""
    words: list[str] = []
    for effect in effects:
        match effect:
            case Gather(draft):
                words.append(f"gather({draft.trigger})")
            case Write():
                words.append("ask")
            case Abort():
                words.append("abort")
            case Show(shown):
                words.append(f"show({shown.recap_id})")
            case Give(_, None, reason):
                words.append(f"answer({reason})")
            case Give(_, shown, _):
                assert shown is not None
                words.append(f"answer({shown.recap_id})")
            case Clear(id, reason):
                words.append(f"clear({id},{reason})")
            case Pause():
                words.append("pause")
            case Skip():
                pass
    return " ".join(words)


def skips(effects: Iterable[Effect]) -> str:
    return " ".join(f"{each.trigger}:{each.reason}" for each in effects if isinstance(each, Skip))


DRAFTED = "gather(away) ask show(r1)"
"""A blur that led to a recap."""

HIDDEN = Policy(can_show=False)
OFF = Policy(auto=False)
BUSY = Policy(during_active=True)
PROMISED = Policy(trusts_focus=True)
UNSUPPORTED = Policy(reads_focus=False)

TABLE: list[tuple[str, str, str, Policy]] = [
    # opening
    ("open saved:k", "gather(reopen) show(r1)", "", Policy()),
    ("open saved", "gather(reopen) show(r1)", "", Policy()),
    ("open input:k ok:k", "gather(reopen) ask show(r1)", "", Policy()),
    ("open quiet:k", "gather(reopen)", "reopen:noActivity", Policy()),
    ("open none", "gather(reopen)", "reopen:noContext", Policy()),
    ("open empty", "gather(reopen)", "reopen:empty", Policy()),
    ("open nomodel:k", "gather(reopen)", "reopen:noModel", Policy()),
    ("open-prompt", "", "reopen:prompt", Policy()),
    ("open-empty", "", "reopen:noHistory", Policy()),
    ("open-reload", "", "reopen:reload", Policy()),
    ("open-new", "", "reopen:new", Policy()),
    ("open-script", "", "reopen:cannotShow", Policy()),
    ("open-script blur 600s", "", "reopen:cannotShow away:cannotShow", Policy()),
    ("open", "", "reopen:off", OFF),
    ("open", "", "reopen:cannotShow", HIDDEN),
    ("open saved blur 90s input:k", "gather(reopen) show(r1) gather(away)", "away:unchanged", Policy()),
    ("open saved:k blur 90s input:k", "gather(reopen) show(r1) gather(away)", "away:unchanged", Policy()),
    ("open saved:k blur 90s input:l ok:l", "gather(reopen) show(r1) gather(away) ask show(r2)", "", Policy()),
    ("open saved change blur 90s input:k ok:k", "gather(reopen) show(r1) gather(away) ask show(r2)", "", Policy()),
    ("open change saved", "gather(reopen)", "reopen:changed", Policy()),
    ("open input:k change ok:k", "gather(reopen) ask abort", "reopen:changed", Policy()),
    ("open start input:k", "gather(reopen) abort", "reopen:turnStart", Policy()),
    # blur, focus, away
    ("blur 90s input:k ok:k", DRAFTED, "", Policy()),
    ("blur 89s", "", "", Policy()),
    ("blur 89s focus 1h", "", "away:returned", Policy()),
    ("blur 89s focus blur 89s", "", "away:returned", Policy()),
    ("blur 89s focus blur 90s input:k ok:k", DRAFTED, "away:returned", Policy()),
    ("blur 60s blur 30s input:k ok:k", DRAFTED, "", Policy()),  # a blur while blurred changes nothing
    ("blur 90s focus input:k ok:k", DRAFTED, "", Policy()),  # back while it is drafted: it lands
    ("blur 90s input:k focus ok:k", DRAFTED, "", Policy()),
    ("blur 90s", "", "away:off", OFF),
    ("blur 90s", "", "away:cannotShow", HIDDEN),
    ("blur 90s", "", "", UNSUPPORTED),
    ("blur 90s quiet:k", "gather(away)", "away:noActivity", Policy()),
    ("blur 90s input:k ok:k focus blur 90s input:k", f"{DRAFTED} gather(away)", "away:unchanged", Policy()),
    ("blur 90s input:k ok:k focus blur 90s input:l ok:l", f"{DRAFTED} gather(away) ask show(r2)", "", Policy()),
    # the agent works
    ("start blur 90s", "", "away:agentActive", Policy()),
    ("start blur 90s focus settled 1h", "", "away:agentActive", Policy()),
    ("start blur 90s settled 2.9s", "", "away:agentActive", Policy()),
    ("start blur 90s settled 3s input:k ok:k", "gather(turnEnd) ask show(r1)", "away:agentActive", Policy()),
    ("start blur 88s settled 2s", "", "", Policy()),  # away is over inside the wait after a turn
    ("start blur 88s settled 3s input:k ok:k", "gather(turnEnd) ask show(r1)", "", Policy()),
    ("blur start settled 3s input:k ok:k", "gather(turnEnd) ask show(r1)", "", Policy()),
    ("blur start settled 2s start settled 2s", "", "", Policy()),  # turns that follow each other
    ("blur start turn 3s", "", "turnEnd:agentActive", Policy()),
    ("start settled 3s", "", "", PROMISED),
    ("start settled focus 1h", "", "", Policy()),
    ("blur start settled 1s focus", "", "away:returned turnEnd:returned", Policy()),
    ("start blur 90s input:k ok:k", DRAFTED, "", BUSY),
    ("start blur 90s input:k start change settled ok:k", DRAFTED, "", BUSY),
    ("start blur 90s input:k submit ok:k", "gather(away) ask abort", "away:input", BUSY),
    # turn and agent start
    ("blur 90s input:k start ok:k", "gather(away) ask abort", "away:turnStart", Policy()),
    ("blur 90s start input:k", "gather(away) abort", "away:turnStart", Policy()),
    ("blur 90s input:k ok:k start", f"{DRAFTED} clear(r1,turnStart)", "", Policy()),
    ("settled start 1h", "", "", Policy()),
    # idle
    ("settled 120s input:k ok:k", "gather(idle) ask show(r1)", "", Policy()),
    ("settled 119s", "", "", Policy()),
    ("turn 1h", "", "", Policy()),
    ("settled 100s typed 119s", "", "", Policy()),
    ("settled 100s typed 120s input:k ok:k", "gather(idle) ask show(r1)", "", Policy()),
    ("typed 1h", "", "", Policy()),
    ("settled 119s focus 1h settled 1h", "", "", Policy()),
    ("settled 119s submit 1h", "", "", Policy()),
    ("settled 1h", "", "", PROMISED),
    ("focus settled 120s input:k ok:k", "gather(idle) ask show(r1)", "", UNSUPPORTED),
    ("settled 120s input:k ok:k typed", "gather(idle) ask show(r1)", "", Policy()),
    # input
    ("blur 90s input:k submit ok:k", "gather(away) ask abort", "away:input", Policy()),
    ("blur 89s submit 1h", "", "", Policy()),
    ("blur 90s input:k ok:k submit", f"{DRAFTED} clear(r1,input)", "", Policy()),
    ("blur 90s input:k ok:k typed", DRAFTED, "", Policy()),
    ("submit", "", "", Policy()),
    # recap/now
    ("now input:k ok:k", "gather(manual) ask answer(r1)", "", Policy()),
    ("now input:k ok:k", "gather(manual) ask answer(r1)", "", OFF),
    ("now input:k ok:k", "gather(manual) ask answer(r1)", "", HIDDEN),
    ("open-script now input:k ok:k", "gather(manual) ask answer(r1)", "reopen:cannotShow", Policy()),
    ("start now input:k ok:k", "gather(manual) ask answer(r1)", "", Policy()),
    ("now quiet:k ok:k now quiet:k ok:k", "gather(manual) ask answer(r1) gather(manual) ask answer(r2)", "", Policy()),
    ("now none", "gather(manual) answer(noContext)", "", Policy()),
    ("now empty", "gather(manual) answer(empty)", "", Policy()),
    ("now nomodel:k", "gather(manual) answer(noModel)", "", Policy()),
    ("now input:k fail", "gather(manual) ask answer(failed)", "", Policy()),
    ("now input:k fail:k", "gather(manual) ask answer(f1)", "", Policy()),
    ("now input:k change ok:k", "gather(manual) ask abort answer(changed)", "", Policy()),
    ("now input:k start", "gather(manual) ask abort answer(turnStart)", "", Policy()),
    ("now input:k submit", "gather(manual) ask abort answer(input)", "", Policy()),
    ("now input:k close", "gather(manual) ask abort answer(closed)", "", Policy()),
    ("now now input:k ok:k", "gather(manual) abort answer(superseded) gather(manual) ask answer(r2)", "", Policy()),
    ("now input:k ok:k submit", "gather(manual) ask answer(r1) clear(r1,input)", "", Policy()),
    ("now input:k ok:k submit", "gather(manual) ask answer(r1)", "", HIDDEN),
    ("now input:k ok:k blur 90s input:k", "gather(manual) ask answer(r1) gather(away)", "away:unchanged", Policy()),
    ("blur settled now input:k ok:k 3s", "gather(manual) ask answer(r1)", "", Policy()),
    ("blur 90s now input:k ok:k", "gather(away) abort gather(manual) ask answer(r2)", "away:superseded", Policy()),
    ("blur 89s now input:k 1s ok:k", "gather(manual) ask answer(r1)", "away:drafting", Policy()),
    # changes
    ("blur 90s input:k change ok:k", "gather(away) ask abort", "away:changed", Policy()),
    ("blur 90s change input:k", "gather(away)", "away:changed", Policy()),
    ("blur 90s pulled:k change same:k", DRAFTED, "", Policy()),  # the host said: it is the same
    ("blur 90s change pulled:k same:k", DRAFTED, "", Policy()),
    ("blur 90s pulled:k change ok:k", "gather(away) ask", "away:changed", Policy()),
    ("blur 90s pulled:k change fail:k", "gather(away) ask", "away:changed", Policy()),
    ("blur 90s input:k settled ok:k", "gather(away) ask abort", "away:changed", Policy()),
    ("blur 90s pulled:k drop", "gather(away) ask", "away:changed", Policy()),
    ("blur 90s input:k ok:k change", DRAFTED, "", Policy()),  # what is shown stays
    # navigate, dismiss, close
    ("blur 90s input:k ok:k navigate", f"{DRAFTED} clear(r1,navigate)", "", Policy()),
    ("blur 90s input:k navigate ok:k", "gather(away) ask abort", "away:navigate", Policy()),
    ("blur 89s navigate 1h", "", "", Policy()),
    ("start navigate blur 90s input:k ok:k", DRAFTED, "", Policy()),
    ("blur 90s input:k ok:k dismiss", f"{DRAFTED} clear(r1,dismissed)", "", Policy()),
    ("dismiss", "", "", Policy()),
    ("blur 90s input:k close ok:k", "gather(away) ask abort", "away:closed", Policy()),
    ("blur 89s settled close 1h", "", "", Policy()),
    # late ends
    ("now input:k now id=1 ok:k", "gather(manual) ask abort answer(superseded) gather(manual)", "", Policy()),
    ("now input:k now id=1 drop input:k ok:k",
     "gather(manual) ask abort answer(superseded) gather(manual) ask answer(r2)", "", Policy()),
    # failures
    ("blur 90s input:k fail", "gather(away) ask", "away:failed", Policy()),
    ("blur 90s input:k fail:k", "gather(away) ask show(f1)", "", Policy()),
    ("blur 90s input:k fail:k focus blur 90s input:k fail:k",
     "gather(away) ask show(f1) gather(away) ask", "away:unchanged", Policy()),
    ("blur 90s input:k fail:k focus blur 90s input:k ok:k",
     "gather(away) ask show(f1) gather(away) ask show(r2)", "", Policy()),
    # sleep, and a clock that is set
    ("blur ~8h focus input:k ok:k", DRAFTED, "", Policy()),
    ("blur start settled 1s ~8h focus input:k ok:k", DRAFTED, "", Policy()),  # away and turn end: one draft
    ("settled ~8h typed input:k ok:k", "gather(idle) ask show(r1)", "", Policy()),
    ("blur ~8h submit", "", "", Policy()),
    ("blur ~8h start", "", "away:agentActive", Policy()),
    ("blur 60s -1h 29s", "", "", Policy()),
    ("blur 60s typed -1h typed 30s input:k ok:k", DRAFTED, "", Policy()),
]  # fmt: skip


@pytest.mark.parametrize(("script", "does", "skipped", "policy"), TABLE, ids=[row[0] for row in TABLE])
def test_the_table(script: str, does: str, skipped: str, policy: Policy) -> None:
    session = play(script, policy)
    assert said(session.effects) == does
    assert skips(session.effects) == skipped


FAILING = "blur 90s input:{0} fail:{0} focus "


def test_three_failures_in_a_row_pause_and_it_is_said_once() -> None:
    thrice = "".join(FAILING.format(key) for key in "abc")
    assert said(play(thrice, Policy()).effects).count("pause") == 1
    paused = play(thrice + "blur 90s input:d", Policy())
    assert paused.writes == 3
    assert skips(paused.effects) == "away:paused"
    later = play(thrice + "599s blur 90s input:d fail:d focus blur 90s input:e", Policy())
    assert later.writes == 4, "after ten minutes one more may try, and is paused again when it fails"
    assert said(later.effects).count("pause") == 1
    well = play(thrice + "599s blur 90s input:d ok:d focus blur 90s input:e", Policy())
    assert well.writes == 5


def test_failures_that_are_not_in_a_row_pause_nothing() -> None:
    script = FAILING.format("a") + FAILING.format("b") + "blur 90s input:c ok:c focus " + FAILING.format("d")
    assert "pause" not in said(play(script, Policy()).effects)
    assert play(script + "blur 90s input:e", Policy()).writes == 5


def test_a_pause_does_not_stop_what_is_asked_for_or_saved() -> None:
    thrice = "".join(FAILING.format(key) for key in "abc")
    assert play(thrice + "now input:d ok:d", Policy()).writes == 4
    assert said(play(thrice + "open saved:d", Policy()).effects).endswith("show(r4)")


def test_a_budget_that_is_used_up_is_no_failure() -> None:
    spent = "".join(f"blur 90s input:{key} free:{key} focus " for key in "abcd")
    assert play(spent, Policy()).writes == 4
    assert "pause" not in said(play(spent, Policy()).effects)


def test_switching_off_holds_for_a_timer_and_a_draft_under_way() -> None:
    for script in ("blur 89s", "blur 90s", "blur 90s input:k"):
        session = play(script, Policy())
        session.policy = OFF
        session.wait(2)
        if session.state.draft is not None and not session.state.draft.asked:
            session.tell(DRAFT["input"](session.draft_id, "k"))
        if session.state.draft is not None:
            session.tell(DRAFT["ok"](session.draft_id, "k"))
        assert "show" not in said(session.effects), script
        assert skips(session.effects).endswith("away:off"), script


@pytest.mark.parametrize(
    ("blurred_at", "focused_at", "expected"),
    [
        (-2_000, 87_900, ""),  # the host says when: away for 89.9 s
        (-2_000, 88_000, "gather(away)"),
        (-600_000, 84_000, ""),  # a blur that is said to be long ago is not believed
        (60_000, 89_000, ""),  # nor one in the future
        (None, None, "gather(away)"),
    ],
    ids=str,
)
def test_the_host_says_when_the_focus_changed(blurred_at: int | None, focused_at: int | None, expected: str) -> None:
    session = Session(Policy())
    session.tell(Focus(False, None if blurred_at is None else START + blurred_at))
    session.now += 300_000  # asleep
    session.tell(Focus(True, None if focused_at is None else START + focused_at))
    assert said(session.effects) == expected


def test_a_step_changes_no_state_but_the_one_it_gives() -> None:
    before = State()
    step(before, BLUR, START, Policy())
    assert before == State()


# -- over any sequence ----------------------------------------------------------------------------------------------

STEPS = st.one_of(
    st.sampled_from(sorted(WORDS)),
    st.sampled_from(["input", "pulled", "quiet", "saved", "none", "ok", "same", "fail", "drop"]),
    st.sampled_from(["1s", "4s", "60s", "100s", "~300s", "-30s"]),
)
POLICIES = st.builds(
    Policy, auto=st.booleans(), can_show=st.booleans(), reads_focus=st.booleans(), trusts_focus=st.booleans(),
    during_active=st.booleans(),
)  # fmt: skip


class Watched(Session):
    """Holds every step against what must always be."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.running: set[int] = set()
        self.born_active: set[int] = set()
        self.cleared: set[str] = set()
        self.open_answers: set[int] = set()
        self.blurred_since: int | None = None
        self.turn_ended = False

    def tell(self, event: Event) -> None:
        before, count = self.state, len(self.effects)
        super().tell(event)
        state = self.state
        if state.blurred_at is None:
            self.blurred_since = None
        for timer in (state.away_at, state.post_turn_at, state.idle_at):
            assert timer is None or timer > self.now, "a timer lies in the past"
        for effect in self.effects[count:]:
            self._watch(effect, before)
        if state.shown is not None:
            assert state.shown.recap_id not in self.cleared
        assert len(self.running) <= 1, "more than one draft in flight"
        assert self.running == ({state.draft.id} if state.draft else set())
        if isinstance(event, Closed):
            assert state.deadline() is None
            assert state.draft is None

    def _watch(self, effect: Effect, before: State) -> None:
        match effect:
            case Gather(draft):
                self.running.add(draft.id)
                if draft.trigger == "manual":
                    self.open_answers.add(draft.id)
                    return
                assert self.policy.auto
                assert self.policy.can_show
                assert self.state.interactive
                assert self.policy.during_active or not draft.while_active
                if draft.trigger == "idle":
                    assert not (before.focus_seen and self.policy.reads_focus)
                if draft.trigger in ("away", "turnEnd"):
                    assert before.focus == "blurred", "drafted although the person is there"
                if draft.trigger == "away":
                    assert before.blurred_at is not None
                    assert self.now - before.blurred_at >= self.policy.away_ms, "before the threshold"
            case Write(draft):
                assert draft.id in self.running
                if draft.trigger != "manual" and not draft.while_active:
                    assert not before.active, "drafted while the agent works"
            case Abort(id):
                self.running.discard(id)
            case Show(shown):
                self.running = {self.state.draft.id} if self.state.draft else set()
                assert self.policy.auto
                assert shown.recap_id not in self.cleared, "shown after it was cleared"
            case Give(id, _, _):
                assert id in self.open_answers, "answered twice"
                self.open_answers.remove(id)
                self.running.discard(id)
            case Clear(id, _):
                assert id not in self.cleared
                self.cleared.add(id)
            case Skip():
                self.running = {self.state.draft.id} if self.state.draft else set()
            case Pause():
                pass


@given(st.lists(STEPS, max_size=40), POLICIES)
def test_what_holds_whatever_happens(steps: list[str], policy: Policy) -> None:
    session = Watched(policy)
    for word in steps:
        if word in WORDS:
            session.tell(WORDS[word])
        elif word in DRAFT:
            session.tell(DRAFT[word](session.draft_id, "k"))
        elif word[0] == "-":
            session.now -= 30_000
        else:
            session.wait(float(word.strip("~s")), asleep=word[0] == "~")
    session.tell(Closed())
    assert session.open_answers == set()


@given(st.lists(STEPS, max_size=40), POLICIES)
def test_once_cleared_nothing_is_shown_until_there_is_a_new_draft(steps: list[str], policy: Policy) -> None:
    session = Watched(policy)
    for word in [*steps, "submit"]:
        if word in WORDS:
            session.tell(WORDS[word])
        elif word in DRAFT:
            session.tell(DRAFT[word](session.draft_id, "k"))
    assert session.state.shown is None
    count = len(session.effects)
    for name in ("input", "ok", "same", "fail"):
        session.tell(DRAFT[name](session.state.drafts, "k"))
    assert said(session.effects[count:]) == ""


def test_the_pause_is_ten_minutes() -> None:
    assert PAUSE_MS == 600_000
