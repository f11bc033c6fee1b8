"""Verdicts, written reflections, the plan of calls (seed core-capture, sections 5 to 6b; prior art, cases 19 to 33)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.capture.alpha import Score, UnreadableReplyError, read_score
from afterturn.capture.batching import Entry, read_batch, reply_tokens, step_lines
from afterturn.capture.downstream import previews, wants_downstream
from afterturn.capture.grounds import Grounds
from afterturn.capture.judging import nothing, unscored
from afterturn.capture.material import prompt_json, task_context
from afterturn.capture.plan import made_plan
from afterturn.capture.synthesis import is_nothing, is_refusal, read_reflection, written
from afterturn.prompts import reflection_batch
from afterturn_protocol.capture import Intent
from afterturn_protocol.settings import CaptureSettings
from afterturn_protocol.traces import ToolCallDTO
from tests.capture.harness import batch, entry, score
from tests.capture.test_normalising import step


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (score(0.7), (0.7, True)),
        ("```json\n" + score(0.7) + "\n```", (0.7, True)),
        ("<think>\n{maybe}\n</think>\n" + score(0.7), (0.7, True)),
        ("Sure: " + score(0.7) + " Hope this helps!", (0.7, True)),
        ('{"alpha": 0.7, "usable": true, "reason": "r",}', (0.7, True)),
        (score("0.7"), (0.7, True)),
        (score(1.7), (1.0, True)),
        (score(-0.5), (0.0, True)),
        ('{"alpha": NaN, "usable": true}', (0.0, True)),
        ('{"alpha": Infinity, "usable": true}', (0.0, True)),
        (score(0.7, usable=False), (0.0, False)),
        (score(0.7, usable="true"), (0.7, True)),
        (score(0.7, usable="No"), (0.0, False)),
        (score(0.7, usable="perhaps"), None),
        (score(0.2), (0.2, True)),  # what is usable is the model's to say (case 25)
        ('{"alpha": 1, "usable": true, "reason": null}', (1.0, True)),
        ("", None),
        ("I would say 0.7.", None),
        ('{"alpha": number, "usable": bool, "reason": string}', None),
        ('{"usable": true}', None),
        (score("high"), None),
        (score(True), None),
        (score(0.7, usable=None), None),
        (score(0.7, usable=1), None),
        (score(0.7, reason=5), None),
        ("[0.7, true]", None),
        (score(0.7)[:20], None),
    ],
)
def test_a_verdict(reply: str, expected: tuple[float, bool] | None) -> None:
    """Cases 24, 25, 28 and M06."""
    if expected is None:
        with pytest.raises(UnreadableReplyError):
            read_score(reply)
    else:
        found = read_score(reply)
        assert (found.alpha, found.usable) == expected


@given(st.one_of(st.floats(), st.integers()), st.booleans())
def test_alpha_is_always_within_bounds(alpha: float, usable: bool) -> None:
    try:
        found = read_score(json.dumps({"alpha": alpha, "usable": usable}))
    except UnreadableReplyError:
        assert isinstance(alpha, int)  # beyond what a float can hold
        return
    assert 0 <= found.alpha <= 1
    assert usable or found.alpha == 0


TWO = [Entry("", Score(0.1, True, "clear")), Entry("", Score(0.2, True, "clear"))]


@pytest.mark.parametrize(
    ("reply", "accepted"),
    [
        (batch(entry(0, 0.1), entry(1, 0.2)), True),
        (batch(entry(1, 0.2), entry(0, 0.1)), True),
        (batch(entry("0", "0.1"), entry(1.0, 0.2)), True),
        ("```\n" + batch(entry(0, 0.1), entry(1, 0.2)) + "\n```", True),
        ("<think>hm</think>" + batch(entry(0, 0.1), entry(1, 0.2)), True),
        (batch(entry(0, 0.1, text=None), entry(1, 0.2, text=None)), True),
        (batch(entry(0)), False),
        (batch(entry(0), entry(1), entry(2)), False),
        (batch(entry(0), entry(0)), False),
        (batch(entry(0), entry(2)), False),
        (batch(entry(1), entry(2)), False),
        (batch(entry(0), entry(-1)), False),
        (batch(entry(0), entry(0.5)), False),
        (batch(entry(0), entry(None)), False),
        (batch(entry(0), entry(True)), False),
        (batch(entry(0), entry(1, "high")), False),
        (batch(entry(0), entry(1, usable="true")), False),
        (batch(entry(0), entry(1, usable=None)), False),
        (batch(entry(0), entry(1, text=5)), False),
        (batch(entry(0), entry(1, reason=["r"])), False),
        ('{"scores": {}}', False),
        ('{"scores": [1, 2]}', False),
        ("{}", False),
        ("", False),
        (json.dumps([entry(0), entry(1)]), False),
        (batch(entry(0), entry(1))[:-30], False),
    ],
)
def test_a_batch_is_accepted_whole_or_not_at_all(reply: str, accepted: bool) -> None:
    """Case 27."""
    if accepted:
        assert read_batch(reply, 2) == TWO
    else:
        with pytest.raises(UnreadableReplyError):
            read_batch(reply, 2)


def test_room_for_the_reply_grows_with_the_steps() -> None:
    """Case 30."""
    missing, there = nothing(), unscored("r", "adapter")
    sizes = [reply_tokens([missing] * count, write=True) for count in (1, 12, 40)]
    assert sizes == sorted(set(sizes))
    assert reply_tokens([missing, there], write=False) < reply_tokens([missing, there], write=True)


def test_a_batch_prompt_has_the_key_of_a_number_once_for_each_step() -> None:
    call = ToolCallDTO(name="n", input={"idx": 7, "a": [{"idx": 8}]}, output='{"idx": 9}')
    steps = [step('say "idx": 3', "a", call), step("q", '"idx"')]
    lines = step_lines(steps, [nothing(), unscored('"idx"', "adapter")], 600)
    prompt = reflection_batch.instructions(write=True) + reflection_batch.material("", lines)
    assert prompt.count('"idx"') == 2
    assert [json.loads(line)["idx"] for line in lines] == [0, 1]
    assert '"idx"' not in reflection_batch.instructions(write=False)


def test_a_long_episode_still_fits_one_prompt() -> None:
    big = step("q" * 4000, "a" * 4000, *[ToolCallDTO(name="n", input="i" * 900, output="o" * 900)] * 30)
    lines = step_lines([big] * 100, [nothing()] * 100, 600)
    assert sum(map(len, lines)) < 130_000
    assert len(lines) == 100


# --- written reflections ---


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I cleared it.", "I cleared it."),
        ("<think>hm</think>\nI cleared it.", "I cleared it."),
        ("```\nI cleared it.\n```", "I cleared it."),
        ('"I cleared it."', "I cleared it."),
        ("**Reflection:** I cleared it.", "I cleared it."),
        ("I chose Vec<String> for it.", "I chose Vec<String> for it."),  # case 31
        ("  \n", ""),
    ],
)
def test_what_stands_around_a_reflection_goes(reply: str, expected: str) -> None:
    assert read_reflection(reply) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("NO_REFLECTION", True), ("no_reflection.", True), (" No Reflection! ", True), ("**NO-REFLECTION**", True),
     ("NO_REFLECTION: the step is empty", True), ("I saw no reflection in it", False), ("None", False)],
)  # fmt: skip
def test_the_sentinel(text: str, expected: bool) -> None:
    """Case 23."""
    assert is_nothing(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("I'm sorry I broke it; the cache hid the error.", False), ("I'm sorry, I broke it: the cache hid it.", False),
     ("I am sorry that I broke it.", False), ("I'm sorry.", True), ("I'm really sorry. I can't help with that.", True),
     ("I'm sorry for the confusion, but I cannot do that.", True), ("I'm sorry I am unable to comply.", True),
     ("I'm sorry, but I can't help with that.", True), ("As an AI, I do not reflect.", True),
     ("I cannot provide that.", True), ("Unfortunately, I can't assist.", True), ("I apologize", True),
     ("抱歉,我无法完成", True), ("我无法提供", True), ("I cannot rely on the cache, so I read the file.", False),
     ("I can't reproduce it locally because the seed differs.", False), ("I was sorry to see it fail.", False)],
)  # fmt: skip
def test_refusals(text: str, expected: bool) -> None:
    """Case 33."""
    assert is_refusal(text) is expected


EPISODE = Grounds.of(
    [
        step(
            "fix src/app/main.py",
            "port 8080 and 1,234 rows, commit 9fceb02d0ae5",
            ToolCallDTO(name="edit", input={"path": "C:\\work\\a.txt", "n": 4711}, output={"code": 503}),
            given="see docs/how.md",
        )
    ],
    [],
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("I read src/app/main.py on port 8080.", True),
        ("main.py listens on 8080; 1234 rows, also written 1,234.", True),
        ("Commit 9fceb02 was it, not C:\\work\\a.txt line 12.", True),
        ("docs/how.md says so; 4711 and 503 too.", True),
        ("A read/write and client/server thing, and/or 24/7.", True),
        ("I saw 42 of 99.", True),
        ("It was 4,711, or 503,8080.", True),
        ("It was 4,712.", False),
        ("I read src/app/other.py.", False),
        ("I read /etc/passwd.", False),
        ("<b>I did</b> it since Vec<String> was needed.", True),
        ("I read </etc/passwd>.", False),
        ("I read settings.toml.", False),
        ("Port 8081 it was.", False),
        ("Port 808 it was.", False),
        ("Commit deadbeef1 was it.", False),
    ],
)
def test_what_a_written_reflection_may_name(text: str, holds: bool) -> None:
    assert EPISODE.hold(text) is holds
    reflection = written(text, EPISODE, model="m", version="v")
    assert reflection.reason == (None if holds else "ungrounded")
    assert (reflection.text, reflection.usable) == ((text, True) if holds else (None, False))


# --- the plan ---


@pytest.mark.parametrize(
    ("steps", "settings", "expected"),
    [
        ([], {}, ("none", 0)),
        ([False, False], {}, ("none", 0)),
        ([True], {"alpha_scoring": False}, ("none", 0)),
        ([True], {"alpha_scoring": False, "synth_reflections": True}, ("none", 0)),
        ([True, False], {}, ("batch", 2)),
        ([True] * 12, {}, ("batch", 13)),
        ([True] * 13, {}, ("per_step", 13)),
        ([True] * 13, {"batch_mode": "per_episode"}, ("batch", 14)),
        ([True], {"batch_mode": "per_step"}, ("per_step", 1)),
        ([False, True], {"batch_mode": "per_step", "synth_reflections": True}, ("per_step", 3)),
        ([False], {"batch_mode": "per_step", "synth_reflections": True, "alpha_scoring": False}, ("per_step", 1)),
        ([True] * 200, {}, ("per_step", 128)),
        ([True], {"batch_threshold": 0}, ("per_step", 1)),
        ([True], {"max_llm_calls_per_episode": 0, "batch_mode": "per_episode"}, ("per_step", 0)),
    ],
)
def test_plan(steps: list[bool], settings: dict[str, Any], expected: tuple[str, int]) -> None:
    """Case 29."""
    plan = made_plan(steps, CaptureSettings(**settings), can_ask=True)
    assert (plan.mode, plan.most_calls) == expected
    assert made_plan(steps, CaptureSettings(**settings), can_ask=False).mode == "none"


# --- what a prompt says beside the step ---

DOWN = {"reflection_context_mode": "task_downstream", "long_episode_reflect_mode": "per_step_downstream"}


def test_downstream_shows_the_next_steps_with_what_was_known_before() -> None:
    failed = ToolCallDTO(name="bash", output="boom", error_code="E1")
    steps = [
        step("q0", "a0"),
        step("q1", "a1"),
        step("q2", "a2", failed, ToolCallDTO(name="read", output="y")),
        step("q3", "a3"),
        step("q4", "a4"),
    ]
    reflections = [nothing(), unscored("written", "synth"), unscored("given", "adapter"), nothing(), nothing()]
    shown = previews(steps, reflections, CaptureSettings(**DOWN))
    assert [line.count("step+") for line in shown] == [3, 3, 2, 1, 0]
    assert [part.split(":")[0] for part in shown[0].split("\n")] == ["step+1", "step+2", "step+3"]
    assert "state: q1" in shown[0]
    assert "action: a1" in shown[0]
    assert "written" not in shown[0]
    for part in ("tools: bash, read", "bash: boom", "bash failed: E1", "read: y", "reflection: given"):
        assert part in shown[0]
    assert "a2" not in shown[0]


@pytest.mark.parametrize(
    ("settings", "steps", "expected"),
    [
        (DOWN, 13, True),
        (DOWN, 12, False),
        (DOWN | {"batch_mode": "per_step"}, 2, True),
        (DOWN | {"downstream_step_count": 0}, 13, False),
        ({}, 13, False),
        ({"long_episode_reflect_mode": "per_step_downstream"}, 13, False),
        ({"reflection_context_mode": "task_downstream"}, 13, False),
    ],
)
def test_downstream_is_for_long_episodes_that_ask_for_it(settings: Any, steps: int, expected: bool) -> None:
    assert wants_downstream(CaptureSettings(**settings), steps) is expected


@given(
    st.integers(0, 60), st.integers(0, 60), st.integers(0, 3), st.lists(st.text(max_size=90), min_size=1, max_size=6)
)
def test_downstream_keeps_its_limits(each: int, total: int, count: int, texts: list[str]) -> None:
    settings = CaptureSettings(
        **DOWN,
        downstream_per_step_max_chars=each,
        downstream_context_max_chars=total,
        downstream_step_count=count,
    )
    steps = [step(text, text, ToolCallDTO(name="n", output=text)) for text in texts]
    for shown in previews(steps, [unscored(text, "adapter") for text in texts], settings):
        blocks = [json.loads(line.split(": ", 1)[1]) for line in shown.split("\n") if line]
        assert len(blocks) <= count
        assert all(len(block) <= each for block in blocks)
        assert sum(map(len, blocks)) <= total


def test_the_task_is_the_first_request_and_the_last_answer() -> None:
    steps = [step("", "a0", ToolCallDTO(name="bash")), step("fix it", "done")]
    task = json.loads(task_context(steps, Intent(kind="task", reason="asked"), 800))
    assert task == {"request": "fix it", "intent": "task: asked", "end": "done", "tools": "bash"}
    assert task_context(steps, None, 0) == ""
    assert json.loads(task_context([step("x" * 900)], None, 100)) == {"request": "x" * 99 + "\u2026"}


def test_a_prompt_holds_no_lone_surrogate() -> None:
    assert prompt_json({"a": "x\ud83d"}) == '{"a": "x\ufffd"}'
