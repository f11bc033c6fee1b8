"""Content is a string or blocks; helpers read both."""

from typing import Any

import pytest
from msgspec import ValidationError

from afterturn_protocol.blocks import check_block, content_text, image_blocks, result_text
from afterturn_protocol.condense import ToolCall

IMAGE = {"type": "image", "mimeType": "image/png", "bytes": 8, "x": 1}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ("one\ntwo", "one\ntwo"),
        ([], ""),
        ([{"type": "text", "text": "a"}], "a"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "text", "text": "a\n"}, {"type": "text", "text": ""}, {"type": "text", "text": "b"}], "a\n\n\nb"),
        ([{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "thinking", "text": "hm"}, {"type": "x-audio", "text": "la"}], ""),
        ([{"type": "text"}, {"type": "text", "text": 5}, {"text": "no type"}], "\n"),
        ([{"type": "text", "text": "\ud83d"}, {"type": "text", "text": "漢字"}], "\ud83d\n漢字"),
    ],
)
def test_text(content: Any, text: str) -> None:
    assert content_text(content) == text


TEXT = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([], ""),
        ([TEXT, IMAGE, {"type": "text", "text": "b\n"}], "a\nb\n"),
        ([TEXT, {"type": "x", "inner": {"text": "b\nc"}}], 'a\n{"type":"x","inner":{"text":"b\\nc"}}'),
        ([{"type": "x", "n": 1}, TEXT, {"type": "Text"}], 'a\n{"type":"x","n":1}\n{"type":"Text"}'),
        ([{"type": "x", "s": "漢\ud83d"}], '{"type":"x","s":"漢\ud83d"}'),
    ],
)
def test_the_text_of_a_result_tells_blocks_of_other_types(content: Any, text: str) -> None:
    assert result_text(content) == text


@pytest.mark.parametrize("name", ["odd \ud83d name", "text", "bytes", "data"])
def test_fields_that_are_not_of_a_type_are_not_looked_at(name: str) -> None:
    check_block({name: ["\ud83d"], "type": "x"})
    check_block({"odd \ud83d name": 1, **IMAGE})


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"bytes": "\ud83d"}, "Expected `int | null`, got `str` - at `$.bytes`"),
        ({"bytes": "\ude00", "data": "\ud83d"}, "Expected `int | null`, got `str` - at `$.bytes`"),
        ({"bytes": ["\ud83d"]}, "Expected `int | null`, got `array` - at `$.bytes`"),
        ({"mimeType": 5, "data": "\ud83d"}, "Expected `str`, got `int` - at `$.mimeType`"),
        ({"data": "\ud83d"}, None),
    ],
)
def test_half_a_character_hides_no_misfit(fields: dict[str, Any], problem: str | None) -> None:
    if problem is None:
        check_block({**IMAGE, **fields})
        return
    with pytest.raises(ValidationError) as raised:
        check_block({**IMAGE, **fields})
    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("content", "images"),
    [(None, []), ("image", []), ([], []), ([{"type": "text", "text": "a"}, IMAGE, {"mimeType": "image/png"}], [IMAGE])],
)
def test_images(content: Any, images: list[Any]) -> None:
    assert image_blocks(content) == images


@pytest.mark.parametrize(
    ("fields", "has_result", "outcome", "failed"),
    [
        ({}, False, "ok", False),
        ({"result_text": ""}, True, "ok", False),
        ({"content": []}, True, "ok", False),
        ({"result_text": "x", "is_error": True}, True, "error", True),
        ({"result_text": "x", "is_error": False}, True, "ok", False),
        ({"result_text": "x", "is_error": True, "status": "ok"}, True, "ok", False),
        ({"result_text": "x", "is_error": False, "status": "error"}, True, "error", True),
        ({"result_text": "x", "is_error": True, "status": "denied"}, True, "denied", False),
        ({"status": "notRun"}, False, "notRun", False),
        ({"result_text": "x", "status": "x-timeout"}, True, "x-timeout", False),
    ],
)
def test_what_became_of_a_call(fields: dict[str, Any], has_result: bool, outcome: str, failed: bool) -> None:
    call = ToolCall(tool_call_id="c", tool_name="bash", **fields)
    assert (call.has_result, call.outcome, call.failed) == (has_result, outcome, failed)
