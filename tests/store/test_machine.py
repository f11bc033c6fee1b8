"""Any sequence of intakes, forks, deletions, expiry and restarts, against a plain model (hypothesis)."""

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from afterturn.condense.ports import Intake
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from tests.store.sample import DAY_MS, call, texts

T = TypeVar("T")
Call = tuple[str, int]

TEXTS = ["", "one", "two", "\ud83d", "large " * 2000, "other large " * 2000]
SESSIONS = st.sampled_from(["a", "b", "c", "d"])
CALLS = st.tuples(st.sampled_from(["c1", "c2"]), st.sampled_from(range(len(TEXTS))))
NO_TOP = 10**9


class Row:
    """One ref of the model: the call it was given to, and whether its text is there."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.there = True


class Session:
    """What the store should know of a session."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.base = self.last_ref = self.epoch = self.active_day = 0
        self.known = self.opened = self.severed = False
        self.parent: Session | None = None

    def view(self) -> Iterator[tuple["Session", int]]:
        """Itself and its ancestors, each with the highest ref in view."""
        yield self, NO_TOP
        session = self
        while session.parent is not None and not self.severed:
            yield session.parent, session.base
            session = session.parent

    def find(self, wanted: Call) -> tuple[int, Row] | None:
        for session, top in self.view():
            for ref, row in session.rows.items():
                if ref <= top and row.call == wanted:
                    return ref, row
        return None

    def resolved(self, ref: int) -> str | None:
        for session, top in self.view():
            if ref <= top and ref in session.rows and session.rows[ref].there:
                return TEXTS[session.rows[ref].call[1]]
        return "expired" if 0 < ref <= self.last_ref else None


class StoreMachine(RuleBasedStateMachine):
    """The store and its model, side by side; time goes on by days."""

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.new_store()
        self.model: dict[str, Session] = {}
        self.day = 0

    def new_store(self) -> SqliteStore:
        return SqliteStore(StorePlace(file=self.folder / "afterturn.db", own_folder=True))

    def teardown(self) -> None:
        self.do(self.store.close(timeout_ms=10_000))
        self.runner.close()
        shutil.rmtree(self.folder)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def active(self, name: str) -> Session:
        session = self.model.setdefault(name, Session())
        session.known = True
        for each, _ in session.view():
            each.active_day = self.day
        return session

    @rule(name=SESSIONS, calls=st.lists(CALLS, max_size=4))
    def take_in(self, name: str, calls: list[Call]) -> None:
        session = self.active(name)
        expected: list[tuple[int, bool]] = []
        for each in calls:
            found = session.find(each)
            if found is None:
                session.last_ref += 1
                session.rows[session.last_ref] = Row(each)
                expected.append((session.last_ref, True))
            else:
                found[1].there = True
                expected.append((found[0], False))
        intake = Intake(calls=[call(TEXTS[text], id=id) for id, text in calls])
        taken = self.do(self.store.archive.take_in(name, intake, now_ms=self.day * DAY_MS))
        assert [(place.ref, place.is_new) for place in taken.placed] == expected
        assert taken.epoch == session.epoch

    @rule(name=SESSIONS, parent=SESSIONS)
    def open(self, name: str, parent: str) -> None:
        session = self.model.setdefault(name, Session())
        source = self.model.get(parent)
        known = session.known
        fresh = not (session.opened or session.last_ref or session.epoch)
        if fresh and source is not None and source is not session and not self.descends(source, session):
            session.parent = source
            session.base = session.last_ref = source.last_ref
        session.opened = True
        self.active(name)
        opening = self.store.sessions.open(name, project=None, parent_session_id=parent, now_ms=self.day * DAY_MS)
        assert self.do(opening) == known

    def descends(self, session: Session | None, ancestor: Session) -> bool:
        while session is not None and session is not ancestor:
            session = session.parent
        return session is not None

    @rule(name=SESSIONS)
    def delete(self, name: str) -> None:
        session = self.model.setdefault(name, Session())
        expected = len(session.rows)
        session.rows = {}
        session.epoch += 1
        session.known = session.opened = False
        session.severed = True
        session.active_day = self.day
        assert self.do(self.store.sessions.delete(name, now_ms=self.day * DAY_MS)) == expected

    @rule(days=st.sampled_from([1, 20, 40]))
    def let_time_pass(self, days: int) -> None:
        self.day += days
        expected = 0
        for session in self.model.values():
            if session.active_day < self.day - 30:
                expected += sum(row.there for row in session.rows.values())
                for row in session.rows.values():
                    row.there = False
        expired, more = 0, True
        while more:
            swept = self.do(self.store.retention.step(retention_days=30, now_ms=self.day * DAY_MS, limit=3))
            expired, more = expired + swept.expired, swept.more
        assert expired == expected

    @rule()
    def start_again(self) -> None:
        assert self.do(self.store.close(timeout_ms=10_000))
        self.store = self.new_store()

    @precondition(lambda self: self.model)
    @invariant()
    def every_ref_resolves_as_it_should(self) -> None:
        for name, session in self.model.items():
            refs = range(session.last_ref + 2)
            # A time that is not above any the session has seen, so that looking is no activity.
            found = self.do(texts(self.store, name, *refs, now_ms=0))
            assert found == [session.resolved(ref) for ref in refs]
            assert self.do(self.store.sessions.known(name)) == session.known

    @precondition(lambda self: self.model)
    @invariant()
    def a_blob_is_there_as_long_as_a_result_needs_it(self) -> None:
        needed = {row.call[1] for session in self.model.values() for row in session.rows.values() if row.there}
        with closing(sqlite3.connect(self.folder / "afterturn.db")) as connection:
            assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (len(needed),)

    @precondition(lambda self: self.model)
    @invariant()
    def the_file_is_whole(self) -> None:
        assert self.do(self.store.integrity_check()) == []


StoreMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestStore = StoreMachine.TestCase
