"""What is refused, and the copy without secrets (capture.md, 'Input'; store.md, 'Redaction'; case S01)."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from afterturn.capture.reading import TOO_DEEP, bounded, checked, redacted
from afterturn.misfits import InvalidInputError
from afterturn.redact import Redactor
from afterturn_protocol.capture import EpisodeFinalizedParams
from afterturn_protocol.settings import CaptureSettings
from tests.capture.harness import capture, episode, hide, says, tool, user
from tests.redact.fakes import KEYS, pem

GOOD = {"episode": {"id": "e", "sessionId": "s", "turns": []}}


def params(**changes: Any) -> EpisodeFinalizedParams:
    return msgspec.convert(GOOD | changes, EpisodeFinalizedParams)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"episode": GOOD["episode"] | {"id": " "}}, "$.episode.id"),
        ({"episode": GOOD["episode"] | {"sessionId": ""}}, "$.episode.sessionId"),
        ({"idempotencyKey": ""}, "$.idempotencyKey"),
        ({"closedBy": "tired"}, "$.closedBy"),
        ({"options": {"granularity": "word"}}, "$.options.granularity"),
        ({"options": {"batchMode": "all"}}, "$.options.batchMode"),
        ({"options": {"reflectionContextMode": "none"}}, "$.options.reflectionContextMode"),
        ({"options": {"resultDetail": "some"}}, "$.options.resultDetail"),
        ({"options": {"downstreamStepCount": 4}}, "$.options.downstreamStepCount"),
        ({"options": {"llmConcurrency": 0}}, "$.options.llmConcurrency"),
        ({"options": {"maxTextChars": 0}}, "$.options.maxTextChars"),
    ],
)
def test_what_is_refused_is_named(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        checked(params(**changes), CaptureSettings())
    assert refused.value.path == path


def test_options_lie_over_the_settings() -> None:
    settings = CaptureSettings(max_text_chars=99, batch_threshold=3)
    given = params(closedBy="abandoned", options={"batchThreshold": 0, "synthReflections": True})
    merged = checked(given, settings)
    assert (merged.max_text_chars, merged.batch_threshold, merged.synth_reflections) == (99, 0, True)
    assert checked(params(), settings) is settings


def test_secrets_go_from_every_field_and_ids_stay() -> None:
    told = tool(
        "login SECRET9",
        "SECRET1",
        input={"SECRET2": ["SECRET3"]},
        args="SECRET4",
        output={"a": "SECRET5"},
        result="SECRET6",
        errorCode="SECRET7",
        thinkingBefore="SECRET8",
        assistantTextBefore="SECRET1",
        toolCallId="id-SECRET1",
    )
    listed = {
        "name": "n",
        "input": {"a": "SECRET1"},
        "output": "SECRET2",
        "errorCode": "SECRET3",
        "thinkingBefore": "SECRET4",
        "assistantTextBefore": "SECRET5",
    }
    given = episode(
        user([{"type": "text", "text": "SECRET1"}, {"type": "image", "mimeType": "image/png", "data": "AAAA"}]),
        says("SECRET2", id="SECRET1", reflection="SECRET3", agentThinking="SECRET4", toolCalls=[listed]),
        told,
        intent={"kind": "SECRET1", "reason": "SECRET2"},
        status="SECRET3",
    )
    clean, count = redacted(given, hide)
    text = msgspec.json.encode(clean).decode()
    # what is left: the id of the call, the id of the turn
    assert text.count("SECRET") == 2
    assert count == text.count("[REDACTED:x]") == 22
    assert "AAAA" not in text
    assert redacted(clean, hide) == (clean, 0)


def test_the_real_redactor_knows_names_beside_values() -> None:
    given = episode(user("q"), says("a", toolCalls=[{"name": "n", "input": {"password": "hunter22hunter"}}]))
    clean, count = redacted(given, Redactor().redact)
    assert "hunter22" not in msgspec.json.encode(clean).decode()
    assert count == 1


def test_an_episode_without_secrets_stays_as_it_is() -> None:
    given = episode(user("q"), says("x\ud83d", agentThinking=""), tool("n", None, input=[1, None, True]))
    assert redacted(given, hide) == (given, 0)


SECRETS = [secret for secrets in KEYS.values() for secret in secrets] + [pem(), "password = 'Xk29vLpQ77zz'", "plain"]
HALVES = ["", "password:", "token=", '"', "-----BEGIN", "x", "curl -u ", "Authorization: Bearer"]
BITS = st.sampled_from([*SECRETS, *HALVES])


@drawn(st.lists(st.tuples(BITS, BITS), min_size=1, max_size=5))
def test_one_pass_over_all_texts_finds_what_a_pass_over_each_finds(parts: list[tuple[str, str]]) -> None:
    redact = Redactor().redact
    turns = [turn for said, told in parts for turn in (user(said), tool("n", None, input={"text": [told]}))]
    clean, count = redacted(episode(*turns), redact)
    expected = [redact(text) for pair in parts for text in pair]
    found = [turn.meta.input["text"][0] if turn.meta else turn.content for turn in clean.turns]
    assert found == [text for text, _ in expected]
    assert count == sum(sum(counts.values()) for _, counts in expected)


@pytest.mark.parametrize(
    "given_input",
    [
        {"password": "hunter22hunter"},
        {"env": [{"name": "DB_PASSWORD", "value": "hunter22hunter"}]},
        ["run", "--password", "hunter22hunter"],
        {"headers": {"Cookie": "sid=hunter22hunter"}},
        {"apiKey": "hunter22hunter"},
        {"deep": {"list": [{"accessToken": "hunter22hunter"}]}},
    ],
)
def test_names_beside_values_are_seen_wherever_they_stand(given_input: Any) -> None:
    listed = {"name": "n", "output": given_input}
    given = episode(user("q"), tool("n", "x", input=given_input), says("a", toolCalls=[listed]))
    clean, count = redacted(given, Redactor().redact)
    assert "hunter22" not in msgspec.json.encode(clean).decode()
    assert count == 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    "make", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: {"content": [inner]}]
)
async def test_values_may_be_nested_as_deep_as_the_wire_lets_them(make: Callable[[Any], Any]) -> None:
    value: Any = "SECRET1"
    for _ in range(400):
        value = make(value)
    # Once as a value, once twice in a row for the comparison of steps, once as text that becomes a call.
    told = tool("n", None, input=value, output=value)
    listed = {"name": "n", "input": value}
    text = tool(None, json.dumps({"name": "n", "input": value}))
    block = {"type": "x", "content": [value]}
    turns = [turn for _ in range(2) for turn in (user([block]), says("a", toolCalls=[listed]), told, text)]
    clean, _ = redacted(episode(*turns), hide)
    msgspec.json.encode(clean)
    captured = await capture(clean, max_text_chars=60)
    assert len(captured.rows) == 1
    assert "SECRET" not in msgspec.json.encode(captured.result).decode()


def test_what_is_too_deep_is_left_out() -> None:
    assert bounded([[["x"]]], 2) == [[TOO_DEEP]]
    assert bounded({"a": {"b": 1}}, 2) == {"a": {"b": 1}}
