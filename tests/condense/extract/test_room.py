"""How many chars a call's bullets get, and what is written into them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.condense.extract.call import read_call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.render import REF_CHARS, render, room_for
from afterturn.condense.extract.view import ToolView


def _lines(digest: Digest, chars: int = 4000) -> list[str]:
    return render(read_call(ToolView("bash", {}, "x" * chars)), digest)


# evaluation.md, 'Quality': at most a tenth of what is big is kept, the words about the ref included.
@given(st.integers(3_200, 5_000_000))
def test_a_big_result_keeps_less_than_a_tenth(chars: int) -> None:
    room = room_for(chars)
    assert room.total <= chars // 10
    assert room.total + REF_CHARS <= max(chars // 10, 260)


@given(st.integers(0, 200_000), st.integers(0, 40))
def test_more_text_or_more_problems_get_no_less_room(chars: int, problems: int) -> None:
    room = room_for(chars, problems)
    assert room.facts >= room.total
    assert room_for(chars, problems + 1).facts >= room.facts
    if chars >= 4800:
        assert room_for(chars + 1, problems).total >= room.total


def test_room_has_a_ceiling() -> None:
    assert room_for(10**9).total == room_for(10**6).total == 2600
    assert room_for(10**9, 100).facts == 3600


@pytest.mark.parametrize(
    ("digest", "lines"),
    [
        (Digest(), ["- bash"]),
        (Digest("make all"), ["- bash make all"]),
        (Digest("bash make"), ["- bash make"]),
        (Digest("make", ["exit code 2", "", "lines 1-4 of 9"]), ["- bash make -> exit code 2; lines 1-4 of 9"]),
        (Digest("make", facts=[Group("at", ["a.c:1", "b.c:2"])]), ["- bash make", "- at: a.c:1, b.c:2"]),
        (
            Digest(
                "make",
                facts=[Group("", ["a.c", "a.c", "lib/parse/b.c"])],
                names=[Group("", ["load", "lib/parse/b.c"], " ")],
            ),
            ["- bash make", "- a.c, lib/parse/b.c", "- load"],
        ),
        (Digest("make", names=[Group("keys", lambda: ["late"])]), ["- bash make", "- keys: late"]),
        (
            Digest("make", facts=[Group("says", ["it said `so' and \"then"])]),
            ["- bash make", "- says: it said 'so' and then"],
        ),
        (Digest("make", facts=[Group("at", ["b", "a"], order=[1, 0])]), ["- bash make", "- at: a, b"]),
    ],
    ids=range(9),
)
def test_lines(digest: Digest, lines: list[str]) -> None:
    assert _lines(digest) == lines


# A big result is not read for the names that a few chars would hold; a list that is there is told.
@pytest.mark.parametrize(("left", "said"), [(200, True), (20, False)])
def test_names_are_not_looked_for_to_fill_a_few_chars(left: int, said: bool) -> None:
    told = Group("", ["w" * (room_for(4000).total - len("- bash") - left)])
    assert ("late" in "\n".join(_lines(Digest(names=[told, Group("names", lambda: ["late"], " ")])))) is said
    assert "here" in "\n".join(_lines(Digest(names=[told, Group("", ["here"])])))


def test_what_does_not_fit_is_left_out_whole() -> None:
    paths = [f"src/{'deep/' * 12}file_{number}.py" for number in range(50)]
    said = _lines(Digest("find", names=[Group("", paths)]))[1]
    assert said.removeprefix("- ").split(", ") == paths[: said.count(", ") + 1]


def test_prose_that_does_not_fit_is_cut_after_a_word() -> None:
    words = [f"word{number}" for number in range(300)]
    said = _lines(Digest("x", names=[Group("says", [" ".join(words)], cut=True)]))[1]
    kept = said.removeprefix("- says: ").removesuffix("\u2026").split()
    assert kept == words[: len(kept)]
    assert said.endswith("\u2026")
    assert len(kept) > 10


def test_a_group_leaves_room_for_the_next() -> None:
    first = Group("first", [f"one_{number}" for number in range(200)], share=50)
    second = Group("second", [f"two_{number}" for number in range(200)])
    said = _lines(Digest("x", names=[first, second]), 40_000)[1]
    assert said.count("one_") > 20
    assert said.count("two_") > 20


def test_no_facts_are_lost_to_a_tight_budget() -> None:
    places = [f"src/part_{number}/file.c:{number}" for number in range(20)]
    digest = Digest("make", facts=[Group("at", places)])
    digest.problems = 20
    assert all(place in _lines(digest)[1] for place in places[:15])
