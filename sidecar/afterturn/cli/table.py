"""Text in columns, for terminals: wide characters count two."""

from collections.abc import Sequence

from afterturn.text import cut_width, width

GAP = 2


def fitting(
    rows: Sequence[Sequence[str]], columns: int | None, *, expendable: Sequence[int], shortest_last: int
) -> list[list[str]]:
    """The rows with as few columns left out as it takes for the last one to get `shortest_last` of `columns`.

    expendable: indexes of the columns that may go, the first to go first. columns: of the terminal; None keeps all.
    """
    widths = [max(width(row[index]) for row in rows) + GAP for index in range(len(rows[0]) - 1)]
    gone: set[int] = set()
    if columns is not None:
        for index in expendable:
            if sum(widths) + shortest_last <= columns:
                break
            gone.add(index)
            widths[index] = 0
    return [[cell for index, cell in enumerate(row) if index not in gone] for row in rows]


def aligned(rows: Sequence[Sequence[str]], columns: int | None, *, shortest_last: int = 0) -> list[str]:
    """One line a row, its cells under each other; the last cell is cut where the line would be over `columns`.

    columns: of the terminal; None cuts nothing. shortest_last: columns that the last cell gets in any case.
    """
    if not rows:
        return []
    widths = [max(width(row[index]) for row in rows) for index in range(len(rows[0]) - 1)]
    left = None if columns is None else max(columns - sum(widths) - GAP * len(widths), shortest_last)
    lines: list[str] = []
    for row in rows:
        cells = [cell + " " * (space - width(cell) + GAP) for cell, space in zip(row, widths, strict=False)]
        last = row[-1] if left is None else cut_width(row[-1], left)
        lines.append(("".join(cells) + last).rstrip())
    return lines
