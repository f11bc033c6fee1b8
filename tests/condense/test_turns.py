"""Waiting turns and batches of them (condense.md, 'When to condense'; prior art cases 25 to 28)."""

import json

import pytest

from afterturn.condense.calls import INCOMPLETE, OPEN, RECOVERED, Call
from afterturn.condense.ports import PendingTurn, StoredCall
from afterturn.condense.turns import (
    TurnState,
    calls_of,
    ended_well,
    grouped,
    next_state,
    read_state,
    waiting_calls,
    written_loose,
    written_state,
)


def turn(sequence: int, turn_index: int, group: int, *refs: int, loose: str = '{"loose":[],"quiet":[]}') -> PendingTurn:
    return PendingTurn(
        sequence=sequence,
        batch_id=f"batch {sequence}",
        turn_index=turn_index,
        timestamp=0,
        assistant_text=None,
        user_text=None,
        group=group,
        due=True,
        loose=loose,
        calls=list(enumerate(refs)),
    )


@pytest.mark.parametrize(
    ("turns", "mode", "expected"),
    [
        ([], "turn", []),
        ([(1, 1), (2, 1), (3, 2)], "turn", [[1], [2], [3]]),
        ([(1, 1), (2, 1), (3, 2)], "agent-message", [[1, 2], [3]]),
        ([(1, 1), (2, 2), (3, 1)], "agent-message", [[1], [2], [3]]),
        ([(4, 1), (4, 1), (5, 1)], "turn", [[1, 2], [3]]),
        ([(4, 1), (4, 2)], "turn", [[1], [2]]),
    ],
)
def test_grouping(turns: list[tuple[int, int]], mode: str, expected: list[list[int]]) -> None:
    made = [turn(sequence, index, group, sequence) for sequence, (index, group) in enumerate(turns, 1)]
    assert [[each.sequence for each in batch] for batch in grouped(made, mode)] == expected


def ends(*steps: tuple[str | None, bool]) -> list[int]:
    """The group of each turn, given its request and whether it is final."""
    state, groups = TurnState(), []
    for text, final in steps:
        state = next_state(read_state(written_state(state)), user_text=text, safe_text=text, final=final, baseline=None)
        groups.append(state.group)
    return groups


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([(None, False), (None, False), (None, True), (None, False)], [0, 0, 0, 1]),
        ([("a", False), ("a", False), ("b", False)], [1, 1, 2]),
        ([("a", False), (None, False), (None, True), ("a", False)], [1, 1, 1, 2]),
        ([(None, True), (None, True)], [0, 1]),
    ],
)
def test_one_group_a_request(steps: list[tuple[str | None, bool]], expected: list[int]) -> None:
    assert ends(*steps) == expected


def test_the_request_is_carried_to_later_turns_of_it() -> None:
    first = next_state(TurnState(), user_text="secret", safe_text="***", final=False, baseline=0.5)
    later = next_state(first, user_text=None, safe_text=None, final=True, baseline=0.6)
    assert (later.text, later.baseline) == ("***", 0.6)
    assert next_state(later, user_text=None, safe_text=None, final=False, baseline=None).text is None


@pytest.mark.parametrize(
    ("reason", "expected"),
    [(None, True), ("stop", True), ("toolUse", True), ("error", False), ("aborted", False), ("Error", False)],
)
def test_endings(reason: str | None, expected: bool) -> None:
    assert ended_well(reason) is expected


def call(index: int, kind: str, name: str = "bash") -> Call:
    return Call(
        index=index,
        kind=kind,
        tool_call_id=f"c{index}",
        tool_name=name,
        args="null",
        text="",
        outcome="ok",
        result_timestamp=None,
        entry_id=f"e{index}",
        turn_index=4,
        identity=bytes([index]) * 32,
        recovered=["t1"] if kind == RECOVERED else (),
    )


def stored(ref: int, tool_call_id: str) -> StoredCall:
    return StoredCall(
        session_id="s",
        ref=ref,
        identity=bytes([ref]) * 32,
        tool_call_id=tool_call_id,
        tool_name="bash",
        args="null",
        text="text",
        is_error=False,
        status=None,
        turn_index=4,
        result_timestamp=None,
        entry_id=None,
        images=None,
        lossy=False,
        replacement=None,
        first_ref=ref,
    )


def test_calls_of_a_turn_come_back_in_order() -> None:
    loose = written_loose([call(0, OPEN), call(1, RECOVERED), call(2, INCOMPLETE), call(3, OPEN)], [])
    pending = turn(1, 4, 1, loose=loose)
    pending = PendingTurn(**{**{f: getattr(pending, f) for f in pending.__struct_fields__}, "calls": [(0, 7), (3, 8)]})
    calls = calls_of([pending], [stored(7, "c0"), stored(8, "c3")], lambda _: OPEN)
    assert [(each.index, each.kind, each.tool_call_id) for each in calls] == [
        (0, OPEN, "c0"),
        (1, RECOVERED, "c1"),
        (2, INCOMPLETE, "c2"),
        (3, OPEN, "c3"),
    ]
    assert calls[1] == call(1, RECOVERED)


def test_a_call_that_finished_later_is_there_once() -> None:
    first = turn(1, 4, 1, 7, loose=written_loose([call(1, INCOMPLETE)], []))
    second = PendingTurn(
        **{**{f: getattr(first, f) for f in first.__struct_fields__}, "sequence": 2, "calls": [(1, 8)]}
    )
    second = PendingTurn(
        **{**{f: getattr(second, f) for f in second.__struct_fields__}, "loose": '{"loose":[],"quiet":[]}'}
    )
    calls = calls_of([first, second], [stored(7, "c0"), stored(8, "c1")], lambda _: OPEN)
    assert [(each.index, each.tool_call_id, each.kind) for each in calls] == [(0, "c0", OPEN), (1, "c1", OPEN)]


def test_protected_calls_do_not_wait() -> None:
    assert waiting_calls([turn(1, 1, 1, 5, 6, loose=json.dumps({"loose": [], "quiet": [1]})), turn(2, 2, 1, 7)]) == 2
