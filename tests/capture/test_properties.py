"""What holds for every episode (capture.md)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn.capture.notes import Notes
from afterturn.capture.plan import made_plan
from afterturn.capture.steps import steps_of
from afterturn.capture.turns import read_turns
from afterturn_protocol.capture import Episode
from afterturn_protocol.settings import CaptureSettings
from tests.capture.harness import (
    FakeCompleter,
    FakeEmbedder,
    batch_for_all,
    capture,
    episode,
    hide,
    refused,
    says,
    score,
    tool,
    user,
)

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=12)
MORE: dict[str, st.SearchStrategy[Any]] = {
    "reflection": st.one_of(st.none(), WORDS),
    "agentThinking": st.one_of(st.none(), WORDS),
    "toolCalls": st.lists(st.fixed_dictionaries({"name": st.sampled_from(["a", "b"]), "output": WORDS}), max_size=2),
}
TURNS = st.lists(
    st.one_of(
        st.builds(user, WORDS),
        st.builds(lambda text, meta: says(text, **meta), WORDS, st.fixed_dictionaries(MORE)),
        st.builds(lambda name, text, given: tool(name, text, input=given), st.sampled_from(["a", "b"]), WORDS, WORDS),
        st.just({"role": "system", "content": "s"}),
    ),
    max_size=12,
)
ANSWERS: list[Any] = [batch_for_all(0.8, "I saw it."), "no", refused(), refused(called=False)]


def pieces(given: Episode) -> list[str]:
    """Every text of the episode that must be found in a step again."""
    kept: list[str] = []
    answered = any(turn.role == "assistant" for turn in given.turns)
    last = max((at for at, turn in enumerate(given.turns) if turn.role == "assistant"), default=-1)
    for at, turn in enumerate(given.turns):
        meta = turn.meta
        lost = turn.role == "user" and answered and at > last  # unanswered, and named in a warning
        if isinstance(turn.content, str) and turn.role != "system" and not lost:
            kept.append(turn.content.strip())
        if meta is not None:
            kept += [(meta.reflection or "").strip(), (meta.agent_thinking or "").strip()]
            kept += [call.output.strip() for call in meta.tool_calls or ()]
            kept += [] if meta.input is None else [meta.input.strip()]
    return [piece for piece in kept if piece]


@given(TURNS, st.sampled_from(["turn", "tool"]))
def test_no_text_is_lost(turns: list[Any], granularity: str) -> None:
    given = episode(*turns)
    steps = steps_of(read_turns(given, hide, Notes()), given.meta, granularity, Notes())
    texts: list[str] = []
    for step in steps:
        texts += [step.user_text, step.agent_text, step.thinking or "", step.given or ""]
        texts += [str(part) for call in step.calls for part in (call.input, call.output)]
    everything = "\n".join(texts)
    assert [piece for piece in pieces(given) if piece not in everything] == []


@given(TURNS)
def test_a_step_for_every_answered_segment(turns: list[Any]) -> None:
    given = episode(*turns)
    read = read_turns(given, hide, Notes())
    steps = steps_of(read, given.meta, "turn", Notes())
    # A user turn begins a new segment exactly when an assistant turn came since the last one that did.
    segments, answered = 0, False
    for turn in given.turns:
        if turn.role == "user":
            answered = False
        elif turn.role == "assistant" and not answered:
            segments, answered = segments + 1, True
    assert sum(step.kind == "step" for step in steps) == segments
    assert sum(step.kind == "synthetic" for step in steps) <= 1
    calls = sum(len(turn.calls) for turn in read)
    assert (
        calls - sum(len(turn.calls) for turn in read if turn.role == "assistant")
        <= sum(len(step.calls) for step in steps)
        <= calls
    )


@pytest.mark.anyio
@settings(deadline=None, max_examples=60)
@given(
    turns=TURNS,
    synth=st.booleans(),
    alpha=st.booleans(),
    mode=st.sampled_from(["auto", "per_step", "per_episode"]),
    granularity=st.sampled_from(["turn", "tool"]),
    most=st.integers(0, 6),
    answers=st.tuples(*[st.integers(0, 3)] * 3),
)
async def test_every_step_gets_one_trace_and_no_call_too_many(
    turns: list[Any], synth: bool, alpha: bool, mode: str, granularity: str, most: int, answers: tuple[int, ...]
) -> None:
    chosen: dict[str, Any] = {
        "synth_reflections": synth,
        "alpha_scoring": alpha,
        "batch_mode": mode,
        "granularity": granularity,
        "max_llm_calls_per_episode": most,
    }
    completer = FakeCompleter(
        reflection_batch=ANSWERS[answers[0]],
        reflection_synth=["I saw it.", "", refused(), refused(called=False)][answers[1]] or "NO_REFLECTION",
        reflection_score=[score(0.8), "no", refused(), refused(called=False)][answers[2]],
    )
    plain = await capture(episode(*turns), embedder=FakeEmbedder(), **chosen)
    asked = await capture(episode(*turns), completer, embedder=FakeEmbedder(), **chosen)
    again = await capture(episode(*turns), known=asked.rows, **chosen)

    assert plain.result.trace_ids == asked.result.trace_ids == again.result.trace_ids
    assert again.rows == asked.rows
    calls = asked.result.llm_calls
    counted = calls.reflection_synth + calls.alpha_scoring + calls.batched_reflection
    has_reflection = [trace.reflection.text is not None for trace in plain.result.traces]
    plan = made_plan(has_reflection, CaptureSettings(**chosen), can_ask=True)
    assert counted <= plan.most_calls <= most
    assert len([one for one in completer.asked if "could not be read" not in one.user]) <= max(plan.most_calls, 0) + 4
    for before, trace in zip(plain.result.traces, asked.result.traces, strict=True):
        reflection = trace.reflection
        assert 0 <= reflection.alpha <= 1
        assert reflection.usable or reflection.alpha == 0
        assert (reflection.source == "none") is (reflection.text is None)
        if before.reflection.text is not None:
            assert (reflection.text, reflection.source) == (before.reflection.text, before.reflection.source)
        assert trace.vectors.summary is bool(trace.user_text.strip())
