"""Ids, tags, error signatures, texts of vectors, merging (capture.md, 'Steps', 'Vectors', 'Durability')."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from afterturn.capture.ids import content_key, trace_id
from afterturn.capture.judging import is_scored, is_settled, nothing, unscored
from afterturn.capture.merging import better, difference, merged
from afterturn.capture.rows import TraceRow
from afterturn.capture.scoring import Draft
from afterturn.capture.signatures import signatures_of, telltales
from afterturn.capture.tags import tags_of
from afterturn.capture.traces import row_of
from afterturn.capture.vectors import needs_vectors, texts_of
from afterturn_protocol.traces import Reflection, ToolCallDTO, TraceVectors
from tests.capture.harness import episode
from tests.capture.test_normalising import step


def test_an_id_is_of_session_episode_turn_kind_and_occurrence() -> None:
    base = trace_id("s", "e", step())
    assert base == trace_id("s", "e", step("other", "text", ts=99))
    assert base.startswith("tr_")
    assert len(base) == 29
    others = [
        trace_id("s2", "e", step()),
        trace_id("s", "e2", step()),
        trace_id("se", "", step()),
        trace_id("s", "e", step(turn_id="#1")),
        trace_id("s", "e", step(kind="tool")),
        trace_id("s", "e", step(occurrence=1)),
    ]
    assert len({base, *others}) == 7


def test_content_is_what_the_step_holds_and_nothing_else() -> None:
    call = ToolCallDTO(name="n", input={"a": 1, "b": 2}, output="x")
    base = content_key("q", "a", None, [call])
    same = replace(call, input={"b": 2, "a": 1}, tool_call_id="9", started_at=1)
    assert content_key("q", "a", None, [same]) == base
    others = [
        content_key("q2", "a", None, [call]),
        content_key("qa", "", None, [call]),
        content_key("q", "a", "t", [call]),
        content_key("q", "a", None, []),
        content_key("q", "a", None, [replace(call, output="y")]),
        content_key("q", "a", None, [replace(call, error_code="E")]),
    ]
    assert len({base, *others}) == 7


@pytest.mark.parametrize(
    ("name", "code", "text", "expected"),
    [
        ("bash", None, "", ["bash"]),
        ("mcp__github__list_issues", None, "", ["list", "github"]),
        ("functions.read_file", None, "", ["read"]),
        ("ReadFile", None, "", ["read"]),
        ("x", "ERR_DNS_FAILURE", "", ["dns", "failure"]),
        ("bash", None, "ran pytest in src/app.py", ["bash", "python", "test"]),
        ("bash", None, "select all of it", ["bash"]),
        ("bash", None, "SELECT 1", ["bash", "sql"]),
        ("工具", None, "", []),
    ],
)
def test_tags(name: str, code: str | None, text: str, expected: list[str]) -> None:
    assert tags_of([ToolCallDTO(name=name, error_code=code)], [text]) == expected


@given(st.lists(st.text(max_size=40), max_size=12), st.text(max_size=200))
def test_tags_keep_their_form(names: list[str], text: str) -> None:
    tags = tags_of([ToolCallDTO(name=name, error_code=name) for name in names], [text])
    assert len(tags) == len(set(tags)) <= 8
    assert all(3 <= len(tag) <= 32 and tag.isascii() and tag == tag.lower() and tag[0].isalnum() for tag in tags)


@pytest.mark.parametrize(
    ("code", "output", "text", "expected"),
    [
        (None, "ValueError: bad value for x\n", "", ["ValueError: bad value for x"]),
        (None, "ls: cannot access /x: No such file or directory", "", ["cannot access /x: No such file or directory"]),
        (None, "error: linker failed here", "", ["error: linker failed here"]),
        (None, "exit code 2\nexit code 0", "", ["exit code 2"]),
        (None, "503 Service Unavailable", "", ["503 Service Unavailable"]),
        (None, "all fine", "the token must be refreshed", []),
        (None, "all fine", "KeyError: 'name' was what I saw", []),
        ("E_FAIL_HARD", "", "KeyError: 'name' was it", ["KeyError: 'name' was it", "E_FAIL_HARD"]),
        (None, "ValueError: bad value\nvalueerror: BAD value\nValueError: bad value", "", ["ValueError: bad value"]),
    ],
)
def test_signatures(code: str | None, output: str, text: str, expected: list[str]) -> None:
    found = signatures_of([ToolCallDTO(name="n", error_code=code, output=output)], text)
    assert [each.removeprefix("ls: ") for each in found] == expected


@given(st.text(max_size=500))
def test_signatures_keep_their_form(text: str) -> None:
    output = f"ValueError: {text}\nerror: {text}\nFooError: {text}x\n{text}: command not found\nexit code 3"
    found = signatures_of([ToolCallDTO(name="n", output=output, error_code=text)], text)
    assert len(found) == len({each.lower() for each in found}) <= 4
    assert all(6 <= len(each) <= 160 for each in found)


PIECES = (
    "Error: |error|ERROR: |ERRO|fatal|FATAL: |panic: |Exception: |Warning: |[E1|[|]: |]|: |exit code 1|Exit status 2|"
    "500 |Internal Server Error|404 |Not Found|Bad |Gateway|Conflict|cat: /x: |not found|undefined reference|"
    "No such file or directory|Permission denied|Connection refused|f|x|R|E|word |\n|é|\ud83d|\x01"
).split("|")


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=4))
@example(["error[ERRO]: a word"])
def test_looking_through_all_texts_at_once_loses_no_signature(outputs: list[str]) -> None:
    among = telltales(outputs)
    for output in outputs:
        calls = [ToolCallDTO(name="n", output=output)]
        assert signatures_of(calls, "", among) == signatures_of(calls, "")


def row(reflection: Reflection, content: bytes = b"c", vectors: bool = False, **trace: Any) -> TraceRow:
    draft = Draft(0, step("q", "a", ToolCallDTO(name="n", input={"p": 1})), step(), "tr_1", content, reflection)
    made = row_of(draft, episode(), "p")
    if vectors:
        made = replace(made, summary_vector=b"1234", action_vector=b"5678")
        trace["vectors"] = TraceVectors(summary=True, action=True, model="m", dimension=1)
    return replace(made, trace=replace(made.trace, **trace))


def test_texts_of_vectors() -> None:
    made = row(nothing()).trace
    assert texts_of(made) == ("q", 'a\n\nn({"p":1})')
    assert texts_of(replace(made, user_text=" ", agent_text="", tool_calls=[])) == (None, None)
    assert needs_vectors(made)
    assert not needs_vectors(row(nothing(), vectors=True).trace)
    assert not needs_vectors(replace(made, user_text="", agent_text="", tool_calls=[]))


def scored(text: str = "r", source: str = "adapter", alpha: float = 0.9) -> Reflection:
    return Reflection(
        text=text, alpha=alpha, usable=True, source=source, model="m", prompt_version="reflection-score-1"
    )


SYNTH = unscored("w", "synth", model="m", version="reflection-synth-1")
ASKED = nothing("no_reflection", model="m", version="reflection-synth-1")


@pytest.mark.parametrize(
    ("old", "new", "stays"),
    [
        (scored(), unscored("r", "adapter"), "old"),
        (scored(), nothing(), "old"),
        (unscored("r", "adapter"), nothing(), "old"),
        (unscored("r", "adapter"), scored("w", "synth"), "old"),
        (nothing(), scored(), "new"),
        (nothing(), unscored("r", "extracted"), "new"),
        (unscored("r", "adapter"), scored(), "new"),
        (scored("w", "synth"), unscored("r", "adapter"), "new"),
        (scored("one"), unscored("two", "adapter"), "new"),
        (scored(alpha=0.9), scored(alpha=0.2), "new"),
        (SYNTH, nothing(), "old"),
        (ASKED, nothing(), "old"),
    ],
)
def test_a_second_capture_never_makes_a_trace_worse(old: Reflection, new: Reflection, stays: str) -> None:
    """Cases 34 to 36."""
    assert better(old, new) is (old if stays == "old" else new)
    kept = merged(row(old, value=2.0, priority=3.0, r_human=1.0, superseded=True), row(new))
    assert kept.trace.reflection is (old if stays == "old" else new)
    assert (kept.trace.value, kept.trace.priority, kept.trace.r_human) == (2.0, 3.0, 1.0)
    assert not kept.trace.superseded


def test_other_content_is_another_trace_but_for_what_people_said_of_it() -> None:
    kept = merged(row(scored(), vectors=True, r_human=1.0), row(nothing(), content=b"d"))
    assert (kept.trace.reflection, kept.summary_vector, kept.trace.r_human) == (nothing(), None, 1.0)


def test_vectors_stay_where_no_new_ones_come() -> None:
    kept = merged(row(nothing(), vectors=True), row(nothing()))
    assert (kept.summary_vector, kept.action_vector) == (b"1234", b"5678")
    assert kept.trace.vectors.model == "m"
    newer = merged(row(nothing()), row(nothing(), vectors=True))
    assert newer.trace.vectors.summary


REFLECTIONS = st.sampled_from([scored(), scored("w", "synth"), unscored("r", "extracted"), SYNTH, ASKED, nothing()])


@given(REFLECTIONS, REFLECTIONS)
def test_merging_again_changes_nothing_and_nothing_is_lost(old: Reflection, new: Reflection) -> None:
    kept = better(old, new)
    assert better(kept, new) in (kept, new)
    assert kept.text is not None or (old.text is None and new.text is None)
    if is_scored(old) and new.text in (old.text, None):
        assert is_scored(kept)


def test_difference_of_a_revision() -> None:
    known = {
        "same": row(nothing(), b"1"),
        "changed": row(nothing(), b"2"),
        "gone": row(nothing(), b"3"),
        "gone before": row(nothing(), b"4", superseded=True),
        "back": row(nothing(), b"5", superseded=True),
    }
    steps = [("same", b"1"), ("changed", b"x"), ("new", b"y"), ("back", b"5")]
    found = difference(steps, known)
    assert list(found.fates) == ["same", "new", "new", "same"]
    assert list(found.superseded) == ["gone"]


@pytest.mark.parametrize(
    ("reflection", "write", "weigh", "expected"),
    [
        (nothing(), False, True, True),
        (nothing(), True, True, False),
        (ASKED, True, True, True),
        (unscored("r", "adapter"), True, False, True),
        (unscored("r", "adapter"), False, True, False),
        (SYNTH, True, True, False),
        (scored(), True, True, True),
    ],
)
def test_what_is_settled(reflection: Reflection, write: bool, weigh: bool, expected: bool) -> None:
    assert is_settled(reflection, write=write, score=weigh) is expected
