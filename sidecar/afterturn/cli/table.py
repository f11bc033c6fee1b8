"""Text in columns, for terminals: wide characters count two."""

from collections.abc import Sequence

from afterturn.text import cut_width, width

GAP = 2


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
