"""What of a model's answer is shown, and what happens when there is none."""

from typing import Any

import pytest

from afterturn.completion import CompleterError, Completion
from afterturn_protocol.base import Message
from afterturn_protocol.context import RecapContext
from tests.recap.conftest import Make
from tests.recap.harness import OPUS, USAGE, Model, ran, said, saved, settle, user, work

pytestmark = pytest.mark.anyio

FAILED = CompleterError("provider_unavailable", "The model cannot be reached", retryable=True)


async def test_r03_what_never_ran_is_not_claimed(make: Make) -> None:
    it = make()
    denied = Message(role="tool", content="The user denied this.", tool_call_id="c1", tool_name="bash", is_error=True)
    context = RecapContext(messages=[user("Make the tests pass"), ran("c1", "pytest", "")[0], denied], model=OPUS)
    it.model.reply = "Tests verified and passing."
    it.turn_end(context=context)
    await it.away()
    (recap,) = it.recaps()
    assert recap.origin == "facts"
    assert recap.usage == USAGE, "it was paid for nevertheless"
    assert not any(word in recap.text.lower() for word in ("verified", "passing", "complete"))


@pytest.mark.parametrize("stop_reason", ["length", "error", "aborted"])
async def test_only_a_clean_stop_counts(make: Make, stop_reason: str) -> None:
    it = make()
    it.model.reply = Completion(text="You are fixing the", stop_reason=stop_reason, model="m", usage=USAGE)
    it.turn_end(context=work())
    await it.away()
    assert it.heard == "ready(away,facts)"


async def test_three_failures_pause_and_it_is_said_once(make: Make) -> None:
    it = make()
    it.model.reply = FAILED
    for step in range(5):
        it.turn_end(context=work(step))
        await it.away()
        it.focus()
    assert it.calls == 3
    assert it.heard.count("failed(provider_unavailable)") == 1
    assert it.heard.count("ready(away,facts)") == 3
    assert (await it.now()).recap is not None, "what is asked for is tried"
    it.model.reply = "You are fixing the login redirect in auth.py."
    await it.clock.wait(600)
    it.turn_end(context=work(9))
    await it.away()
    assert it.heard.endswith("ready(away,generated)")


async def test_facts_are_not_shown_again_because_the_model_fails_again(make: Make) -> None:
    it = make()
    it.model.reply = FAILED
    it.turn_end(context=work())
    for _ in range(2):
        await it.away()
        it.focus()
    assert (it.calls, it.heard) == (2, "ready(away,facts)")


async def test_a_used_up_budget_gives_facts_and_no_pause(make: Make) -> None:
    it = make()
    it.model.reply = CompleterError("budget_exceeded", "The limit is reached", retryable=False, called=False)
    for step in range(4):
        it.turn_end(context=work(step))
        await it.away()
        it.focus()
    assert it.heard == " ".join(["ready(away,facts)"] * 4)


async def test_no_secret_is_shown(make: Make) -> None:
    it = make()
    it.model.reply = "You are fixing the login redirect with SECRET7."
    it.open(saved_recap=saved("The key is SECRET7."))
    await settle()
    it.change()
    await it.now(context=RecapContext(messages=[*work().messages, user("use SECRET7")], model=OPUS))
    given = await it.get()
    assert given is not None
    assert "SECRET7" not in given.text
    assert "SECRET7" not in it.recaps()[0].text
    assert "SECRET7" not in it.model.asked[0]["messages"][0].content


async def test_a_bug_in_drafting_frees_the_slot(make: Make) -> None:
    class Broken(Model):
        broken = True

        async def complete(self, purpose: str, messages: Any, **given: Any) -> Completion:
            if self.broken:
                raise ZeroDivisionError
            return await super().complete(purpose, messages, **given)

    model = Broken()
    it = make(model=model)
    assert (await it.now(context=work())).reason == "failed"
    assert it.reports == ["drafting a recap failed: ZeroDivisionError"]
    model.broken = False
    assert (await it.now()).recap is not None


@pytest.mark.parametrize(
    ("request_text", "answer", "reply"),
    [
        ("修复登录重定向", "我查看了登录流程，问题出在重定向之前会话没有保存。" * 4, "您正在修复登录重定向。"),
        (
            "ログインのリダイレクトを直して",
            "ログインの流れを確認しました。原因はまだ分かりません。" * 4,
            "ログインのリダイレクトを直しています。",
        ),
        ("Répare la redirection", "J’ai regardé le flux de connexion. " * 8, "Vous réparez la redirection."),
    ],
    ids=["zh", "ja", "fr"],
)
async def test_a_conversation_in_any_language_has_its_recap(
    make: Make, request_text: str, answer: str, reply: str
) -> None:
    it = make()
    it.model.reply = reply
    it.turn_end(context=RecapContext(messages=[user(request_text), said(answer)], model=OPUS))
    await it.away()
    (recap,) = it.recaps()
    assert (recap.text, recap.origin) == (reply, "generated")
