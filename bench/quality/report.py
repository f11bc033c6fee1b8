"""The figures as a table for people, and as JSON."""

from typing import Any

import msgspec

from .figures import Figures, Kept, Share

_TO_REACH = (
    "to reach",
    "",
    "",
    "",
    "<=10%",
    "",
    ">=95%",
    ">=95%",
    ">=95%",
    ">=95%",
    ">=95%",
    ">=95%",
    "",
    ">=25%",
    ">=25%",
)


def table(parts: list[Figures], whole: Figures) -> str:
    """One block with the figures of each harness, one with the floors, one with recall by kind of fact."""
    rows = [
        (
            "harness",
            "calls",
            "batches",
            "big",
            "kept",
            "summary",
            "hand",
            "held out",
            "fresh",
            "dev",
            "unseen",
            "second",
            "other",
            "used",
            "aimed",
        )
    ]
    rows += [_quality_row(figures) for figures in [*parts, whole]]
    rows.append(_TO_REACH)
    for name, kept in whole.floors.items():
        rows.append((f"floor: {name}", "", "", "", _percent(kept.size), "", *_kept(kept)))
    hard = [("harness", "recovery", "refs", "stability", "fabricated", "grown", "outcomes")]
    for figures in [*parts, whole]:
        outcomes = ", ".join(f"{name} {count}" for name, count in sorted(figures.outcomes.items()))
        shares = (_ratio(figures.recovery), _ratio(figures.refs), _ratio(figures.stability))
        hard.append((figures.harness, *shares, str(figures.fabricated), str(figures.grown), outcomes))
    kinds = [("labels and kind", "visible")]
    kinds += [(name, f"{_ratio(share)} {_percent(share)}") for name, share in sorted(whole.by_kind.items())]
    return "\n\n".join(_aligned(block) for block in (rows, hard, kinds)) + "\n" + _LEGEND


_LEGEND = """
kept     chars in place of results / chars of results, batches of 3,200 chars and more ("big")
summary  the same for summaryText, where a host puts one summary in place of all results
hand     errors, exit codes, test totals, file:line and changed paths, labelled by hand, that are still visible
held out the same, labelled after the extractor was made; its misses were mended later
fresh    the same, from other calls, labelled before that; mended, too
dev      the same, from other calls, labelled to be mended on
unseen   the same, from other calls; no miss of it was mended
second   the same, labelled by the second extractor
other    paths and contents labelled by hand
used     tokens first seen in a big batch that arguments of later calls use, still visible
aimed    the same, but of arguments only paths, commands and patterns, not the bodies of edits
"""


def as_json(parts: list[Figures], whole: Figures) -> dict[str, Any]:
    """Everything, findings included."""
    return {"harnesses": msgspec.to_builtins(parts), "all": msgspec.to_builtins(whole), "broken": whole.broken}


def _quality_row(figures: Figures) -> tuple[str, ...]:
    counts = (str(figures.calls), str(figures.batches), str(figures.big))
    sizes = (_percent(figures.ours.size), _percent(figures.summary_size))
    return (figures.harness, *counts, *sizes, *_kept(figures.ours))


def _kept(kept: Kept) -> tuple[str, ...]:
    return tuple(
        _percent(share)
        for share in (
            kept.hand,
            kept.held_out,
            kept.fresh,
            kept.dev,
            kept.unseen,
            kept.second,
            kept.other,
            kept.used,
            kept.aimed,
        )
    )


def _percent(share: Share) -> str:
    return "-" if share.value is None else f"{share.value:.1%}"


def _ratio(share: Share) -> str:
    return f"{share.part}/{share.whole}"


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
