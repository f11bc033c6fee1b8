"""What is the same call, the same output, the same batch (condense.md, 'Order of work', 1 and 5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.condense.calls import read_batch
from afterturn.condense.identity import canonical_json, digest, json_text, normalized
from afterturn_protocol.condense import Batch, ToolCall
from afterturn_protocol.settings import CondenseSettings


def keys(*calls: dict[str, object]) -> list[tuple[bytes, bytes]]:
    made = [ToolCall(**{"tool_call_id": "c", "tool_name": "bash", "result_text": "out", **call}) for call in calls]
    batch = Batch(turn_index=1, timestamp=5, tool_calls=made)
    return [(new.identity, new.dedup) for new in read_batch(batch, CondenseSettings(), None).new]


IMAGE = {"type": "image", "mimeType": "image/png", "data": "AA=="}


def check(one: dict[str, object], other: dict[str, object], same_call: bool, same_output: bool) -> None:
    """The two calls in two batches."""
    (first,), (second,) = keys(one), keys(other)
    assert (first[0] == second[0]) is same_call
    assert (first[1] == second[1]) is same_output


@pytest.mark.parametrize(
    ("one", "other", "same_call", "same_output"),
    [
        ({}, {}, True, True),
        ({"result_timestamp": 7}, {"result_timestamp": 7}, True, True),
        ({"result_timestamp": 7}, {"result_timestamp": 8}, False, True),
        ({"result_timestamp": 7}, {}, False, True),
        ({"result_timestamp": 7}, {"result_timestamp": 7, "result_text": "other"}, False, False),
        ({"result_timestamp": 7, "args": {"a": 1}}, {"result_timestamp": 7, "args": {"a": 2}}, True, False),
        ({"args": {"a": 1}}, {"args": {"a": 2}}, False, False),
        ({"args": {"a": 1, "b": 2}}, {"args": {"b": 2, "a": 1}}, True, True),
        ({"args": None}, {}, True, True),
        ({"tool_call_id": "d"}, {}, False, True),
        ({"tool_name": "sh"}, {}, False, False),
        ({"entry_id": "e"}, {}, True, True),
        ({"is_error": True}, {}, True, False),
        ({"is_error": True}, {"status": "error"}, True, True),
        ({"is_error": True, "status": "ok"}, {}, True, True),
        ({"status": "denied"}, {"status": "error"}, True, False),
        ({"result_text": "out\r\n"}, {}, False, True),
        ({"result_text": "\n\na  \nb\t\n"}, {"result_text": "a\nb"}, False, True),
        ({"result_text": "a b"}, {"result_text": "a  b"}, False, False),
        ({"content": [{"type": "text", "text": "out"}]}, {}, True, True),
        ({"content": [{"type": "text", "text": "out"}, IMAGE]}, {}, False, False),
        ({"content": [{"type": "x"}]}, {"content": [{"type": "y"}]}, False, False),
        ({"content": [{"type": "x"}]}, {"result_text": '{"type":"x"}'}, False, False),
    ],
)
def test_same_call_and_same_output(
    one: dict[str, object], other: dict[str, object], same_call: bool, same_output: bool
) -> None:
    check(one, other, same_call, same_output)


def test_equal_calls_without_time_in_one_batch_are_told_apart_by_occurrence() -> None:
    first, second = keys({}, {})
    assert first[0] != second[0]
    assert first[1] == second[1]
    assert keys({}, {}) == [first, second]


def test_the_same_timed_call_twice_in_a_batch_is_one_call() -> None:
    first, second = keys({"result_timestamp": 3}, {"result_timestamp": 3})
    assert first == second


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb", "a\nb"),
        ("a \t\nb", "a\nb"),
        ("\n a\n\n", "a"),
        ("a\nb", "a\nb"),
        ("", ""),
        (" \n\t", ""),
    ],
)
def test_normalized(text: str, expected: str) -> None:
    assert normalized(text) == expected


@given(st.text(alphabet="ab \t\r\n\ud83d", max_size=40))
def test_normalizing_twice_changes_nothing(text: str) -> None:
    assert normalized(normalized(text)) == normalized(text)


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_parts_do_not_run_into_each_other(one: list[bytes], other: list[bytes]) -> None:
    assert (digest(*one) == digest(*other)) is (one == other)


def test_json_keeps_lone_surrogates_and_key_order() -> None:
    assert json_text({"b": "\ud83d", "a": 1}) == '{"b":"\\ud83d","a":1}'
    assert canonical_json({"b": 1, "a": {"d": 1, "c": 2}}) == '{"a":{"c":2,"d":1},"b":1}'
