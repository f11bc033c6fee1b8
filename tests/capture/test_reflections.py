"""Finding reflections (capture.md, 'Reflection'; prior-art/capture.md, section 5, case 19)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.capture.reflections import MAX_CHARS, extracted

WHY = "the cache was stale"
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
        # Chinese
        ("我这么做是因为缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        ("完成。我这样做是因为缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        ("我这么做因为缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        (f"我这样做的原因是{COLON}缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        ("我这么做的理由是缓存已经过期了需要清理", "缓存已经过期了需要清理"),
        (f"思考过程如下{COLON}\n先看日志,再清理缓存,最后重试", "先看日志,再清理缓存,最后重试"),
        (f"思考过程{COLON}先看日志,再清理缓存,最后重试", "先看日志,再清理缓存,最后重试"),
        ("我这么做是因为过期了", None),
        # fenced code never counts
        (f"```\n### Why\n{WHY}\n```", None),
        (f"```\n<reflection>{WHY}</reflection>\n```", None),
        ("```yaml\nReflection: I cleared it because it was old\n```", None),
        (f"### Why\n{WHY}\n```\n# a comment\n```\nand that", f"{WHY}\n\n\n\nand that"),
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
