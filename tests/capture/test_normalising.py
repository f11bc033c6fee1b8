"""Cutting and cleaning (capture.md, 'Normalise'; prior-art/capture.md, section 5, cases 13 to 18)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.capture.normalising import MARKER, capped, normalised
from afterturn.capture.notes import Notes
from afterturn.capture.steps import Step
from afterturn_protocol.settings import CaptureSettings
from afterturn_protocol.traces import ToolCallDTO


def step(user_text: str = "", agent_text: str = "", *calls: ToolCallDTO, **more: Any) -> Step:
    fields = {
        "turn_id": "#0",
        "kind": "step",
        "occurrence": 0,
        "ts": 0,
        "thinking": None,
        "given": None,
        "depth": 0,
        "is_subagent": False,
    }
    return Step(user_text=user_text, agent_text=agent_text, calls=calls, **(fields | more))


def cut(*steps: Step, **settings: Any) -> tuple[list[Step], dict[str, int]]:
    notes = Notes()
    pairs = normalised(steps, CaptureSettings(**settings), notes)
    return [short for short, _ in pairs], {str(each.code): each.detail["count"] for each in notes.warnings()}


@pytest.mark.parametrize("limit", [200, 1000, 4000])
def test_head_and_tail_around_a_marker(limit: int) -> None:
    """Case 13: 55 % of the room for the head, 45 % for the tail, and never more than the cap."""
    text = "h" * limit + "t" * limit
    short = capped(text, limit)
    room = limit - len(MARKER)
    assert len(short) == limit
    assert short == "h" * (room * 55 // 100) + MARKER + "t" * (room - room * 55 // 100)


@given(st.text(), st.integers(0, 80))
def test_never_over_the_cap_and_cutting_again_changes_nothing(text: str, limit: int) -> None:
    short = capped(text, limit)
    assert len(short) <= limit
    assert capped(short, limit) == short
    assert len(text) > limit or short == text


def test_code_points_stay_whole() -> None:
    """Case 15."""
    assert set(capped("\U0001f600" * 100, 60).replace(MARKER, "")) == {"\U0001f600"}


def test_every_text_has_a_cap() -> None:
    """Cases 13 and 14."""
    long = "x" * 500
    call = ToolCallDTO(
        name="n", input={"p": "a/b", "t": long}, output=long, thinking_before=long, assistant_text_before=long
    )
    [short], _ = cut(step(long, long, call, thinking=long), max_text_chars=100, max_tool_output_chars=60)
    cut_call = short.calls[0]
    texts = [short.user_text, short.agent_text, short.thinking]
    texts += [cut_call.thinking_before, cut_call.assistant_text_before]
    assert [len(text or "") for text in texts] == [100] * 5
    assert len(cut_call.output) == 60
    assert cut_call.input["p"] == "a/b"
    assert len(cut_call.input["t"]) <= 100
    assert short.truncated


def test_a_reflection_from_the_host_is_never_cut() -> None:
    [short], _ = cut(step("q", "a", given="r" * 9000), max_text_chars=100)
    assert short.given == "r" * 9000
    assert not short.truncated


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ("", ""),
        ({"b": [1, None, "ü"]}, '{"b":[1,null,"ü"]}'),
        ([], "[]"),
        (True, "true"),
        ("x\ud83d", "x\ud83d"),
    ],
)
def test_an_output_becomes_text(given: Any, expected: str | None) -> None:
    """Case 18."""
    [short], _ = cut(step("q", "a", ToolCallDTO(name="n", output=given)))
    assert short.calls[0].output == expected


def test_an_input_of_many_small_parts_is_cut_as_text() -> None:
    [short], _ = cut(step("q", "a", ToolCallDTO(name="n", input=list(range(1000)))), max_text_chars=100)
    assert isinstance(short.calls[0].input, str)
    assert len(short.calls[0].input) == 100


CALL = ToolCallDTO(name="bash", input={"c": "ls"}, output="x")


@pytest.mark.parametrize(
    ("steps", "kept", "warns"),
    [
        ([step(), step(" \n")], 0, {"empty_step": 2}),
        ([step("q"), step("", "a"), step("", "", CALL), step(given="r"), step(thinking="t")], 5, {}),
        ([step("q", "a"), step("q", "a")], 1, {"repeated_step": 1}),
        ([step("q", "a"), step("r", "b"), step("q", "a")], 3, {}),
        ([step("q", "a", CALL), step("q", "a", CALL)], 1, {"repeated_step": 1}),
        ([step("q", "a", CALL), step("q", "a")], 2, {}),
        ([step("q", "a", CALL), step("q", "a", ToolCallDTO(name="bash", input={"c": "ls"}, output="y"))], 2, {}),
        ([step("q", "a", CALL), step("q", "a", ToolCallDTO(name="bash", input={"c": "pwd"}, output="x"))], 2, {}),
        ([step("q", "a", CALL), step("q", "a", ToolCallDTO(name="sh", input={"c": "ls"}, output="x"))], 2, {}),
        (
            [step("q", "a", ToolCallDTO(name="n", input=1)), step("q", "a", ToolCallDTO(name="n", input=True))],
            2,
            {},
        ),
        ([step("x" * 200), step("x" * 201)], 2, {}),
    ],
)
def test_empty_and_repeated_steps(steps: list[Step], kept: int, warns: dict[str, int]) -> None:
    """Cases 16 and 17."""
    left, warnings = cut(*steps, max_text_chars=100)
    assert (len(left), warnings) == (kept, warns)


def test_a_reflection_outlives_the_repeated_step_it_came_with() -> None:
    [left], _ = cut(step("q", "a"), step("q", "a", given="r"))
    assert left.given == "r"
