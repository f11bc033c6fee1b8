"""Globs against a matcher that tries everything, and on what makes trying everything take for ever."""

import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.condense.globs import NameGlob, PathGlob


@cache
def fits(glob: str, path: str) -> bool:
    """The rules of condense.md, 'Order of work', 3, one alternative after the other."""
    if not glob:
        return not path
    if glob.startswith("**/"):
        after = (path[at + 1 :] for at in range(len(path)) if path[at] == "/")
        return fits(glob[3:], path) or any(fits(glob[3:], rest) for rest in after)
    if glob.startswith("**"):
        return any(fits(glob[2:], path[at:]) for at in range(len(path) + 1))
    if glob[0] == "*":
        return fits(glob[1:], path) or (path[:1] not in ("", "/") and fits(glob, path[1:]))
    if not path or (path[0] == "/" if glob[0] == "?" else path[0] != glob[0]):
        return False
    return fits(glob[1:], path[1:])


@cache
def names(pattern: str, name: str) -> bool:
    """The same for the names of tools, in which only `*` is anything but itself."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(names(pattern[1:], name[at:]) for at in range(len(name) + 1))
    return name[:1] == pattern[0] and names(pattern[1:], name[1:])


globs = st.lists(st.sampled_from(["**/", "**", "*", "?", "/", "a", "b", "."]), max_size=8).map("".join)
paths = st.text("ab./", max_size=9)


@given(globs, paths)
def test_paths_fit_as_the_rules_say(glob: str, path: str) -> None:
    assert PathGlob(glob).matches(path) is fits(glob, path)


@given(st.text("ab*?", max_size=7).filter(lambda pattern: "*" in pattern), st.text("ab?\n", max_size=8))
def test_names_fit_as_the_rules_say(pattern: str, name: str) -> None:
    assert NameGlob(pattern).matches(name) is names(pattern, name)


@given(globs, paths)
def test_a_backslash_is_a_slash_on_either_side(glob: str, path: str) -> None:
    assert PathGlob(glob.replace("/", "\\")).matches(path) is fits(glob, path)
    assert PathGlob(glob).matches(path.replace("/", "\\")) is fits(glob, path)


LENGTH = 4_000


def seconds(glob: PathGlob | NameGlob, text: str) -> float:
    begin = time.process_time()
    assert glob.matches(text) is False
    return time.process_time() - begin


# Each text ends as its pattern does, so that no look at the ends can answer; what is missing stands in the middle.
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("glob", "unit", "end"),
    [
        (PathGlob("**/a/**/a/**/a/**/a/**/a/**/y.md"), "a/", "xy.md"),
        (PathGlob("**/src/**/test/**/fixtures/**/absent/**/*.json"), "src/test/fixtures/", "b.json"),
        (PathGlob("*a*a*a*a*a*c*b"), "a", "b"),
        (PathGlob("**a**a**a**a**a**c**b"), "a", "b"),
        (PathGlob("?*" * 12 + "c?*b"), "a", "b"),
        (PathGlob("**/" * 12 + "*c*/b"), "a/", "b"),
        (PathGlob("*a" * 200 + "*c*b"), "a", "b"),
        (NameGlob("*a*a*a*a*a*c*b"), "a", "b"),
        (NameGlob("*ab" * 50 + "*c*b"), "ab", "b"),
    ],
    ids=range(9),
)
def test_four_times_the_text_takes_about_four_times_as_long(glob: PathGlob | NameGlob, unit: str, end: str) -> None:
    """A guard against what explodes, not a benchmark, as in the tests of redaction."""
    one, four = unit * (LENGTH // len(unit)) + end, unit * (4 * LENGTH // len(unit)) + end
    assert any(seconds(glob, four) <= 8 * seconds(glob, one) + 0.05 for _ in range(3))
