"""What really goes to a provider and what comes back, through litellm, in both formats."""

from typing import Any

import pytest

from afterturn.completion import Completion, PromptMessage
from afterturn.models.provider import MAX_REPLY_CHARS
from afterturn.models.worker.whole_answers import MOST_BYTES, events_of
from afterturn_protocol.base import Usage
from afterturn_protocol.settings import ModelsSettings
from tests.models.worker.rig import ANTHROPIC, KEY, OPENAI, Rig, prompt
from tests.provider.answers import OPENAI as OPENAI_FORMAT
from tests.provider.answers import Answer, calls_tools, empty, says, thinks, whole_body, wrong_usage

WHOLE = "application/json; charset=utf-8"
BOTH = pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])


def usage(model: str, **known: Any) -> Usage:
    return Usage(model=model, **{"input_tokens": None, "output_tokens": None, "cost": None, "calls": 1} | known)


def test_an_openai_request(rig: Rig) -> None:
    rig.ask(OPENAI, max_tokens=77)
    request = rig.server.requests[0]
    assert request.body == {
        "model": "any",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What happened?"}],
        "max_tokens": 77,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert (request.path, request.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")


def test_an_anthropic_request(rig: Rig) -> None:
    rig.ask(ANTHROPIC, max_tokens=77)
    request = rig.server.requests[0]
    assert request.body == {
        "model": "any",
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "What happened?"}]}],
        "max_tokens": 77,
        "temperature": 0,
        "stream": True,
    }
    assert (request.path, request.headers["x-api-key"]) == ("/v1/messages", KEY)


def check(rig: Rig, model: str, answer: Answer, text: str, stop_reason: str, spent: Usage) -> None:
    rig.server.script(answer)
    assert rig.ask(model) == Completion(text=text, stop_reason=stop_reason, model=model, usage=spent)
    assert len(rig.server.requests) == 1


@BOTH
def test_a_plain_answer(rig: Rig, model: str) -> None:
    answer = says("- one\n- two  three", usage=(120, 30), cached=20)
    check(
        rig,
        model,
        answer,
        "- one\n- two  three",
        "stop",
        usage(model, input_tokens=120, output_tokens=30, cached_tokens=20),
    )


@BOTH
@pytest.mark.parametrize(
    ("answer", "text", "stop_reason"),
    [
        pytest.param(says("cut o", finish="length"), "cut o", "length", id="cut"),
        pytest.param(empty("length"), "", "length", id="empty-length"),
        pytest.param(empty("stop"), "", "stop", id="empty-stop"),
        pytest.param(empty("content_filter"), "", "error", id="filtered"),
        pytest.param(thinks("yes", "hm"), "<think>hm</think>\nyes", "stop", id="think-tags"),
        pytest.param(says("yes", thinking="hm"), "yes", "stop", id="thinking-apart"),
        pytest.param(calls_tools("bash", text="I will look."), "I will look.", "stop", id="text-and-tools"),
        pytest.param(says("日本語 🎉"), "日本語 🎉", "stop", id="unicode"),
        pytest.param(says("a \ud83d b"), "a \ud83d b", "stop", id="lone-surrogate"),
    ],
)
def test_the_text_and_why_it_ends(rig: Rig, model: str, answer: Answer, text: str, stop_reason: str) -> None:
    rig.server.script(answer)
    done = rig.ask(model)
    assert (done.text, done.stop_reason) == (text, stop_reason)


@pytest.mark.parametrize(
    ("answer", "text", "stop_reason", "known"),
    [
        (
            says("- one 日本 \ud83d", usage=(120, 30)),
            "- one 日本 \ud83d",
            "stop",
            {"input_tokens": 120, "output_tokens": 30},
        ),
        (says("cut o", finish="length", usage=None), "cut o", "length", {}),
        (says("fine", thinking="hm", usage=(9, 1)), "fine", "stop", {"input_tokens": 9, "output_tokens": 1}),
        (wrong_usage(), "fine", "stop", {}),
    ],
    ids=["plain", "cut", "thinking", "wrong-usage"],
)
def test_a_whole_answer_to_a_request_for_a_stream(
    rig: Rig, answer: Answer, text: str, stop_reason: str, known: dict[str, int]
) -> None:
    body = whole_body(answer, OPENAI_FORMAT, "any")
    check(rig, OPENAI, Answer(raw=body, content_type=WHOLE), text, stop_reason, usage(OPENAI, **known))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        pytest.param(b"[" * 100_000, id="deep"),
        b'{"choices": []}',
        b'{"choices": [5]}',
        b'{"choices": [{}]}',
        b'{"error": {"message": "no"}}',
        pytest.param(b" " * (MOST_BYTES + 1), id="huge"),
    ],
)
def test_json_that_is_no_completion(rig: Rig, body: bytes) -> None:
    rig.server.script(Answer(raw=body, content_type=WHOLE))
    assert rig.fail(OPENAI).kind == "malformed"
    assert len(rig.server.requests) == 1


def test_a_completion_is_a_stream_or_none_however_deep_it_is() -> None:
    bodies = [b'{"choices": [{"message": {}}], "x": %b%b}' % (b"[" * deep, b"]" * deep) for deep in range(900, 1010)]
    assert {type(events_of(body)) for body in bodies} <= {bytes, type(None)}


@pytest.mark.req("usage.on-replies")
@BOTH
@pytest.mark.parametrize("answer", [says(usage=None), wrong_usage(), says(usage={})], ids=["none", "wrong", "bare"])
def test_usage_that_nobody_knows_is_null(rig: Rig, model: str, answer: Answer) -> None:
    check(rig, model, answer, "fine", "stop", usage(model))


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        # US dollars for a million tokens: 0.15 in and 0.60 out; 1 in and 5 out.
        ("openai/gpt-4o-mini", 1000 * 0.15e-6 + 100 * 0.60e-6),
        ("anthropic/claude-haiku-4-5", 1000 * 1e-6 + 100 * 5e-6),
        (OPENAI, None),
    ],
)
def test_the_cost_is_known_or_null(rig: Rig, model: str, cost: float | None) -> None:
    rig.server.script(says(usage=(1000, 100)))
    spent = rig.ask(model).usage
    assert spent is not None
    assert spent.cost == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("model", "reasoning", "sent"),
    [
        ("openai/gpt-5-mini", "off", "minimal"),
        ("openai/gpt-5.1", "off", "none"),
        ("openai/o4-mini", "off", "low"),
        ("openai/gpt-5-mini", "default", None),
        ("openai/gpt-4o-mini", "off", None),
        (OPENAI, "off", None),
        ("anthropic/claude-haiku-4-5", "off", None),
    ],
)
def test_reasoning_is_off_in_the_word_of_the_api(rig: Rig, model: str, reasoning: str, sent: str | None) -> None:
    rig.ask(model, reasoning=reasoning)
    body = rig.server.requests[0].body
    assert body.get("reasoning_effort") == sent
    assert "thinking" not in body


def test_a_lone_surrogate_in_a_prompt_leaves_as_a_replacement(rig: Rig) -> None:
    rig.ask(OPENAI, messages=[PromptMessage("user", "a \ud83d b, \ud83d\ude00")])
    assert rig.server.requests[0].body["messages"][0]["content"] == "a \ufffd b, \U0001f600"


def test_a_large_prompt(rig: Rig) -> None:
    text = "x" * 1_000_000
    rig.ask(OPENAI, messages=[PromptMessage("user", text)])
    assert rig.server.requests[0].body["messages"][0]["content"] == text


def test_a_reply_without_end_is_cut(rig: Rig) -> None:
    rig.server.script(says(" ".join(f"{number:01000}" for number in range(200))))
    completion = rig.ask()
    assert (len(completion.text), completion.stop_reason) == (MAX_REPLY_CHARS, "length")
    rig.server.requests[0].wait_gone()


def test_headers_of_the_settings_go_along(rig: Rig) -> None:
    rig.settings = ModelsSettings(api_base=rig.server.openai_base, headers={"X-Team": "blue"})
    rig.run(rig.provider.complete(prompt(OPENAI)))
    request = rig.server.requests[0]
    assert (request.headers["x-team"], request.key) == ("blue", "no-key")


def test_several_calls_at_once(rig: Rig) -> None:
    import asyncio

    rig.server.otherwise = lambda request: says(f"re {request.body['messages'][0]['content']}")

    async def all_of_them() -> list[Completion]:
        prompts = [prompt(OPENAI, messages=[PromptMessage("user", f"call {n}")]) for n in range(20)]
        return await asyncio.gather(*(rig.complete(each) for each in prompts))

    assert [each.text for each in rig.run(all_of_them())] == [f"re call {n}" for n in range(20)]
