"""What a report shows where there is more than anybody reads."""

import pytest

from afterturn.replay.choosing import best, largest_files, largest_tools, telling
from afterturn.replay.figures import FileFigures, RecapFound, ToolFigures, TraceFound


def recap(turn: int, away_ms: int | None, text: str | None = None) -> RecapFound:
    return RecapFound("s", turn, None, away_ms, text or f"recap {turn}", "facts", None)


@pytest.mark.parametrize(
    ("recaps", "most", "turns"),
    [
        ([], 3, []),
        ([recap(1, 5), recap(2, None)], 3, [1, 2]),
        ([recap(1, 5), recap(2, 9), recap(3, 7), recap(4, None)], 3, [2, 3, 4]),
        ([recap(1, None), recap(2, 9), recap(3, None)], 2, [1, 3]),
        ([recap(1, 5, "same"), recap(2, 9, "same"), recap(3, None)], 3, [2, 3]),
    ],
    ids=["none", "few", "longest pauses and the end", "ends first", "no text twice"],
)
def test_telling(recaps: list[RecapFound], most: int, turns: list[int]) -> None:
    assert [recap.turn for recap in telling(recaps, most)] == turns


def trace(name: str, alpha: float | None = None, *, asked: str = "do", tools: int = 0, at: int = 0) -> TraceFound:
    reflection = None if alpha is None else "because"
    names = [f"tool {number}" for number in range(tools)]
    return TraceFound(name, "s", at, alpha or 0.0, alpha is not None, asked, "done", names, reflection)


@pytest.mark.parametrize(
    "expected",
    [
        [trace("a", 0.9), trace("b", 0.4), trace("c", 0.0), trace("d")],
        [trace("a", 0.1), trace("b", asked="do", tools=9)],
        [trace("a"), trace("b", asked="", tools=9)],
        [trace("a", tools=3), trace("b", tools=1)],
        [trace("a", at=9), trace("b", at=1)],
    ],
    ids=["by alpha", "reflected first", "asked first", "did most", "newest"],
)
def test_best(expected: list[TraceFound]) -> None:
    assert best(reversed(expected)) == expected


def test_largest_files() -> None:
    found = [FileFigures(file=f"{size}", tools=tools(size)) for size in (5, 1, 9, 3)]
    assert [each.file for each in largest_files(found, 3)] == ["5", "9", "3"]
    assert largest_files(found, 4) == found


def tools(*sizes: int) -> dict[str, ToolFigures]:
    return {f"tool {size}": ToolFigures(1, 0, size, size // 2) for size in sizes}


def test_largest_tools() -> None:
    assert [name for name, _ in largest_tools(tools(3, 1, 2), 3)] == ["tool 3", "tool 2", "tool 1"]
    *shown, (rest, figures) = largest_tools(tools(5, 4, 3, 2), 3)
    assert [name for name, _ in shown] == ["tool 5", "tool 4"]
    assert (rest, figures) == ("2 others", ToolFigures(2, 0, 5, 2))
