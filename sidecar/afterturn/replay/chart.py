"""The size of the context over the turns, drawn with characters: pure, and the same without colours."""

from collections.abc import Iterable, Sequence

from afterturn.replay.figures import Point

BOTH = "\u2588"
"""What is there in either case."""
ONLY_BEFORE = "\u2591"
"""What is there without afterturn."""
_WIDEST_TURN = 4
_EIGHTHS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"


def buckets(points: Iterable[Point], count: int, columns: int) -> list[tuple[int, int]]:
    """(before, after) for each column: the peak of the turns that fall into it; a turn may be several columns wide.

    count: of the points.
    """
    if not count or columns < 1:
        return []
    wide = min(columns // count, _WIDEST_TURN) if count <= columns else 1
    used = min(count, columns)
    peaks = [(0, 0)] * used
    for place, point in enumerate(points):
        column = place * used // count
        before, after = peaks[column]
        peaks[column] = (max(before, point.before), max(after, point.after))
    return [peak for peak in peaks for _ in range(wide)]


def column_of(place: int, count: int, columns: int) -> int:
    """The first column of the turn at a place, as `buckets` lays them out."""
    place = min(place, count - 1)
    return place * columns // count if count > columns else place * min(columns // count, _WIDEST_TURN)


def bars(peaks: Sequence[tuple[int, int]], rows: int) -> list[str]:
    """The chart's lines, top first: BOTH up to what is left, ONLY_BEFORE from there up to what there was."""
    top = max((before for before, _ in peaks), default=0)
    if not top or rows < 1:
        return []
    lines: list[str] = []
    for row in range(rows, 0, -1):
        lines.append("".join(_cell(before, after, row, top, rows) for before, after in peaks))
    return lines


def _cell(before: int, after: int, row: int, top: int, rows: int) -> str:
    """One character: it stands for the sizes from (row - 1) to row, in rows of the highest."""
    full = after * rows / top - (row - 1)
    if full >= 1:
        return BOTH
    if full >= 0.5 or (row == 1 and full > 0):
        return _EIGHTHS[max(1, round(full * 8))]
    return ONLY_BEFORE if before * rows / top - (row - 1) >= 0.5 else " "
