"""JSON out of replies, whatever stands around it (capture.md, 'Replies are parsed tolerantly')."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.loose_json import MAX_DEPTH, loose_values
from afterturn.replies import MAX_JSON_CHARS, json_object, json_values, number, truth, whole_number


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"alpha": 0.5}', [{"alpha": 0.5}]),
        (' \n[1, 2]\n', [[1, 2]]),
        ("[]", [[]]),
        ("{}", [{}]),
        ("7", []),
        ('"text"', []),
        ("", []),
        ("no JSON at all", []),
        ('Here it is: {"a": 1}. Hope that helps!', [{"a": 1}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('Sure:\n```json\n{"a": 1}\n```\nDone.', [{"a": 1}]),
        ('~~~\n[1]\n~~~', [[1]]),
        ('<think>\n{"a": 0}\n</think>\n{"a": 1}', [{"a": 1}]),
        ('{"a": 0}</think>\n{"a": 1}', [{"a": 1}]),
        ('<think>{"a": 1}', []),
        ('{"a": 1,}', [{"a": 1}]),
        ("[1, 2, ]", [[1, 2]]),
        ("[{\"a\": [1,],},]", [[{"a": [1]}]]),
        ("{'a': 'it\\'s'}", [{"a": "it's"}]),
        ("{a: 1, b_2: [true, False, None, null]}", [{"a": 1, "b_2": [True, False, None, None]}]),
        ('{"a": .5, "b": +1, "c": 2., "d": -3e2}', [{"a": 0.5, "b": 1, "c": 2.0, "d": -300.0}]),
        ('{"a": "line one\nline two",}', [{"a": "line one\nline two"}]),
        ('{"a": "\\ud83d\\ude00 \\u00e9 \\n \\q",}', [{"a": "\U0001f600 \u00e9 \n q"}]),
        ('{"a": "x"} {"b": 2,}', [{"a": "x"}, {"b": 2}]),
        ('use {braces} and [1: x], then {"a": {"b": []}}', [{"a": {"b": []}}]),
        ('{"a": {"b": 1}', [{"b": 1}]),
        ('{"a": 1', []),
        ('{"a" 1}', []),
        ('{"a": }', []),
        ('{"a"}', []),
        ("[1 2]", []),
        ("[,]", []),
        ("{]", []),
        ('{"a": wrong}', []),
        ("[1.2.3]", []),
        (f"[{'9' * 65},]", []),
        ('[-Infinity, Infinity]', [[-math.inf, math.inf]]),
    ],
)  # fmt: skip
def test_values(reply: str, expected: list[Any]) -> None:
    assert json_values(reply) == expected


def test_nan_is_a_number() -> None:
    (found,) = json_values('{"alpha": NaN}')
    assert math.isnan(found["alpha"])


def test_a_lone_surrogate_survives() -> None:
    assert json_values('{"a": "\\ud83d"}') == [{"a": "\ud83d"}]
    assert json_values('{"a": "\ud83d"}') == [{"a": "\ud83d"}]


@pytest.mark.parametrize(
    ("reply", "fields", "expected"),
    [
        ('{"alpha": 0.1} no: {"alpha": 0.9, "usable": true}', ["alpha"], {"alpha": 0.9, "usable": True}),
        ('{"alpha": 0.9} as in {"other": 1}', ["alpha"], {"alpha": 0.9}),
        ('[1] {"a": 1} [2]', [], {"a": 1}),
        ('{"a": 1}', ["a", "b"], None),
        ("[1]", [], None),
        ("", [], None),
    ],
)
def test_objects(reply: str, fields: list[str], expected: dict[str, Any] | None) -> None:
    assert json_object(reply, *fields) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        (0.5, 0.5),
        ("0.7", 0.7),
        (" .5 ", 0.5),
        ("1e3", 1000.0),
        ("-inf", -math.inf),
        (True, None),
        (None, None),
        ("", None),
        ("70%", None),
        ("1_0", None),
        ("\u0661", None),
        ([1], None),
        (10**400, None),
        ("9" * 65, None),
    ],
)
def test_numbers(value: Any, expected: float | None) -> None:
    assert number(value) == expected


def test_a_number_that_is_none_passes() -> None:
    for value in ("nan", "NaN", math.nan):
        found = number(value)
        assert found is not None
        assert math.isnan(found)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3), (3.0, 3), ("3", 3), ("3.0", 3), (3.5, None), ("x", None), (math.inf, None), (math.nan, None),
     (True, None), (2.0**60, None)],
)  # fmt: skip
def test_whole_numbers(value: Any, expected: int | None) -> None:
    assert whole_number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, True), (False, False), ("true", True), (" No ", False), ("maybe", None), (1, None), (None, None)],
)
def test_truths(value: Any, expected: bool | None) -> None:
    assert truth(value) == expected


leaves = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | st.text(max_size=20)
documents = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
).filter(lambda value: isinstance(value, dict | list))  # fmt: skip
prose = st.text(st.characters(blacklist_characters="{}[]<`~", blacklist_categories=["Cs"]), max_size=40)


@given(documents, prose, prose, st.booleans())
def test_any_document_is_found_in_any_prose(document: Any, before: str, after: str, escaped: bool) -> None:
    reply = f"{before}\n{json.dumps(document, ensure_ascii=escaped)}\n{after}"
    assert json_values(reply) == [document]


@given(documents, st.booleans())
def test_the_loose_reader_reads_plain_json_as_it_is(document: Any, escaped: bool) -> None:
    assert loose_values(json.dumps(document, ensure_ascii=escaped)) == [document]


@given(st.text(st.sampled_from(list("{}[]:,\"'\\ntaN1.e-+ \n<think>/`")), max_size=200))
def test_anything_can_be_read(reply: str) -> None:
    assert all(isinstance(value, dict | list) for value in json_values(reply))


HOSTILE = [
    "{",
    "[{",
    '{"a":',
    '"',
    "{'",
    "\\",
    '{"\\',
    "[1,",
    "[[[[1]",
    "{ ",
    "<think>",
    "```\n",
    "//",
    "-",
    "1e",
    "{a",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_work_is_bounded(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: how much text the tokens that were read cover, for a reply of the largest size."""
    import afterturn.loose_json as module

    read = 0
    pattern = module._TOKEN

    class Counting:
        def match(self, text: str, at: int) -> Any:
            nonlocal read
            found = pattern.match(text, at)
            read += len(found[0]) if found else 0
            return found

    monkeypatch.setattr(module, "_TOKEN", Counting())
    json_values(unit * (2 * MAX_JSON_CHARS // len(unit)))
    assert read <= 2 * MAX_JSON_CHARS + 16_384 + MAX_DEPTH


def test_nothing_is_deeper_than_it_may_be() -> None:
    assert loose_values("[" * MAX_DEPTH + "]" * MAX_DEPTH) != []
    deeper = loose_values("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert len(deeper) == 1
    json_values("[" * 50_000)
