"""Labels become refs or disappear (seed per-bullet-summary-refs, 'Testing approach'; condense.md, 'Inline refs')."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afterturn.condense.footer import footer, without_footer
from afterturn.condense.labels import label, strip_labels, substitute_inline_refs
from afterturn.fences import OUTSIDE, fence_kind, mark_fences

REFS = ["t1", "t2"]
TOOLS = ["read", "bash"]


def check(text: str, expected: str, refs: list[str] = REFS, tools: list[str] = TOOLS) -> None:
    assert substitute_inline_refs(text, refs, tools) == expected
    assert substitute_inline_refs(expected, refs, tools) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the seed's own list
        ("- [[1:read]] Read a.ts", "- `t1` Read a.ts"),
        ("- [[1:read]] a\n- [[2:bash]] b", "- `t1` a\n- `t2` b"),
        ("- [[2:read]] x", "- x"),
        ("- [[1:Read]] x", "- `t1` x"),
        ("- [[1: READ ]] x", "- `t1` x"),
        ("- [[9:read]] x", "- x"),
        ("- no label here", "- no label here"),
        ("- [[2:bash]] a\n- [[2:bash]] b", "- `t2` a\n- `t2` b"),
        ("- [[1:read]]    x", "- `t1` x"),
        ("- [[1:read]]x", "- `t1` x"),
        ("look at argv[1] and items[0]", "look at argv[1] and items[0]"),
        ("```\n[[1:read]] x\n```", "```\n[[1:read]] x\n```"),
        # deleted where the seed's list would leave them (condense.md)
        ("see [[1:read]] there", "see there"),
        ("- **[[1:read]]** x", "- **** x"),
        ("`[[1:read]]` x", "`` x"),
        ("1. [[1:read]] x", "1. x"),
        ("> [[1:read]] x", "> x"),
        # and more
        ("[[1:read]] x", "`t1` x"),
        ("* [[1:read]] x", "* `t1` x"),
        ("  - [[1:read]] x", "  - `t1` x"),
        ("- [[0:read]] x", "- x"),
        ("- [[01:read]] x", "- `t1` x"),
        ("- [[" + "9" * 5000 + ":read]] x", "- x"),
        ("- [[1:read]] [[2:bash]] x", "- `t1` x"),
        ("- [[1:read]]", "- `t1` "),
        ("- [[[[1:a]]1:read]] x", "- x"),
        ("x [[1:[[1:a]]b]] y", "x b]] y"),
        ("x [[[[[[1:a]]1:b]]1:c]] y", "x y"),
        ("[[Page]] and [[a:b]]", "[[Page]] and [[a:b]]"),
        ("- [[\u0661:read]] x", "- [[\u0661:read]] x"),
        ("- [[1:read\n]] x", "- [[1:read\n]] x"),
        ("- [[1:read]] a\r\n- [[2:bash]] b\r\n", "- `t1` a\r\n- `t2` b\r\n"),
        ("", ""),
        # fences
        ("~~~\n[[1:read]] x\n~~~", "~~~\n[[1:read]] x\n~~~"),
        ("  ```py\n[[1:read]] x\n```\n[[1:read]] y", "  ```py\n[[1:read]] x\n```\n`t1` y"),
        ("```\n[[1:read]] x", "```\n`t1` x"),
        ("```\n[[1:read]] x\n~~~\n[[2:bash]] y", "```\n`t1` x\n~~~\n`t2` y"),
        ("```\n~~~\n[[1:read]] x\n```\n[[1:read]] y", "```\n~~~\n[[1:read]] x\n```\n`t1` y"),
        ("```\na\n```\n```\n[[1:read]] x", "```\na\n```\n```\n`t1` x"),
        ("[[1:read]] ```\n[[2:bash]] x\n```", "`t1` ```\n`t2` x\n```"),
        # behind a list mark or a quote it is none: a line has to begin with it
        ("- ```py\n[[1:read]] x\n- ```", "- ```py\n`t1` x\n- ```"),
        ("* ~~~\n  [[1:read]] x\n* ~~~", "* ~~~\n  `t1` x\n* ~~~"),
        ("1. ```\n   [[1:read]] x\n   ```", "1. ```\n   `t1` x\n   ```"),
        ("> ```\n> [[1:read]] x\n> ```", "> ```\n> x\n> ```"),
        ("- ```py\n  ```\n[[1:read]] x\n  ```", "- ```py\n  ```\n[[1:read]] x\n  ```"),
        # a label that hides a fence: what counts is what is left of the line
        ("[[9:x]]```\n[[1:read]] x\n```", "```\n[[1:read]] x\n```"),
        ("[[9:x]]```\n```\n[[1:read]] x\n```", "```\n```\n`t1` x\n```"),
        ("``` [[1:read]]\nx\n```", "``` \nx\n```"),
    ],
)
def test_substitution(text: str, expected: str) -> None:
    check(text, expected)


@pytest.mark.parametrize(
    ("tool", "written"),
    [
        ("server.tool", "server.tool"),
        ("a:b", "a:b"),
        ("od]d", "od_d"),
        ("two\nlines", "two_lines"),
        ("cr\rps\u2029", "cr_ps_"),
        ("[odd", "[odd"),
        ("", "_"),
        ("  ", "_"),
        ("\u540d\u524d", "\u540d\u524d"),
    ],
)
def test_tool_names_in_labels(tool: str, written: str) -> None:
    assert label(1, tool) == f"[[1:{written}]]"
    check(f"- {label(1, tool)} x", "- `t7` x", ["t7"], [tool])


def test_the_short_id_is_written_as_it_is() -> None:
    check("- [[1:read]] x", "- `t12` x", ["t12"], ["read"])


@pytest.mark.parametrize(
    ("refs", "tool", "expected"),
    [
        (
            ["t12", "t3", "t7"],
            "context_tree_query",
            "\n\n---\n**Summarized tool refs**: `t12`, `t3`, `t7`\n"
            "Use `context_tree_query` with these refs to retrieve the original full outputs.",
        ),
        (
            ["t1"],
            "recall",
            "\n\n---\n**Summarized tool refs**: `t1`\n"
            "Use `recall` with these refs to retrieve the original full outputs.",
        ),
    ],
)
def test_footer_to_the_byte(refs: list[str], tool: str, expected: str) -> None:
    assert footer(refs, tool) == expected
    assert without_footer("- a" + expected) == "- a"


def test_a_text_without_a_footer_keeps_its_rules() -> None:
    text = "- a\n\n---\n- b"
    assert without_footer(text) == text


def test_inline_refs_and_footer_name_the_same_refs() -> None:
    body = substitute_inline_refs("- [[1:read]] a\n- [[2:bash]] b", ["t8", "t9"], TOOLS)
    assert re.findall(r"`(t\d+)`", body) == re.findall(r"`(t\d+)`", footer(["t8", "t9"], "q"))


BLANKS = ("\n", "\n- ", "\n* ", " ", "\r\n", "\u0661", "\ud83d")
PIECES = st.sampled_from(
    (*("[[", "]]", "[[1:read]]", "[[2:bash]]", "[[2:read]]", "[[9:x]]", "[[1:", "1", ":", "read", "]"), *BLANKS)
) | st.sampled_from(("`", "```", "~~~", "x", "t1", "**", "[[Page]]"))
TEXTS = st.lists(PIECES, max_size=25).map("".join)
ANY_LABEL = re.compile(r"\[\[[0-9]+:[^\]\n]+\]\]")


def outside(text: str) -> list[str]:
    lines = text.split("\n")
    marks = mark_fences([fence_kind(line) for line in lines])
    return [line for line, mark in zip(lines, marks, strict=True) if mark == OUTSIDE]


LABEL_THEN_BLANKS = re.compile(r"\[\[[0-9]+:[^\]\n]+\]\]\s*")


@given(st.lists(st.sampled_from(["[[", "[", "]", "]]", "1", ":", "a", " ", "[[1:a]]", "\t"]), max_size=20).map("".join))
def test_stripping_is_what_the_regex_says(line: str) -> None:
    expected = line
    while LABEL_THEN_BLANKS.search(expected):
        expected = LABEL_THEN_BLANKS.sub("", expected)
    assert strip_labels(line) == expected


@given(TEXTS)
@example("[[9:x]]```\n```\n[[1:read]]\n```")
def test_no_label_is_left_outside_fences(text: str) -> None:
    done = substitute_inline_refs(text, REFS, TOOLS)
    assert not [line for line in outside(done) if ANY_LABEL.search(line)]


@given(TEXTS)
@example("[[9:x]]```\n```\n[[1:read]]\n```")
def test_idempotent(text: str) -> None:
    done = substitute_inline_refs(text, REFS, TOOLS)
    assert substitute_inline_refs(done, REFS, TOOLS) == done


@given(st.lists(st.sampled_from(["[[1:read]] a", "- [[2:bash]] b", "[[9:x]] c", "text", "~~~", "- `t1`"]), max_size=6))
def test_fenced_text_is_untouched(inner: list[str]) -> None:
    block = "\n".join(["```sh", *inner, "```"])
    assert substitute_inline_refs(f"- [[1:read]] x\n{block}\n[[2:bash]] y", REFS, TOOLS) == (
        f"- `t1` x\n{block}\n`t2` y"
    )


@given(TEXTS, st.lists(st.sampled_from(["t5", "t77", "t123"]), max_size=2, unique=True))
def test_only_given_refs_are_emitted(text: str, refs: list[str]) -> None:
    done = substitute_inline_refs(text.replace("`", ""), refs, TOOLS)
    assert set(re.findall(r"`([^`]*)`", done)) <= set(refs)


@given(st.text(alphabet="ab[]`~\n:1 -", max_size=60))
def test_text_without_labels_is_unchanged(text: str) -> None:
    if not ANY_LABEL.search(text):
        assert substitute_inline_refs(text, REFS, TOOLS) == text
