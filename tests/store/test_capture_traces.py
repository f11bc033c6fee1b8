"""Trace rows: written, written again, listed, scored (capture.md, 'Durability'; protocol.md, 'capture and traces')."""

import pytest
from msgspec.structs import replace

from afterturn.capture.ports import Scope, TraceFilter, VectorCounts
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.traces import ScoreUpdate, ToolCallDTO
from tests.store.capture_sample import capture, claim, found, listed, row, take_in, vector

pytestmark = pytest.mark.anyio


async def test_a_row_comes_back_as_it_was(store: SqliteStore) -> None:
    call = ToolCallDTO(name="bash", input={"command": "ls \ud83d", "n": [1, 2.5, None]}, output="out " * 3000)
    one = row(
        "a", "user", "agent", calls=[call], reflection="why", summary=vector(1), action=vector(0, -1), tags=["t"],
        project="p",
    )  # fmt: skip
    await capture(store, one, row("b", step=1, project="p"), project="p")
    assert await store.capture.traces.rows_of("s", "e") == [one, row("b", step=1, project="p")]
    assert await store.capture.traces.get(["b", "none", "a"]) == [row("b", step=1, project="p").trace, one.trace]
    assert await store.capture.traces.rows_of("s", "other") == []


async def test_a_new_revision_replaces_what_it_has_and_marks_what_it_has_not(store: SqliteStore) -> None:
    await capture(store, row("a", "first words"), row("b", "second words", step=1), text="one")
    await store.capture.traces.update_scores([ScoreUpdate(trace_id="a", value=0.7, priority=2, r_human=-1)])
    done = await capture(store, row("a", "other words"), row("c", "third words", step=1), text="two", superseded=["b"])
    assert done.result.trace_ids == ["a", "c"]
    assert [trace.value for trace in done.result.traces] == [0.7, 0.0]
    a, b = await store.capture.traces.get(["a", "b"])
    assert (a.user_text, a.value, a.priority, a.r_human, a.superseded) == ("other words", 0.7, 2, -1, False)
    assert (b.user_text, b.superseded) == ("second words", True)
    assert sorted(await found(store, "words")) == ["a", "c"]
    assert await found(store, "first second") == []
    await capture(store, row("a", "other words"), row("b", "second words", step=1), text="three", superseded=["c"])
    assert await found(store, "second") == ["b"]
    assert await found(store, "third") == []


async def test_superseded_rows_leave_the_search_by_vector_and_come_back(store: SqliteStore) -> None:
    a, b = row("a", "x", summary=vector(1, 0.1)), row("b", "y", summary=vector(1, 0.2), step=1)
    await capture(store, a, b, text="one")
    assert await found(store, vector=vector(1)) == ["a", "b"]
    await capture(store, a, text="two", superseded=["b"])
    assert await found(store, vector=vector(1)) == ["a"]
    without = replace(b, summary_vector=None)
    await capture(store, a, without, text="three")
    assert await found(store, vector=vector(1)) == ["a", "b"]
    assert await store.capture.traces.rows_of("s", "e") == [a, b]


async def test_vectors_stay_unless_the_content_is_another(store: SqliteStore) -> None:
    await capture(store, row("a", "x", summary=vector(1)), text="one")
    await capture(store, row("a", "x"), text="two")
    assert await found(store, vector=vector(1)) == ["a"]
    await capture(store, row("a", "z"), text="three", missing=["a"])
    assert await found(store, vector=vector(1)) == []
    kept = (await store.capture.traces.get(["a"]))[0].vectors
    assert (kept.summary, kept.action, kept.model) == (False, False, None)
    assert [each.trace.trace_id for each in await store.capture.vectors.missing(limit=5)] == ["a"]


async def test_an_episode_that_moves_to_another_project_takes_its_rows_along(store: SqliteStore) -> None:
    await capture(store, row("a", "words", summary=vector(1)), text="one", project="p")
    await capture(store, row("a", "words", summary=vector(1)), text="two", project="q")
    for project, hits in (("p", []), ("q", ["a"])):
        assert await found(store, "words", project=project) == hits
        assert await found(store, vector=vector(1), project=project) == hits
        assert await listed(store, scope=Scope(project=project)) == hits


# -- listing ------------------------------------------------------------------------------------------------------


async def fill(store: SqliteStore) -> None:
    """Projects and sessions.

    p has two sessions; one session has no project; one got p later than its trace; one was not opened, and its
    episodes came with projects; one was opened with p, and its episode came with another.
    """
    await store.sessions.open("p1", project="p", parent_session_id=None, now_ms=1)
    await store.sessions.open("p2", project="p", parent_session_id=None, now_ms=1)
    await capture(store, row("a", episode="ep1", session="p1", ts=1), row("b", episode="ep1", session="p1", step=1))
    await capture(store, row("c", episode="ep2", session="p2", ts=3))
    await capture(store, row("d", episode="ed", session="alone", ts=4))
    await capture(store, row("e", episode="ee", session="later", ts=5))
    await store.sessions.open("later", project="p", parent_session_id=None, now_ms=1)
    await capture(store, row("f", episode="ef", session="given", ts=6), project="q")
    await capture(store, row("g", episode="eg", session="given", ts=7), project="r")
    await capture(store, row("h", episode="eh", session="given", ts=8))
    await store.sessions.open("p3", project="p", parent_session_id=None, now_ms=1)
    await capture(store, row("i", episode="ei", session="p3", ts=9), project="s")


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        ({"scope": Scope(project="*")}, "ihgfedcba"),
        ({"scope": Scope(project="p")}, "cba"),
        ({"scope": Scope(project="none")}, ""),
        ({"scope": Scope(session_ids=["p1"])}, "cba"),
        ({"scope": Scope(session_ids=["alone"])}, "d"),
        ({"scope": Scope(session_ids=["later"])}, "ecba"),
        ({"scope": Scope(session_ids=["unknown"])}, ""),
        ({"scope": Scope(session_ids=["given"])}, "hgf"),
        ({"scope": Scope(session_ids=["given", "alone"])}, "hgfd"),
        ({"scope": Scope(session_ids=["p3"])}, "cba"),
        ({"scope": Scope(project="q")}, "f"),
        ({"scope": Scope()}, ""),
        ({"session_id": "p1"}, "ba"),
        ({"session_id": "p1", "scope": Scope(project="q")}, ""),
        ({"episode_id": "ep1"}, "ab"),
        ({"trace_ids": ["d", "a"]}, "da"),
        ({"before": 4, "scope": Scope(project="*")}, "cba"),
        ({"before": 4, "scope": Scope(session_ids=["alone"])}, ""),
        ({"before": 7, "scope": Scope(session_ids=["given"])}, "f"),
    ],
    ids=str,
)
async def test_what_a_filter_picks(store: SqliteStore, which: dict, ids: str) -> None:
    await fill(store)
    assert "".join(await listed(store, **which)) == ids


async def test_an_episode_id_means_ones_own_sessions_first(store: SqliteStore) -> None:
    await capture(store, row("a", episode="same", session="s1"))
    await capture(store, row("b", episode="same", session="s2"))
    assert await listed(store, episode_id="same", scope=Scope(session_ids=["s2"])) == ["b"]
    assert await listed(store, episode_id="same", scope=Scope(session_ids=["s3"])) == ["a", "b"]


@pytest.mark.parametrize("which", [{"scope": Scope(project="*")}, {"episode_id": "e"}], ids=["newest", "episode"])
async def test_pages_hold_everything_once(store: SqliteStore, which: dict) -> None:
    await capture(store, *(row(f"t{n:02}", step=n, ts=n // 3) for n in range(25)))
    ids: list[str] = []
    cursor = None
    while True:
        page, cursor = await store.capture.traces.page(TraceFilter(**which), cursor=cursor, limit=4)
        ids += [trace.trace_id for trace in page]
        if cursor is None:
            break
    expected = [f"t{n:02}" for n in range(25)]
    assert ids == (expected if "episode_id" in which else expected[::-1])


@pytest.mark.parametrize("cursor", ["", "x", "1.", "1.x", "1"])
async def test_a_cursor_that_is_none_is_refused(store: SqliteStore, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await store.capture.traces.page(TraceFilter(), cursor=cursor, limit=1)


async def test_scores_are_set_where_they_are_given(store: SqliteStore) -> None:
    await capture(store, row("a"), row("b", step=1))
    updates = [
        ScoreUpdate(trace_id="a", value=1.5),
        ScoreUpdate(trace_id="a", r_human=0.25),
        ScoreUpdate(trace_id="none", value=1),
    ]
    assert await store.capture.traces.update_scores(updates) == 2
    a, b = await store.capture.traces.get(["a", "b"])
    assert (a.value, a.r_human, a.priority) == (1.5, 0.25, 0)
    assert (b.value, b.r_human, b.priority) == (0, None, 0)


# -- vectors that come later --------------------------------------------------------------------------------------


async def test_missing_vectors_are_asked_for_until_they_are_there(store: SqliteStore) -> None:
    await capture(store, row("a", "x"), row("b", "y", step=1), row("c", "z", step=2), missing=["a", "b"])
    vectors = store.capture.vectors
    assert await vectors.counts("m") == VectorCounts(current=0, stale=0, missing=2)
    rows = await vectors.missing(limit=10)
    assert [each.trace.trace_id for each in rows] == ["b", "a"]
    assert await vectors.add([row("a", "x", action=vector(0, 1)), row("b", "changed", summary=vector(1))]) == 1
    assert [each.trace.trace_id for each in await vectors.missing(limit=10)] == ["b"]
    assert await found(store, vector=vector(0, 1)) == ["a"]
    assert await vectors.counts("m") == VectorCounts(current=1, stale=0, missing=1)


async def test_a_row_that_has_no_text_any_more_waits_for_nothing(store: SqliteStore) -> None:
    await capture(store, row("a", "x"), missing=["a"])
    await capture(store, row("a", " "), text="two")
    vectors = store.capture.vectors
    assert await vectors.add(list(await vectors.missing(limit=1))) == 0
    assert await vectors.missing(limit=1) == []


async def test_what_fails_six_times_is_left_alone(store: SqliteStore) -> None:
    await capture(store, row("a", "x"), missing=["a"])
    for _ in range(6):
        assert len(await store.capture.vectors.missing(limit=1)) == 1
        await store.capture.vectors.failed(["a"])
    assert await store.capture.vectors.missing(limit=1) == []


async def test_stale_vectors_are_replaced(store: SqliteStore) -> None:
    await capture(store, *(row(f"t{n}", str(n), step=n, summary=vector(1, n), model="old") for n in range(5)))
    vectors = store.capture.vectors
    assert await vectors.counts("new") == VectorCounts(current=0, stale=5, missing=0)
    while rows := await vectors.stale("new", limit=2):
        texts = [each.trace.user_text for each in rows]
        new = [row(each.trace.trace_id, text, summary=vector(1, int(text), dimension=32), model="new")
               for each, text in zip(rows, texts, strict=True)]  # fmt: skip
        assert await vectors.add(new) == len(rows)
    assert await vectors.counts("new") == VectorCounts(current=5, stale=0, missing=0)
    assert await found(store, vector=vector(1, dimension=32), model="new") == ["t0", "t1", "t2", "t3", "t4"]
    assert await found(store, vector=vector(1), model="old") == []


async def test_a_job_that_is_not_done_has_no_rows(store: SqliteStore) -> None:
    await take_in(store)
    await claim(store)
    assert await listed(store, scope=Scope(project="*")) == []
