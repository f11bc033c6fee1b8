"""Finding reflections (capture.md, 'Reflection'; prior-art/capture.md, section 5, case 19)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.capture.reflections import MAX_CHARS, extracted

WHY = "the cache was stale"
LONG = "I chose the cache fix because it hid the error."
CHINESE = "因为缓存隐藏了真正的错误所以先清理它"
COLON = "\uff1a"


def check(text: str, expected: str | None) -> None:
    assert extracted(text) == expected


@pytest.mark.parametrize("heading", ["# Reasoning", "## Rationale", "### Why", "#### Reflection", "### 思考",
    "### 思考过程",
    "### 思考过程如下", "## 我的理由", "### Reasoning:", f"### 思考{COLON}", "### REASONING", "### **Why**", "### Why?",
    "**Reasoning**", "**Rationale:**", "__Why__", "### Reasoning ###"])  # fmt: skip
def test_headings(heading: str) -> None:
    check(f"Fixed.\n\n{heading}\n{WHY}\n", WHY)
    check(f"{heading}\n\n{WHY}", WHY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # paragraphs up to the next heading
        (f"### Why\n{WHY}\n\nand so on\n\n## Next\nmore", f"{WHY}\n\nand so on"),
        (f"### Why\n{WHY}\n**Result**\nfine", WHY),
        (f"**Reasoning:** {WHY}\nand more", f"{WHY}\nand more"),
        (f"**Reasoning**: {WHY}", WHY),
        ("##### Why\nthe cache was stale", None),
        ("###Why\nthe cache was stale", None),
        ("### Why not\nthe cache was stale", None),
        ("this is **why** the cache was stale", None),
        ("**Why** the cache was stale nobody knows", None),
        ("### Why\nshort", None),
        ("### Why\n先看日志再修复", "先看日志再修复"),
        # tags
        (f"Done. <reflection>{WHY}</reflection>", WHY),
        (f"<REFLECTION>\n{WHY}\n</REFLECTION> tail", WHY),
        (f"<reflection>{WHY}", None),
        # labels at a line start, body of at least 20 chars
        ("Reflection: I cleared it because it was old", "I cleared it because it was old"),
        (f"x\nReasoning{COLON} I cleared it because it was old", "I cleared it because it was old"),
        ("Rationale: I cleared it first.\n\nThen I ran it.", "I cleared it first.\n\nThen I ran it."),
        ("Reflection: exactly 19 chars..", None),
        ("Reflection: exactly 20 chars....", "exactly 20 chars...."),
        ("My Reflection: I cleared it because it was old", None),
        # settings are no explanation
        ("model: big\nreasoning: high effort with extended thinking\n", None),
        ("reasoning: high effort with extended thinking", None),
        ("reasoning: I cleared it because it was old", "I cleared it because it was old"),
        (f"reasoning{COLON}high effort with extended thinking", "high effort with extended thinking"),
        ("name: foo\nReasoning: enabled for all the models\nverbosity: low", None),
        ("name: foo\nReasoning: I enabled it for all models\nsize: 3", "I enabled it for all models\nsize: 3"),
        ("Result: ok\nReasoning: enabled for all the models\nNext: none", "enabled for all the models\nNext: none"),
        ("name: foo\nReasoning: enabled for all the models", "enabled for all the models"),
        # Chinese
        ("我这么做是因为缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        ("完成。我这样做是因为缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        ("我这么做因为缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        (f"我这样做的原因是{COLON}缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        ("我这么做的理由是缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        (f"思考过程如下{COLON}\n先看日志,再清理缓存,最后重试", "先看日志,再清理缓存,最后重试"),
        (f"思考过程{COLON}先看日志,再清理缓存,最后重试", "先看日志,再清理缓存,最后重试"),
        (f"思考过程如下\n{CHINESE}", CHINESE),
        (f"我的思考过程如下{COLON}{CHINESE}", CHINESE),
        (f"完成。思考过程如下{COLON}{CHINESE}", CHINESE),
        (f"我的思考过程{COLON}{CHINESE}", None),
        ("我这么做是因为过期了", None),
        # fenced code never counts
        (f"```\n### Why\n{WHY}\n```", None),
        (f"```\n<reflection>{WHY}</reflection>\n```", None),
        ("```yaml\nReflection: I cleared it because it was old\n```", None),
        (f"````md\n```\n## Why\n{WHY}\n```\n````", None),
        (f"~~~~\n~~~\n## Why\n{WHY}\n~~~~", None),
        (f"```python\nx = 1\n```py\n## Why\n{WHY}\n```", None),
        (f"```\nx = 1\n~~~\n## Why\n{WHY}\n```", None),
        (f"```python\nx = 1\n## Why\n{WHY}", None),
        (f"    ```\n    x\n    `````\n## Why\n{WHY}", WHY),
        (f"```ls``` lists.\n\n## Why\n{WHY}", WHY),
        # but code in a body, up to the next heading, is part of it, unless there is nothing else
        (f"### Why\n{WHY}\n```\n# a comment\n```\nand that", f"{WHY}\n```\n# a comment\n```\nand that"),
        (f"### Why\n{WHY}\n```\n# a comment\n```\n## Next\nmore", f"{WHY}\n```\n# a comment\n```"),
        (f"<reflection>{WHY}\n```\n</reflection>\n```\n</reflection>", f"{WHY}\n```\n</reflection>\n```"),
        ("### Why\n```\nthe cache was stale\n```", None),
        # lines that end in CRLF
        (f"Fixed.\r\n\r\n## Reasoning\r\n{WHY}\r\n\r\nand so on\r\n\r\n## Next\r\nx", f"{WHY}\n\nand so on"),
        (f"**Reasoning**\r\n{WHY}\r\n", WHY),
        (f"**Reasoning:**\r\n\r\n{WHY}", WHY),
        (f"Done.\r\n\r\nReasoning: {LONG}\r\nmore", f"{LONG}\nmore"),
        (f"### 思考过程{COLON}\r\n{CHINESE}", CHINESE),
        (f"我这样做是因为{CHINESE}\r\n", CHINESE),
        (f"```\r\n## Why\r\n{WHY}\r\n```\r\n", None),
        # order
        (f"Reflection: I cleared it because it was old\n### Why\n{WHY}", WHY),
        ("", None),
        ("Nothing of the kind.", None),
    ],
)  # fmt: skip
def test_forms(text: str, expected: str | None) -> None:
    check(text, expected)


def test_at_most_1500_chars() -> None:
    found = extracted("### Why\n" + "x" * 5000)
    assert found is not None
    assert len(found) == MAX_CHARS == 1500


@given(st.lists(st.sampled_from(["### Why\n", "**Why**", "```\n", "text text text\n", "<reflection>", "Reflection: "])))
def test_what_is_found_is_in_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    found = extracted(text)
    assert found is None or all(line in text for line in found.split("\n"))
