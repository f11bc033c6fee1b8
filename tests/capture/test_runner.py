"""Episode in, rows out (seed core-capture, sections 5 to 7; prior-art/capture.md, section 5, cases 19 to 53)."""

import json
import logging
import threading
from typing import Any

import anyio.lowlevel
import msgspec
import pytest

from afterturn.capture.embedder import EmbeddingError
from afterturn.capture.reading import redacted
from afterturn.capture.runner import EpisodeWork, Needs, run, with_persist
from afterturn.capture.threads import for_each
from afterturn.completion import Completion
from afterturn.prompts import reflection_batch, reflection_score, reflection_synth
from afterturn_protocol.capture import LlmCalls
from afterturn_protocol.settings import CaptureSettings
from tests.capture.harness import (
    FakeClock,
    FakeCompleter,
    FakeEmbedder,
    MemoryMemo,
    batch,
    batch_for_all,
    capture,
    codes,
    entry,
    episode,
    exchange,
    hide,
    judged,
    prompted_steps,
    refused,
    says,
    score,
    system,
    tool,
    usage,
    user,
    vector,
)

pytestmark = pytest.mark.anyio

PER_STEP = {"batch_mode": "per_step"}
WHY = "because the cache was stale"


class KilledError(Exception):
    """Stands for the end of the process."""


def many(count: int, reflection: str | None = WHY) -> Any:
    return episode(*[turn for number in range(count) for turn in exchange(number, reflection)])


def made(synth: int = 0, alpha: int = 0, batched: int = 0) -> LlmCalls:
    return LlmCalls(reflection_synth=synth, alpha_scoring=alpha, batched_reflection=batched)


# --- without a model ---


async def test_without_a_model_every_step_gets_a_trace() -> None:
    turns = [
        *exchange(0, WHY),
        user("q"),
        says(f"done\n### Why\n{WHY}"),
        tool("bash", "boom", errorCode="E_BAD", input={"c": "ls"}),
        user("r"),
        says("b"),
    ]
    stages: list[str] = []
    captured = await capture(episode(*turns), stages=stages)
    result = captured.result
    assert [judged(trace) for trace in result.traces] == [
        ("adapter", 0.5, True),
        ("extracted", 0.5, True),
        ("none", 0.0, False),
    ]
    trace = result.traces[1]
    assert (trace.episode_id, trace.session_id, trace.project, trace.turn_id, trace.ts) == ("e1", "s1", "p", "#3", 3000)
    assert (trace.tags[:2], trace.value, trace.priority, trace.r_human) == (["bash", "bad"], 0.0, 0.0, None)
    assert (trace.superseded, trace.schema_version, trace.vectors.summary) == (False, 1, False)
    assert (result.state, result.llm_calls, result.usage, result.warnings) == ("done", made(), None, [])
    assert stages == ["extract", "normalize", "reflect", "embed"]
    assert result.stage_timings.extract > 0
    assert with_persist(result, 7).stage_timings.persist == 7
    assert captured.superseded == []


@pytest.mark.parametrize("turns", [[], [system("s")], [user("<heartbeat>x</heartbeat>"), says("HEARTBEAT_OK")]])
async def test_nothing_to_capture(turns: list[Any]) -> None:
    """Case 6."""
    completer, embedder = FakeCompleter(), FakeEmbedder()
    result = (await capture(episode(*turns), completer, embedder=embedder, synth_reflections=True)).result
    assert (result.state, result.traces, result.llm_calls) == ("doneEmpty", [], made())
    assert "empty_episode" in [warning.code for warning in result.warnings]
    assert (completer.asked, embedder.embedded) == ([], [])


@pytest.mark.parametrize(
    ("reflection", "settings"),
    [
        (None, {}),
        (None, {"batch_mode": "per_episode"}),
        (WHY, {"alpha_scoring": False}),
        (WHY, {"alpha_scoring": False, "batch_mode": "per_episode"}),
        (None, {"alpha_scoring": False}),
        (WHY, {"max_llm_calls_per_episode": 0}),
    ],
)
async def test_nothing_to_ask_makes_no_call(reflection: str | None, settings: Any) -> None:
    """Case 29."""
    completer = FakeCompleter()
    captured = await capture(many(2, reflection), completer, **settings)
    assert completer.asked == []
    assert captured.result.llm_calls == made()
    assert codes(captured) == (["alpha.llm_call_limit"] if "max_llm_calls_per_episode" in settings else [])


async def test_no_model_to_ask_makes_no_call() -> None:
    completer = FakeCompleter()
    completer.is_there = False
    captured = await capture(many(2), completer)
    assert (completer.asked, codes(captured)) == ([], [])
    assert judged(captured.result.traces[0]) == ("adapter", 0.5, True)


# --- step by step ---


async def test_each_reflection_is_weighed_by_itself() -> None:
    completer = FakeCompleter(reflection_score=[score(0.8), score(0.9, usable=False, reason="empty talk")])
    result = (await capture(many(2), completer, **PER_STEP, llm_concurrency=1)).result
    assert [judged(trace) for trace in result.traces] == [("adapter", 0.8, True), ("adapter", 0.0, False)]
    first, second = (trace.reflection for trace in result.traces)
    assert (first.text, first.reason, first.model) == (WHY, "clear", "fake/m")
    assert (first.prompt_version, second.reason) == (reflection_score.VERSION, "empty talk")
    assert result.llm_calls == made(alpha=2)
    assert result.usage == usage().__class__(model="fake/m", input_tokens=20, output_tokens=4, cost=1.0, calls=2)


async def test_missing_reflections_are_written_and_then_weighed() -> None:
    completer = FakeCompleter(reflection_synth="I saw that it was stale.", reflection_score=score(0.6))
    turns = [*exchange(0), *exchange(1, WHY)]
    result = (await capture(episode(*turns), completer, **PER_STEP, synth_reflections=True)).result
    assert [judged(trace) for trace in result.traces] == [("synth", 0.6, True), ("adapter", 0.6, True)]
    assert result.traces[0].reflection.text == "I saw that it was stale."
    assert result.llm_calls == made(synth=1, alpha=2)
    assert completer.calls() == {"reflection.synth": 1, "reflection.score": 2}


async def test_written_but_not_weighed() -> None:
    """Case 20: without scoring a reflection is neutral, whoever wrote it."""
    completer = FakeCompleter(reflection_synth="I saw that it was stale.")
    settings = {**PER_STEP, "synth_reflections": True, "alpha_scoring": False}
    [trace] = (await capture(many(1, None), completer, **settings)).result.traces
    assert judged(trace) == ("synth", 0.5, True)
    assert trace.reflection.prompt_version == reflection_synth.VERSION


async def test_a_failed_weighing_is_neutral_and_named() -> None:
    """Case 21."""
    completer = FakeCompleter(reflection_synth="I saw that it was stale.", reflection_score=refused())
    captured = await capture(many(1, None), completer, **PER_STEP, synth_reflections=True)
    assert judged(captured.result.traces[0]) == ("synth", 0.5, True)
    assert codes(captured) == ["alpha.llm_unavailable"]
    assert captured.result.llm_calls == made(synth=1, alpha=1)


async def test_a_failed_writing_is_none_and_named() -> None:
    """Case 22."""
    completer = FakeCompleter(reflection_synth=refused("deadline"))
    captured = await capture(many(2, None), completer, **PER_STEP, synth_reflections=True)
    assert [judged(trace) for trace in captured.result.traces] == [("none", 0.0, False)] * 2
    [warning] = captured.result.warnings
    assert (warning.stage, warning.code, warning.detail["count"]) == ("reflect", "llm_timeout", 2)
    assert warning.detail["steps"] == [0, 1]


@pytest.mark.parametrize(
    ("reply", "reason", "warns"),
    [
        ("NO_REFLECTION", "no_reflection", []),
        (" no reflection. ", "no_reflection", []),
        ("I'm sorry, but I can't help with that.", "refusal", []),
        ("I read /etc/shadow first.", "ungrounded", ["reflect.ungrounded"]),
    ],
)
async def test_what_is_written_but_cannot_stand(reply: str, reason: str, warns: list[str]) -> None:
    """Cases 23 and 33."""
    completer = FakeCompleter(reflection_synth=reply)
    captured = await capture(many(1, None), completer, **PER_STEP, synth_reflections=True)
    [trace] = captured.result.traces
    assert (judged(trace), trace.reflection.reason) == (("none", 0.0, False), reason)
    assert (codes(captured), completer.calls()) == (warns, {"reflection.synth": 1})


async def test_a_written_reflection_may_name_what_another_steps_reflection_names() -> None:
    completer = FakeCompleter(reflection_synth="It was port 8080 again.", reflection_score=score())
    turns = [*exchange(0), *exchange(1, "the port is 8080 here")]
    result = (await capture(episode(*turns), completer, **PER_STEP, synth_reflections=True)).result
    assert judged(result.traces[0])[0] == "synth"


async def test_a_given_reflection_stays_whatever_it_names() -> None:
    """Case 26: word for word, uncut, by either path."""
    long = "see /no/such/file 98765 " * 100
    for settings, answers in (
        (PER_STEP, {"reflection_score": score(0.7)}),
        ({}, {"reflection_batch": batch(entry(0, text="other words"))}),
    ):
        [trace] = (await capture(many(1, long), FakeCompleter(**answers), **settings)).result.traces
        assert (trace.reflection.text, judged(trace)) == (long, ("adapter", 0.7, True))


async def test_no_more_calls_at_once_than_allowed() -> None:
    completer = FakeCompleter(reflection_score=score())
    await capture(many(9), completer, **PER_STEP, llm_concurrency=3)
    assert (completer.most_at_once, len(completer.asked)) == (3, 9)


async def test_no_more_are_written_at_once_than_allowed() -> None:
    completer = FakeCompleter(reflection_synth="NO_REFLECTION")
    await capture(many(9, None), completer, **PER_STEP, synth_reflections=True, llm_concurrency=3)
    assert (completer.most_at_once, len(completer.asked)) == (3, 9)


async def test_the_first_failure_ends_what_is_done_at_once() -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        await anyio.lowlevel.checkpoint()
        if number == 1:
            raise KeyError(number)
        done.append(number)

    with pytest.raises(KeyError):
        await for_each(range(9), work, at_once=2)
    assert done == [0]


async def test_what_is_remembered_counts_against_the_limit_too() -> None:
    scores = MemoryMemo()
    settings = {**PER_STEP, "llm_concurrency": 1, "max_llm_calls_per_episode": 2}
    first = FakeCompleter(reflection_score=[score(0.9), KilledError()])
    with pytest.raises(KilledError):
        await capture(many(3), first, scores=scores, **settings)
    completer = FakeCompleter(reflection_score=score(0.9))
    captured = await capture(many(3), completer, scores=scores, **settings)
    assert len(completer.asked) == 1
    assert [judged(trace)[1] for trace in captured.result.traces] == [0.9, 0.9, 0.5]
    assert captured.result.llm_calls == made(alpha=2)


async def test_no_more_calls_than_an_episode_may_make() -> None:
    """Case 48."""
    completer = FakeCompleter(reflection_score=score(0.9))
    captured = await capture(many(5), completer, **PER_STEP, max_llm_calls_per_episode=3)
    assert [judged(trace)[1] for trace in captured.result.traces] == [0.9, 0.9, 0.9, 0.5, 0.5]
    assert codes(captured) == ["alpha.llm_call_limit"]
    assert captured.result.llm_calls == made(alpha=3)


async def test_repairs_count_against_the_limit_but_not_as_calls() -> None:
    completer = FakeCompleter(reflection_score=["no", score(0.9), score(0.9)])
    settings = {**PER_STEP, "max_llm_calls_per_episode": 2, "llm_concurrency": 1}
    captured = await capture(many(2), completer, **settings)
    assert [judged(trace)[1] for trace in captured.result.traces] == [0.9, 0.5]
    assert (len(completer.asked), captured.result.llm_calls) == (2, made(alpha=1))
    assert captured.result.usage is not None
    assert captured.result.usage.calls == 2


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (refused(terminal=True, retryable=False), "llm_unavailable"),
        (refused("provider_unavailable", called=False), "llm_unavailable"),
        (refused("budget_exceeded", called=False), "llm_budget_exceeded"),
    ],
)
async def test_nobody_is_asked_again_where_it_has_no_use(problem: Any, code: str) -> None:
    """Case 48: one refusal for want of credentials, and not one for each step."""
    completer = FakeCompleter(reflection_score=problem)
    captured = await capture(many(6), completer, **PER_STEP, llm_concurrency=1)
    assert len(completer.asked) == 1
    assert captured.result.llm_calls == made(alpha=int(problem.called))
    [warning] = captured.result.warnings
    assert (warning.code, warning.detail["count"]) == (code, 6)


async def test_an_outage_is_not_taken_for_hopeless() -> None:
    completer = FakeCompleter(reflection_score=[refused(), score(0.9)])
    captured = await capture(many(2), completer, **PER_STEP, llm_concurrency=1)
    assert [judged(trace)[1] for trace in captured.result.traces] == [0.5, 0.9]


async def test_a_reply_that_ended_badly_is_no_answer() -> None:
    aborted = Completion(text=score(), stop_reason="aborted", model="fake/m", usage=None)
    captured = await capture(many(1), FakeCompleter(reflection_score=aborted), **PER_STEP)
    assert codes(captured) == ["alpha.llm_unavailable"]
    cut = Completion(text="I saw that it", stop_reason="length", model="fake/m", usage=None)
    completer = FakeCompleter(reflection_synth=cut)
    captured = await capture(many(1, None), completer, **PER_STEP, synth_reflections=True)
    assert codes(captured) == ["reflect.llm_output_malformed"]


MALFORMED = [
    "I would give it a seven.",
    '{"alpha": number, "usable": bool, "reason": string}',
    '{"alpha": "high", "usable": true, "reason": "r"}',
    '{"usable": true, "reason": "r"}',
    '{"alpha": 0.7, "reason": "r"}',
    '{"alpha": 0.7, "usa',
    "[0.7, true]",
    '{"alpha": 0.7, "usable": true, "reason": {"why": 1}}',
    "<think>\nit is good",
    "```json\n```",
    '{"error": {"message": "overloaded"}}',
]


@pytest.mark.parametrize("reply", MALFORMED)
async def test_a_reply_that_cannot_be_read_is_asked_for_once_more(reply: str) -> None:
    """Case M06: the second answer counts; without one the step is neutral, and no trace is lost."""
    completer = FakeCompleter(reflection_score=[reply, score(0.8)])
    captured = await capture(many(1), completer, **PER_STEP)
    assert judged(captured.result.traces[0]) == ("adapter", 0.8, True)
    assert (len(completer.asked), captured.result.llm_calls, codes(captured)) == (2, made(alpha=1), [])
    first, again = completer.asked
    assert again.user.startswith(first.user)
    assert (again.system, again.max_tokens) == (first.system, first.max_tokens * 2)

    completer = FakeCompleter(reflection_score=reply)
    captured = await capture(many(2), completer, **PER_STEP)
    assert [judged(trace) for trace in captured.result.traces] == [("adapter", 0.5, True)] * 2
    assert (len(completer.asked), captured.result.llm_calls) == (4, made(alpha=2))
    assert codes(captured) == ["alpha.llm_output_malformed"]


@pytest.mark.parametrize(("reply", "stop"), [("", "stop"), (" \n", "stop"), ('{"alpha": 0.7, "usa', "length")])
async def test_an_empty_or_cut_reply_is_not_asked_for_again_here(reply: str, stop: str) -> None:
    """Whoever asks the provider has done that once already, with more room; then it is a failure."""
    completer = FakeCompleter(
        reflection_score=Completion(text=reply, stop_reason=stop, model="fake/m", usage=None),
    )
    captured = await capture(many(1), completer, **PER_STEP)
    assert judged(captured.result.traces[0]) == ("adapter", 0.5, True)
    assert (len(completer.asked), codes(captured)) == (1, ["alpha.llm_output_malformed"])


# --- all at once ---


async def test_one_call_for_all_steps_whatever_their_order_in_the_reply() -> None:
    """Case 27."""
    completer = FakeCompleter(reflection_batch=batch(entry(2, 0.3), entry(0, 0.1), entry(1, 0.2, usable=False)))
    result = (await capture(many(3), completer)).result
    assert [judged(trace) for trace in result.traces] == [
        ("adapter", 0.1, True),
        ("adapter", 0.0, False),
        ("adapter", 0.3, True),
    ]
    assert {trace.reflection.prompt_version for trace in result.traces} == {reflection_batch.VERSION}
    assert (result.llm_calls, completer.calls()) == (made(batched=1), {"reflection.batch": 1})


async def test_a_batch_shows_every_step_and_its_reflection() -> None:
    completer = FakeCompleter(reflection_batch=batch_for_all())
    turns = [*exchange(0, WHY), user("q"), says("look"), tool("bash", "boom", input={"c": "ls"}, errorCode="E1")]
    await capture(episode(*turns), completer)
    [asked] = completer.asked
    steps = prompted_steps(asked)
    assert [step["idx"] for step in steps] == [0, 1]
    assert (steps[0]["reflection"], steps[1]["reflection"]) == (WHY, "")
    assert steps[1]["tools"] == [{"name": "bash", "input": '{"c":"ls"}', "output": "boom", "error": "E1"}]
    assert steps[1]["outcome"] == "error E1: boom"
    assert f"{asked.system}{asked.user}".count('"idx"') == 2


async def test_a_batch_writes_what_is_missing_where_that_is_on() -> None:
    reply = batch(entry(0, 0.6, text="I saw it was stale."), entry(1, 0.7, text="other"), entry(2, 0.1, text=""))
    turns = [*exchange(0), *exchange(1, WHY), *exchange(2)]
    result = (await capture(episode(*turns), FakeCompleter(reflection_batch=reply), synth_reflections=True)).result
    assert [judged(trace) for trace in result.traces] == [
        ("synth", 0.6, True),
        ("adapter", 0.7, True),
        ("none", 0.0, False),
    ]
    assert [trace.reflection.text for trace in result.traces] == ["I saw it was stale.", WHY, None]


async def test_a_batch_writes_nothing_where_that_is_off() -> None:
    reply = batch(entry(0, 0.6, text="I saw it was stale."), entry(1, 0.7))
    turns = [*exchange(0), *exchange(1, WHY)]
    result = (await capture(episode(*turns), FakeCompleter(reflection_batch=reply))).result
    assert [judged(trace) for trace in result.traces] == [("none", 0.0, False), ("adapter", 0.7, True)]


async def test_a_batch_that_only_writes_leaves_weights_neutral() -> None:
    """Case 20, in the other path."""
    completer = FakeCompleter(reflection_batch=batch(entry(0, 0.9, text="I saw it was stale.")))
    [trace] = (await capture(many(1, None), completer, synth_reflections=True, alpha_scoring=False)).result.traces
    assert judged(trace) == ("synth", 0.5, True)


@pytest.mark.parametrize(
    ("text", "warns"),
    [
        ("NO_REFLECTION", []),
        ("no-reflection!", []),
        ("I'm sorry, I cannot do that.", []),
        ("I read /etc/shadow.", ["reflect.ungrounded"]),
    ],
)
async def test_what_a_batch_writes_is_checked_too(text: str, warns: list[str]) -> None:
    completer = FakeCompleter(reflection_batch=batch(entry(0, 0.9, text=text)))
    captured = await capture(many(1, None), completer, synth_reflections=True)
    assert judged(captured.result.traces[0]) == ("none", 0.0, False)
    assert codes(captured) == warns


@pytest.mark.parametrize(
    "reply",
    [
        *MALFORMED,
        batch(entry(0)),
        batch(entry(0), entry(0)),
        batch(entry(0), entry(2)),
        batch(entry(0), entry(1), entry(2)),
        batch(entry(0), entry(1, usable="yes")),
        json.dumps([entry(0), entry(1)]),
        refused(),
        refused("deadline"),
    ],
)
async def test_a_batch_that_fails_gives_way_to_one_call_a_step(reply: Any) -> None:
    """Case 27: a warning, no repair, and no trace is lost."""
    completer = FakeCompleter(reflection_batch=reply, reflection_score=score(0.8))
    captured = await capture(many(2), completer)
    assert [judged(trace) for trace in captured.result.traces] == [("adapter", 0.8, True)] * 2
    assert completer.calls() == {"reflection.batch": 1, "reflection.score": 2}
    assert captured.result.llm_calls == made(alpha=2)
    assert [warning.stage for warning in captured.result.warnings] == ["batch"]


async def test_a_batch_refused_for_good_makes_no_further_call() -> None:
    completer = FakeCompleter(reflection_batch=refused("budget_exceeded", called=False))
    captured = await capture(many(2), completer)
    assert len(completer.asked) == 1
    assert [judged(trace) for trace in captured.result.traces] == [("adapter", 0.5, True)] * 2
    assert codes(captured) == ["batch.llm_budget_exceeded", "alpha.llm_budget_exceeded"]


@pytest.mark.parametrize(
    ("steps", "settings", "expected"),
    [
        (12, {}, {"reflection.batch": 1}),
        (13, {}, {"reflection.score": 13}),
        (13, {"batch_mode": "per_episode"}, {"reflection.batch": 1}),
        (2, PER_STEP, {"reflection.score": 2}),
        (3, {"batch_threshold": 2}, {"reflection.score": 3}),
    ],
)
async def test_when_steps_go_into_one_call(steps: int, settings: Any, expected: dict[str, int]) -> None:
    completer = FakeCompleter(reflection_batch=batch_for_all(), reflection_score=score())
    captured = await capture(many(steps), completer, **settings)
    assert completer.calls() == expected
    assert codes(captured) == []


async def test_long_episodes_show_what_followed_where_that_is_on() -> None:
    completer = FakeCompleter(reflection_score=score())
    down = {"reflection_context_mode": "task_downstream", "long_episode_reflect_mode": "per_step_downstream"}
    await capture(many(4), completer, **down, batch_threshold=3, llm_concurrency=1)
    assert [asked.user.count("step+") for asked in completer.asked] == [3, 2, 1, 0]
    completer = FakeCompleter(reflection_score=score())
    await capture(many(4), completer, batch_threshold=3)
    assert not any("step+" in asked.user for asked in completer.asked)


async def test_every_prompt_tells_the_task() -> None:
    completer = FakeCompleter(reflection_score=score(), reflection_batch=batch_for_all())
    given = episode(*exchange(0, WHY), intent={"kind": "bugfix", "reason": "asked for"})
    await capture(given, completer, **PER_STEP)
    await capture(given, completer)
    await capture(given, completer, task_context_max_chars=0)
    assert ["bugfix: asked for" in asked.user for asked in completer.asked] == [True, True, False]


# --- secrets, vectors, memory of scores, revisions ---


async def test_what_a_model_says_is_redacted() -> None:
    """Case S01."""
    completer = FakeCompleter(reflection_synth="I used SECRET1 twice.", reflection_score=score(reason="SECRET2"))
    [trace] = (await capture(many(1, None), completer, **PER_STEP, synth_reflections=True)).result.traces
    assert (trace.reflection.text, trace.reflection.reason) == ("I used [REDACTED:x] twice.", "[REDACTED:x]")
    assert not any("SECRET" in asked.user for asked in completer.asked)


@pytest.mark.parametrize("settings", [{}, PER_STEP])
async def test_no_secret_reaches_a_prompt_a_row_or_a_vector(settings: Any) -> None:
    """Case S01."""
    told = tool(
        "run SECRET1",
        "stdout SECRET2",
        input={"SECRET3": "SECRET4", "deep": [{"a": "SECRET5"}]},
        errorCode="SECRET6",
        thinkingBefore="SECRET7",
        assistantTextBefore="SECRET8",
    )
    turns = [user("SECRET1"), says("SECRET2", reflection="SECRET3", agentThinking="SECRET4"), told, *exchange(1)]
    clean, _ = redacted(episode(*turns, intent={"kind": "k", "reason": "SECRET5"}), hide)
    answers = {"reflection_score": score(), "reflection_synth": "It was fine.", "reflection_batch": batch_for_all()}
    completer, embedder = FakeCompleter(**answers), FakeEmbedder()
    captured = await capture(clean, completer, embedder=embedder, synth_reflections=True, **settings)
    said = [asked.user for asked in completer.asked] + [text for texts in embedder.embedded for text in texts]
    said.append(msgspec.json.encode(captured.result).decode())
    assert not any("SECRET" in text for text in said)
    assert completer.asked


async def test_junk_costs_one_call_at_most() -> None:
    """Case M01."""
    beats = [turn for _ in range(20) for turn in (user("<heartbeat>tick</heartbeat>"), says("HEARTBEAT_OK"))]
    turns = [system("s"), *beats, *exchange(1, WHY), user("thanks"), says("ok")]
    completer = FakeCompleter(reflection_batch=batch_for_all())
    captured = await capture(episode(*turns), completer)
    assert completer.calls() == {"reflection.batch": 1}
    assert [trace.user_text for trace in captured.result.traces] == ["question 1", "thanks"]


async def test_scores_stay_with_their_steps_when_repeated_ones_go() -> None:
    """Case 39."""
    turns = [*exchange(0, "r0 is why"), user("question 0"), says("answer 0"), *exchange(1, "r1 is why")]
    reply = batch(entry(1, 0.2, reason="r1"), entry(0, 0.1, reason="r0"))
    captured = await capture(episode(*turns), FakeCompleter(reflection_batch=reply))
    shown = [(trace.agent_text, trace.reflection.text, trace.reflection.reason) for trace in captured.result.traces]
    assert shown == [("answer 0", "r0 is why", "r0"), ("answer 1", "r1 is why", "r1")]
    assert codes(captured) == ["normalize.repeated_step"]


async def test_steps_of_nothing_but_a_call_are_told_apart_by_their_vectors() -> None:
    """Case 52."""
    embedder = FakeEmbedder()
    turns = [user("q"), says(""), tool("ls", "x", input="a"), tool("cat", "y", input="b"), says("done")]
    captured = await capture(episode(*turns), embedder=embedder, granularity="tool")
    assert embedder.embedded == [["q", "ls(a)", "cat(b)", "done"]]
    assert [row.summary_vector is None for row in captured.rows] == [False, True, True]


@pytest.mark.parametrize(
    "turns", [[user("q" * 200_000), says("a")], [user("q"), says("a")] * 400], ids=["long texts", "many turns"]
)
async def test_a_long_episode_leaves_the_event_loop_alone(turns: list[dict[str, Any]]) -> None:
    """architecture.md: what takes more than a few milliseconds runs in a thread."""
    threads: set[int] = set()

    def watching(text: str) -> tuple[str, dict[str, int]]:
        threads.add(threading.get_ident())
        return text, {}

    # A call that is unwrapped from a text is redacted while steps are extracted.
    given = episode(*turns, tool(None, '{"name": "n", "input": "x"}'))
    needs = Needs(completer=None, embedder=None, redact=watching, clock=FakeClock())
    settings = CaptureSettings()
    work = EpisodeWork(episode=given, project=None, settings=settings, redactions=0, scores=MemoryMemo())
    await run(needs, work)
    assert threads
    assert threading.get_ident() not in threads


async def test_two_vectors_a_step_in_one_call() -> None:
    embedder = FakeEmbedder()
    turns = [user("q"), says("a"), tool("bash", "x", input={"c": "ls"}), user(""), says("b")]
    captured = await capture(episode(*turns), embedder=embedder)
    action = 'a\n\nbash({"c":"ls"})'
    assert embedder.embedded == [["q", action, "b"]]
    first, second = captured.rows
    assert (first.summary_vector, first.action_vector) == (vector("q"), vector(action))
    assert (second.summary_vector, second.action_vector) == (None, vector("b"))
    vectors = first.trace.vectors
    assert (vectors.summary, vectors.action, vectors.model, vectors.dimension) == (True, True, "fake-2", 2)
    assert captured.missing == []


@pytest.mark.parametrize("problem", [EmbeddingError("nobody there"), None])
async def test_an_embedder_that_fails_costs_no_trace(problem: EmbeddingError | None) -> None:
    """Cases 53 and M09. Without a problem: vectors of the wrong size."""
    embedder = FakeEmbedder(problem, dimension=2 if problem else 3)
    captured = await capture(many(2), embedder=embedder)
    assert [row.summary_vector for row in captured.rows] == [None, None]
    assert codes(captured) == ["embed.embedding_failed"]
    assert captured.missing == captured.result.trace_ids


async def test_no_vectors_where_they_are_not_wanted() -> None:
    embedder = FakeEmbedder()
    captured = await capture(many(1), embedder=embedder, embed_traces=False)
    assert (embedder.embedded, captured.missing) == ([], [])
    assert (await capture(many(1))).missing != []


@pytest.mark.parametrize("synth", [False, True])
@pytest.mark.parametrize("settings", [{}, PER_STEP])
async def test_a_run_that_starts_over_pays_for_nothing_again(settings: Any, synth: bool) -> None:
    """Cases 34, 44 and M03: what is remembered gives the same result, calls and usage included."""
    answers = {
        "reflection_batch": batch_for_all(0.8, "I saw it was stale."),
        "reflection_synth": "I saw it was stale.",
        "reflection_score": score(0.8),
    }
    turns = [*exchange(0), *exchange(1, WHY), *exchange(2)]
    settings = settings | {"synth_reflections": synth}
    scores, completer = MemoryMemo(), FakeCompleter(**answers)
    first = await capture(episode(*turns), completer, scores=scores, **settings)
    again = FakeCompleter()
    second = await capture(episode(*turns), again, scores=scores, **settings)
    assert (again.asked, second.rows) == ([], first.rows)
    assert (second.result.llm_calls, second.result.usage) == (first.result.llm_calls, first.result.usage)


async def test_a_run_that_ended_in_the_middle_goes_on_from_there() -> None:
    """Case M03: killed during the second of five calls."""

    def killing(_: Any) -> str:
        if len(completer.asked) == 2:
            raise KilledError
        return score(0.8)

    scores, completer = MemoryMemo(), FakeCompleter(reflection_score=killing)
    with pytest.raises(KilledError):
        await capture(many(5), completer, scores=scores, **PER_STEP, llm_concurrency=1)
    after = FakeCompleter(reflection_score=score(0.8))
    captured = await capture(many(5), after, scores=scores, **PER_STEP, llm_concurrency=1)
    assert (len(after.asked), captured.result.llm_calls) == (4, made(alpha=5))
    assert [judged(trace)[1] for trace in captured.result.traces] == [0.8] * 5


async def test_a_refused_batch_is_not_paid_for_again() -> None:
    scores = MemoryMemo()
    completer = FakeCompleter(reflection_batch="no", reflection_score=score(0.8))
    first = await capture(many(2), completer, scores=scores)
    again = FakeCompleter()
    second = await capture(many(2), again, scores=scores)
    assert (again.asked, second.rows, codes(second)) == ([], first.rows, codes(first))


async def test_a_failing_memo_ends_the_run_as_it_is() -> None:
    class GoneError(Exception):
        pass

    class BrokenMemo(MemoryMemo):
        async def put(self, key: bytes, value: bytes) -> None:
            raise GoneError

    for settings in (PER_STEP, {}):
        completer = FakeCompleter(reflection_score=score(), reflection_batch=batch_for_all())
        with pytest.raises(GoneError):
            await capture(many(3), completer, scores=BrokenMemo(), **settings)


async def test_a_revision_scores_only_what_is_new() -> None:
    """Case 34 and capture.md, 'Durability': steps that stay keep all they have; steps that are gone are named."""
    embedder = FakeEmbedder()
    turns = [*exchange(0, WHY), *exchange(1, WHY), *exchange(2, WHY)]
    first = await capture(episode(*turns), FakeCompleter(reflection_batch=batch_for_all(0.9)), embedder=embedder)

    completer, again = FakeCompleter(reflection_batch=batch_for_all(0.3)), FakeEmbedder()
    revised = episode(*exchange(0, WHY), *exchange(1, WHY), user("q"), says("new", id="n", reflection=WHY))
    second = await capture(revised, completer, embedder=again, known=first.rows)
    assert [judged(trace)[1] for trace in second.result.traces] == [0.9, 0.9, 0.3]
    assert second.rows[:2] == first.rows[:2]
    assert second.superseded == [first.rows[2].trace.trace_id]
    [asked] = completer.asked
    assert [step["action"] for step in prompted_steps(asked)] == ["new"]
    assert again.embedded == [["q", "new"]]


async def test_a_step_that_grew_is_scored_again_under_its_id() -> None:
    first = await capture(many(1), FakeCompleter(reflection_batch=batch_for_all(0.9)))
    grown = episode(*exchange(0, WHY), says("and more"))
    second = await capture(grown, FakeCompleter(reflection_batch=batch_for_all(0.3)), known=first.rows)
    assert second.result.trace_ids == first.result.trace_ids
    assert judged(second.result.traces[0])[1] == 0.3


@pytest.mark.parametrize("again", [None, FakeCompleter(reflection_batch=refused(), reflection_score=refused())])
@pytest.mark.parametrize("reflection", [WHY, None])
async def test_a_second_capture_erases_nothing(again: FakeCompleter | None, reflection: str | None) -> None:
    """Cases 35 and 36: with the model down, and without the reflection that the host sent at first."""
    first = await capture(many(2), FakeCompleter(reflection_batch=batch_for_all(0.9)))
    second = await capture(many(2, reflection), again, known=first.rows)
    assert second.rows == first.rows
    assert second.result.llm_calls == made()


async def test_what_failed_before_is_scored_by_a_second_capture() -> None:
    first = await capture(many(2), FakeCompleter(reflection_batch=refused(), reflection_score=refused()))
    second = await capture(many(2), FakeCompleter(reflection_batch=batch_for_all(0.9)), known=first.rows)
    assert [judged(trace)[1] for trace in second.result.traces] == [0.9, 0.9]


async def test_the_same_conversation_adds_no_row() -> None:
    """Cases M02 and M16."""
    recall = "<afterturn-recall>\nanswer 0\n</afterturn-recall>\n"
    first = await capture(many(2, None))
    again = await capture(
        episode(user(f"{recall}question 0"), says("answer 0", id="a0"), *exchange(1)), known=first.rows
    )
    assert (again.rows, again.superseded) == (first.rows, [])


# --- log ---


async def test_every_part_logs_under_its_name_and_never_a_body(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "afterturn.capture")
    answers = {"reflection_synth": "I saw it was stale.", "reflection_score": score(0.8)}
    embedder = FakeEmbedder(EmbeddingError("nobody there"))
    given = episode(user("the question"), says("the answer"))
    await capture(given, FakeCompleter(**answers), embedder=embedder, **PER_STEP, synth_reflections=True)
    await capture(given, FakeCompleter(reflection_batch=batch_for_all()), synth_reflections=True)
    names = {record.name.removeprefix("afterturn.capture") for record in caplog.records}
    assert names == {"", ".extractor", ".reflection", ".alpha", ".batch", ".embed"}
    assert not any(body in caplog.text for body in ("the question", "the answer", "it was stale"))
    assert "alpha 0.800, model fake/m" in caplog.text
