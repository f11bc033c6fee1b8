"""Protected tools and paths, and the refs of a recovery (condense.md, 'Order of work', 2 and 3; case C14)."""

from typing import Any

import pytest

from afterturn.condense.protect import Protection, recovered_refs

SKILLS = "**/skills/**/*.md"


@pytest.mark.parametrize(
    ("path", "glob", "expected"),
    [
        ("/home/u/.pi/skills/x/SKILL.md", SKILLS, True),
        ("skills/a.md", SKILLS, True),
        ("skills/x/y/a.md", SKILLS, True),
        ("/skills/a.md", SKILLS, True),
        ("C:\\u\\skills\\x\\a.md", SKILLS, True),
        ("myskills/a.md", SKILLS, False),
        ("skills/a.mdx", SKILLS, False),
        ("skills/a.MD", SKILLS, False),
        ("Skills/a.md", SKILLS, False),
        ("skills/a.md/b", SKILLS, False),
        ("a.md", "*.md", True),
        ("x/a.md", "*.md", False),
        ("ab.md", "?.md", False),
        ("a.md", "?.md", True),
        ("/a.md", "?a.md", False),
        ("docs/a/b", "docs/**", True),
        ("docs", "docs/**", False),
        ("a[1].md", "a[1].md", True),
        ("a1.md", "a[1].md", False),
        ("a\nb.md", "*.md", True),
        ("x/" * 3000 + "a.md", "**/*.md", False),
        ("", "*", True),
        ("", "", True),
        ("a/b.txt", "a\\b.txt", True),
        ("a\\b.txt", "a\\b.txt", True),
        ("a\\b.txt", "a/b.txt", True),
        ("x\\skills\\y\\a.md", "**\\skills\\**\\*.md", True),
        ("a/x/yb", "a/**b", True),
        ("ab", "a/**/b", False),
        ("a/b", "a/**/b", True),
        ("a/x/y/b", "a/**/b", True),
        ("b/d", "**/b/**/d", True),
        ("a/b/c", "a/***/c", True),
        ("{a,b}", "{a,b}", True),
        ("axb", "a.b", False),
        ("a/\U0001f600", "a/?", True),
        ("a//", "a/?", False),
        ("\ud83d.md", "*.md", True),
    ],
)
def test_paths(path: str, glob: str, expected: bool) -> None:
    assert Protection([], [glob]).covers("read", {"path": path}) is expected


@pytest.mark.parametrize(
    ("tool", "args", "tools", "expected"),
    [
        ("mcp__memory_read", None, ["mcp__memory*"], True),
        ("mcp__memory", None, ["mcp__memory*"], True),
        ("my_mcp__memory", None, ["mcp__memory*"], False),
        ("todowrite", None, ["todowrite"], True),
        ("todowrite2", None, ["todowrite"], False),
        ("Todowrite", None, ["todowrite"], False),
        ("a.b", None, ["a?b"], False),
        ("anything", None, ["*"], True),
        ("read", {"path": "x/skills/a.md"}, [], True),
        ("read", {"file_path": "x/skills/a.md"}, [], True),
        ("read", {"filePath": "x/skills/a.md"}, [], True),
        ("read", {"name": "x/skills/a.md"}, [], False),
        ("read", {"path": ["x/skills/a.md"]}, [], False),
        ("read", ["x/skills/a.md"], [], False),
        ("read", "x/skills/a.md", [], False),
        ("read", {"path": 3, "file_path": "skills/a.md"}, [], True),
        ("read", '{"path": "x/skills/a.md"}', [], True),
        ("read", ' {"file_path": "skills/a.md"} ', [], True),
        ("read", '{"path": "x/skills/b.txt"}', [], False),
        ("read", '{"path": "x/skills/a.md"', [], False),
        ("read", '["x/skills/a.md"]', [], False),
        ("abbc", None, ["a*c"], True),
        ("abbcd", None, ["a*c"], False),
        ("ac", None, ["a*c"], True),
        ("a", None, ["a*a"], False),
        ("a\nb", None, ["a*"], True),
        ("aXbYc", None, ["a*b*c"], True),
        ("aXcYb", None, ["a*b*c"], False),
        ("any/th:ing", None, ["**"], True),
        ("a\\b", None, ["a/*"], False),
    ],
)
def test_protected(tool: str, args: Any, tools: list[str], expected: bool) -> None:
    assert Protection(tools, [SKILLS]).covers(tool, args) is expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"refs": ["t1", "t2"]}, ["t1", "t2"]),
        ({"toolCallIds": ["t1"]}, ["t1"]),
        ({"ref": "t9"}, ["t9"]),
        ({"refs": ["t1", 3]}, ["t1"]),
        ({"grep": "t1"}, []),
        ({}, []),
        (None, []),
        ("t1", []),
        ('{"refs": ["t1", "t2"]}', ["t1", "t2"]),
        (' {"ref": "t9"}', ["t9"]),
        ('{"refs": ["t1"]', []),
        ('["t1"]', []),
        ('{"a":' * 100_000, []),
    ],
)
def test_recovered_refs(args: Any, expected: list[str]) -> None:
    assert recovered_refs(args) == expected
