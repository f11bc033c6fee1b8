"""What is read beside the event loop, and what at once."""

from typing import Any

import pytest

from afterturn.condense.arriving import size_of
from afterturn.condense.needs import HEAVY_TO_READ_CHARS
from afterturn_protocol.condense import Batch, ToolCall

LARGE = HEAVY_TO_READ_CHARS


@pytest.mark.parametrize(
    ("args", "least", "most"),
    [
        (None, 0, 32),
        ("x" * 100, 100, 132),
        ({"command": "x" * 100}, 107, 160),
        ({"a": {"b": {"c": ["x" * LARGE]}}}, LARGE, LARGE + 200),
        ([{"k": 1}] * LARGE, LARGE, LARGE + 200),
        ({str(number): [] for number in range(LARGE)}, LARGE, 7 * LARGE),
        ([[[[[["x" * 50]]]]]], 50, 200),
    ],
)
def test_args_count_however_deep_their_text_is(args: Any, least: int, most: int) -> None:
    call = ToolCall(tool_call_id="c", tool_name="t", args=args, result_text="")
    assert least <= size_of(Batch(turn_index=0, timestamp=0, tool_calls=[call])) <= most


def test_text_and_blocks_count() -> None:
    text = ToolCall(tool_call_id="c", tool_name="t", result_text="x" * 50)
    blocks = ToolCall(tool_call_id="c", tool_name="t", content=[{"type": "text", "text": "x" * 500}], result_text="y")
    assert 50 <= size_of(Batch(turn_index=0, timestamp=0, tool_calls=[text])) < 100
    assert 500 <= size_of(Batch(turn_index=0, timestamp=0, tool_calls=[blocks])) < 600
