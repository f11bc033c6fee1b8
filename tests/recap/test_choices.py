"""The activity gate, the model, and what is current: recap.md, 'State', 'Model', 'Saved and current'."""

import pytest

from afterturn.recap.current import is_current
from afterturn.recap.gate import count_words, has_activity
from afterturn.recap.models import ModelPick, choose_model
from afterturn_protocol.base import Message, ModelChoice, ModelInfo
from tests.recap.talk import call, result, said, user

W29, W30 = "word " * 29, "word " * 30
IMAGE = {"type": "image", "mimeType": "image/png", "data": "AAAA"}

GATE: dict[str, tuple[list[Message], bool]] = {
    "nothing": ([], False),
    "29 words": ([user("a"), said(W29)], False),
    "30 words": ([user("a"), said(W30)], True),
    "over several messages": ([user("a"), said("w " * 15), said("w " * 15)], True),
    "one tool call without text": ([user("a"), said("", call("bash"))], True),
    "a result whose call is gone": ([user("a"), result("x")], True),
    "before the last request": ([user("a"), said(W30), user("b"), said(W29)], False),
    "60 Han characters": ([user("a"), said("字" * 60)], True),
    "59 Han characters": ([user("a"), said("字" * 59)], False),
    "58 Han characters and a word": ([user("a"), said("字" * 58 + " word")], True),
    "an injected message starts no window": ([user("a"), said(W30), user("note", kind="custom")], True),
    "nor a summary": ([user("a"), said(W30), user("sum", kind="compaction")], True),
    "nor a reminder": ([user("a"), said(W30), user("<system-reminder>x</system-reminder>")], True),
    "nor a notification": ([user("a"), said(W30), user("<task-notification>done</task-notification>")], True),
    "nor an omitted message": ([user("a"), said(W30), user("b", omitted=True)], True),
    "nor an empty one": ([user("a"), said(W30), user(""), user(None)], True),
    "an image alone is a request": ([user("a"), said(W30), user([IMAGE])], False),
    "omitted work does not count": ([user("a"), said(W30, omitted=True)], False),
    "a failed turn counts": ([user("a"), said(W30, stop_reason="error")], True),
    "no user message": ([said(W30)], True),
    "thinking does not count": ([user("a"), said([{"type": "thinking", "text": W30}])], False),
    "system does not count": ([user("a"), Message(role="system", content=W30)], False),
}


@pytest.mark.parametrize("name", GATE)
def test_gate(name: str) -> None:
    messages, expected = GATE[name]
    assert has_activity(messages) is expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("a b  c", 3),
        ("汉字", 1),
        ("日本語です", 2.5),
        ("한국", 1),
        ("用pytest测试", 2.5),
        ("Привет мир", 2),
        ("——", 1),
    ],
)
def test_words(text: str, words: float) -> None:
    assert count_words(text) == words


def model(name: str, *others: str) -> ModelInfo:
    provider, _, model_id = name.partition("/")
    offered = [ModelChoice(provider=each.partition("/")[0], id=each.partition("/")[2]) for each in others]
    return ModelInfo(provider=provider, id=model_id, available=offered or None)


LUNA, HAIKU = "gpt-6-luna", "claude-haiku-5-5"
CLAUDE = model("anthropic/claude-opus-5", f"anthropic/{HAIKU}", "anthropic/claude-opus-5")
PICKS: dict[str, tuple[str | None, ModelInfo | None, str | None]] = {
    "set": ("openai/gpt-6", None, "openai/gpt-6"),
    "set, nested id": ("router/anthropic/claude-x", None, "router/anthropic/claude-x"),
    "set wins over the sibling": ("anthropic/claude-opus-5", CLAUDE, "anthropic/claude-opus-5"),
    "set, offered by another provider": ("x/y", model("a/b", "x/y"), "x/y"),
    "haiku": (None, CLAUDE, f"anthropic/{HAIKU}"),
    "haiku not offered": (None, model("anthropic/claude-opus-5", "anthropic/other"), "anthropic/claude-opus-5"),
    "haiku of another provider": (None, model("anthropic/o", f"bedrock/{HAIKU}"), "anthropic/o"),
    "claude of another provider": (None, model("bedrock/claude-opus-5", f"bedrock/{HAIKU}"), "bedrock/claude-opus-5"),
    "luna": (None, model("openai/gpt-6", f"openai/{LUNA}"), f"openai/{LUNA}"),
    "luna by a router": (None, model("router/openai/gpt-6", f"router/openai/{LUNA}"), f"router/openai/{LUNA}"),
    "luna with a variant": (None, model("openai/gpt-6", f"openai/{LUNA}:free"), f"openai/{LUNA}:free"),
    "luna with a version": (None, model("openai/gpt-6", f"openai/{LUNA}@2026"), f"openai/{LUNA}@2026"),
    "no luna": (None, model("openai/gpt-6", "openai/gpt-6-lunatic"), "openai/gpt-6"),
    "not a gpt": (None, model("openai/o9", f"openai/{LUNA}"), "openai/o9"),
    "gpt in the middle of a name": (None, model("x/my-gpt-5", f"x/{LUNA}"), "x/my-gpt-5"),
    "active, nothing known of others": (None, model("kimi/k3"), "kimi/k3"),
    "none": (None, None, None),
}


@pytest.mark.parametrize("name", PICKS)
def test_model(name: str) -> None:
    setting, active, expected = PICKS[name]
    assert choose_model(setting, active, host=True, default="litellm/default") == ModelPick(expected)


@pytest.mark.parametrize("setting", ["nonsense", "", "/x", "x/", "gone/model"])
def test_an_unknown_setting_is_reported_and_not_replaced(setting: str) -> None:
    picked = choose_model(setting, CLAUDE, host=True, default=None)
    assert picked.model is None
    assert repr(setting) in str(picked.problem)


def test_without_a_completing_host_the_settings_decide() -> None:
    assert choose_model(None, CLAUDE, host=False, default="openai/x") == ModelPick("openai/x")
    assert choose_model("a/b", CLAUDE, host=False, default="openai/x") == ModelPick("a/b")
    assert choose_model(None, CLAUDE, host=False, default=None) == ModelPick(None)


@pytest.mark.parametrize(
    ("saved", "today", "host", "expected"),
    [
        ("a", "a", None, True),
        ("a", "b", None, False),
        (None, None, None, False),
        (None, "a", None, False),
        ("a", "b", True, True),
        (None, None, True, True),
        ("a", "a", False, False),
    ],
)
def test_current(saved: str | None, today: str | None, host: bool | None, expected: bool) -> None:
    assert is_current(saved, today, host) is expected
