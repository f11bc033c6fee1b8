"""The turn log (condense/ports.py, `Turns`)."""

import pytest

from afterturn.condense.ports import Intake, PendingTurn
from afterturn.store.sqlite.store import SqliteStore
from tests.store.conftest import Opener
from tests.store.sample import call, frozen, take, take_turn

pytestmark = pytest.mark.anyio


async def waiting(store: SqliteStore, session: str = "s") -> list[tuple[int, list[tuple[int, int]]]]:
    """Each waiting turn's index, and (position, ref) of its calls."""
    return [(turn.turn_index, list(turn.calls)) for turn in await store.turns.pending(session)]


async def phases(store: SqliteStore, *texts: str, session: str = "s") -> list[int]:
    taken = await store.archive.take_in(session, Intake(calls=[call(text) for text in texts]), now_ms=1)
    return [place.phase for place in taken.placed]


async def test_a_turn_comes_back_as_it_was(open_again: Opener) -> None:
    await take_turn(open_again(), "s", call("one"), call("two"), group=4, turn=7)
    (turn,) = await open_again().turns.pending("s")
    assert turn == PendingTurn(
        sequence=turn.sequence,
        batch_id="turn-7",
        turn_index=7,
        timestamp=1000,
        assistant_text="prose of 7",
        user_text="request of 7",
        group=4,
        due=False,
        loose='{"loose":[7]}',
        calls=[(0, 1), (1, 2)],
    )


async def test_turns_wait_in_order(store: SqliteStore) -> None:
    for turn in range(3):
        await take_turn(store, "s", call(f"of {turn}"), turn=turn)
    assert await waiting(store) == [(0, [(0, 1)]), (1, [(0, 2)]), (2, [(0, 3)])]


async def test_a_call_is_logged_once(store: SqliteStore) -> None:
    await take_turn(store, "s", call("one"), turn=0)
    await take_turn(store, "s", call("one"), call("two"), turn=1)
    await take_turn(store, "s", call("one"), call("two"), turn=2)
    await take_turn(store, "s", call("three"), call("three"), turn=3)
    assert await waiting(store) == [(0, [(0, 1)]), (1, [(1, 2)]), (3, [(0, 3)])]
    assert await phases(store, "one", "two", "four") == [1, 1, 0]


async def test_what_is_settled_waits_no_more(store: SqliteStore) -> None:
    await take_turn(store, "s", call("one"), call("two"), turn=0)
    await take_turn(store, "s", call("three"), turn=1)
    await store.batches.freeze("s", 0, frozen("a"), {}, [1])
    assert await waiting(store) == [(0, [(1, 2)]), (1, [(0, 3)])]
    await store.batches.freeze("s", 0, frozen("b"), {}, [2])
    assert await waiting(store) == [(1, [(0, 3)])]
    await take_turn(store, "s", call("one"), call("two"), turn=2)
    assert await waiting(store) == [(1, [(0, 3)])]
    assert await phases(store, "one", "two", "three") == [2, 2, 1]


async def test_what_another_froze_first_is_settled_too(store: SqliteStore) -> None:
    await take(store, "s", call("one"))
    await store.batches.freeze("s", 0, frozen("a"), {}, [])
    await take_turn(store, "s", call("one"))
    await store.batches.freeze("s", 0, frozen("a", by="later"), {}, [1])
    assert await waiting(store) == []


async def test_a_call_that_was_only_archived_can_still_be_logged(store: SqliteStore) -> None:
    await take(store, "s", call("one"))
    await take_turn(store, "s", call("one"))
    assert await waiting(store) == [(0, [(0, 1)])]


async def test_due_outlives_the_process_and_is_not_for_later_turns(open_again: Opener) -> None:
    store = open_again()
    await take_turn(store, "s", call("one"), turn=0)
    await store.turns.mark_due("s")
    await take_turn(store, "s", call("two"), turn=1)
    await take_turn(store, "other", call("three"), turn=1)
    assert [turn.due for turn in await open_again().turns.pending("s")] == [True, False]
    assert [turn.due for turn in await store.turns.pending("other")] == [False]


async def test_a_sequence_is_never_given_again(store: SqliteStore) -> None:
    await take_turn(store, "s", call("one"))
    (first,) = await store.turns.pending("s")
    await store.batches.freeze("s", 0, frozen("a"), {}, [1])
    await take_turn(store, "s", call("two"))
    (second,) = await store.turns.pending("s")
    assert second.sequence > first.sequence


async def test_a_fork_has_a_log_of_its_own(store: SqliteStore) -> None:
    await take_turn(store, "parent", call("one"), call("two"))
    await store.batches.freeze("parent", 0, frozen("a"), {}, [1])
    await store.sessions.open("child", project=None, parent_session_id="parent", now_ms=1)
    assert await waiting(store, "child") == []
    await take_turn(store, "child", call("one"), call("two"))
    assert await waiting(store, "child") == [(0, [(1, 2)])]
    await store.batches.freeze("child", 0, frozen("b"), {}, [2])
    assert (await waiting(store, "child"), await waiting(store, "parent")) == ([], [(0, [(1, 2)])])
