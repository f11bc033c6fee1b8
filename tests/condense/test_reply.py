"""Which replies are summaries (condense.md, 'Checking a reply'; case C02; prior art case 43)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.condense.reply import UnusableReplyError, usable_reply


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [[1:read]] a", "- [[1:read]] a"),
        ("\n\n- a\n- b\n\n", "- a\n- b"),
        ("<think>hm\n- no</think>\n- a", "- a"),
        ("<think>hm</think> - a", " - a"),
        ("<thinking>x</thinking>\n<think>y</think>\n- a", "- a"),
        ("<think>x</think> <think>y</think>- a", "- a"),
        ("<think>x</think><think>y</think>\t<reasoning>z</reasoning>- a", "- a"),
        ("<think>x</think>\n\n <think>y</think>- a", "- a"),
        ("<think>x</think>- the <think> tag\n- b", "- the <think> tag\n- b"),
        ("- a <think> tag\n<think>x</think>\n- b", "- a <think> tag\n\n- b"),
        ("hm hm</think>\n- a", "- a"),
        ("- the tag `<think>` is parsed", "- the tag `<think>` is parsed"),
        ("- reads `</think>` too", "- reads `</think>` too"),
        ("```\n- a\n- b\n```", "- a\n- b"),
        ("```markdown\n- a\n```\n", "- a"),
        ("```md\n- a\n```sh\nx\n```\n- b\n```", "- a\n```sh\nx\n```\n- b"),
        ("~~~\n- a\n~~~", "- a"),
        ("- a\n```\nx\n```", "- a\n```\nx\n```"),
        ("```\na\n```\n- b\n```\nc\n```", "```\na\n```\n- b\n```\nc\n```"),
        ("- a\n- " + "b" * 5000, "- a\n- " + "b" * 3997 + "\u2026"),
        ("- [[1:bash]] Error: no such file", "- [[1:bash]] Error: no such file"),
        ("- Error handling is in a.py", "- Error handling is in a.py"),
        ("- I can't tell from [[1:read]] alone", "- I can't tell from [[1:read]] alone"),
        # one of several may say nothing, or no
        ("- [[1:read]] none\n- [[2:bash]] a", "- [[1:read]] none\n- [[2:bash]] a"),
        ("- [[1:read]] I cannot do that\n- [[2:bash]] a", "- [[1:read]] I cannot do that\n- [[2:bash]] a"),
        # and these speak of the work
        ("- [[1:read]] null was returned", "- [[1:read]] null was returned"),
        ("- no output, exit 0", "- no output, exit 0"),
        ("- none of 12 tests failed", "- none of 12 tests failed"),
        ("- nothing to commit, working tree clean", "- nothing to commit, working tree clean"),
        ("- 無効なトークン", "- 無効なトークン"),
        ("- keine Fehler in a.py", "- keine Fehler in a.py"),
        ("- 12", "- 12"),
    ],
)
def test_usable(text: str, expected: str) -> None:
    assert usable_reply(text, "stop") == expected


@pytest.mark.parametrize(
    ("text", "stop_reason", "reason"),
    [
        ("", "stop", "empty"),
        (" \n\t", "stop", "empty"),
        ("<think>only this</think>", "stop", "empty"),
        ("<think>never closed\n- a", "stop", "empty"),
        ("```\n```", "stop", "empty"),
        *(
            (text, "stop", "empty")
            for text in ("null", "[]", "{}", "...", "\u2026", "N/A", "n/a.", "none", "None.", "NULL")
        ),
        *(
            (text, "stop", "empty")
            for text in ("-", "- ", "* \n- \n", "---", "***", "- none\n- null", '""', "(empty)", "无")
        ),
        *((text, "stop", "empty") for text in ("No summary.", "Nothing to report.", "```\nnull\n```", "なし", "keine")),
        ("[[1:read]]\n- [[2:bash]]", "stop", "empty"),
        ("- [[1:read]] N/A\n- [[2:bash]] ...", "stop", "empty"),
        ("- a", "length", "cut"),
        *(("- a", stop, "error") for stop in ("tool_use", "toolUse", "tool_calls", "end_turn", "content_filter", "")),
        ("- a", "error", "error"),
        ("- a", "aborted", "error"),
        ("Error: 503 from upstream", "stop", "error"),
        ("API error (429)", "stop", "error"),
        ('{"error": {"message": "x"}}', "stop", "error"),
        ("Internal Server Error", "stop", "error"),
        ("Rate limit reached", "stop", "error"),
        ("I'm sorry, but I can't help with that.", "stop", "refusal"),
        ("I cannot assist with this request.", "stop", "refusal"),
        ("Sorry, no.", "stop", "refusal"),
        ("As an AI I do not do that", "stop", "refusal"),
        ("I can\u2019t do that", "stop", "refusal"),
        ("- I'm sorry, but I can't.\n- No.", "stop", "refusal"),
        ("- [[1:read]] I cannot help with that.\n- [[2:bash]] I'm unable to.", "stop", "refusal"),
        *(
            (text, "stop", "refusal")
            for text in ("抱歉，我无法协助。", "很抱歉，我不能这样做", "对不起，无法总结", "我无法处理此请求。")
        ),
        *(
            (text, "stop", "refusal")
            for text in (
                "申し訳ありませんが、できません。",
                "すみません、お手伝いできません",
                "죄송하지만 할 수 없습니다",
            )
        ),
        ("Es tut mir leid, aber dabei kann ich nicht helfen.", "stop", "refusal"),
        ("Leider kann ich das nicht.", "stop", "refusal"),
        ("Ich kann diese Anfrage nicht bearbeiten.", "stop", "refusal"),
        ("Je suis d\u00e9sol\u00e9, je ne peux pas vous aider.", "stop", "refusal"),
        ("D\u00e9sol\u00e9e, c'est impossible.", "stop", "refusal"),
        ("Lo siento, no puedo ayudar con eso.", "stop", "refusal"),
        ("Desculpe, n\u00e3o posso ajudar com isso.", "stop", "refusal"),
        ("Mi dispiace, non posso farlo.", "stop", "refusal"),
        ("Извините, я не могу помочь.", "stop", "refusal"),
    ],
)
def test_failures(text: str, stop_reason: str, reason: str) -> None:
    with pytest.raises(UnusableReplyError) as failure:
        usable_reply(text, stop_reason)
    assert failure.value.reason == reason


@given(st.lists(st.sampled_from(["<think>", "</think>", "```", "~~~", "\n", "- a", " ", "[[1:x]]"]), max_size=30))
def test_what_is_usable_stays_usable_as_it_is(pieces: list[str]) -> None:
    try:
        body = usable_reply("".join(pieces), "stop")
    except UnusableReplyError:
        return
    assert body.strip()
