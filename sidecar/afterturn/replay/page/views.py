"""The figures of a replay as the page shows them: plain texts and numbers, every list with an end."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from afterturn.replay.choosing import best, largest_tools, telling
from afterturn.replay.exhibits import Exhibit, Original
from afterturn.replay.figures import Curve, FileFigures, Point, SessionFigures, Spend, TraceFound
from afterturn.replay.numbers import moment, percent, plural, short
from afterturn.replay.wording import (
    about,
    alpha,
    harness_name,
    in_line,
    in_tokens,
    name_of,
    pause,
    spent,
    title,
    traces_note,
    warning_lines,
)
from afterturn.text import clean

MOST_FILES = 100
MOST_POINTS = 600
MOST_CHARTS = 12
MOST_RECAPS = 60
MOST_TRACES = 40
MOST_TOOLS = 20
MOST_WARNINGS = 20
ORIGINALS_CHARS = 4_000_000
"""Of all originals on one page together."""

View = dict[str, Any]


def file_view(found: FileFigures, number: int) -> View:
    """One file. number: its place on the page."""
    name = f"f{number}"
    recaps = list(enumerate(found.recaps))
    chosen = {id(recap) for recap in telling(found.recaps, MOST_RECAPS)}
    shown = [(place, recap) for place, recap in recaps if id(recap) in chosen]
    left = len(recaps) - len(shown)
    return {
        "name": name,
        "harness": harness_name(found.harness),
        "title": title(found),
        "about": about(found),
        "tiles": _tiles(found),
        "charts": [
            _chart(session, found, shown)
            for session in sorted(found.sessions, key=lambda each: each.turns, reverse=True)[:MOST_CHARTS]
            if len(session.curve) > 1
        ],
        "tools": _tools(found),
        "recaps": [{"number": place, "when": pause(recap), "text": clean(recap.text)} for place, recap in shown],
        "recaps_note": f" {left:,} more are left out." if left else "",
        "traces": [_trace(trace) for trace in best(found.traces)[:MOST_TRACES]],
        "traces_note": traces_note(found) + ".",
        "warnings": warning_lines(found.warnings, MOST_WARNINGS),
    }


def _tiles(found: FileFigures) -> list[View]:
    raw, kept = found.raw_chars, found.kept_chars
    tiles = [
        (f"characters of tool results, {in_tokens(raw, kept)}", f"{short(raw)} \u2192 {short(kept)}"),
        ("of them kept", percent(kept, raw)),
    ]
    last = found.main.curve.last
    if last is not None and last.before:
        tiles.append(("context at the end", f"{short(last.before)} \u2192 {short(last.after)}"))
    for counted in (
        plural(found.total("refs"), "ref that brings its original back", "refs that bring originals back"),
        plural(len(found.recaps), "recap"),
        plural(found.trace_count, "trace"),
    ):
        value, _, name = counted.partition(" ")
        tiles.append((name, value))
    return [{"name": name, "value": value} for name, value in tiles]


# -- the chart -----------------------------------------------------------------------------------------------------


def _chart(session: SessionFigures, found: FileFigures, recaps: Sequence[tuple[int, Any]]) -> View:
    points = thinned(session.curve)
    count = len(session.curve)
    top = max((point.before for point in points), default=0) or 1
    peak = max(points, key=lambda point: point.before)
    return {
        "heading": "The context, turn by turn" if session is found.main else name_of(session),
        "harness": harness_name(found.harness),
        "label": f"At its largest {short(peak.before)} as it was, {short(peak.after)} with afterturn.",
        "points": json.dumps([_shown(point) for point in points]),
        "before": _area([point.before for point in points], top),
        "after": _area([point.after for point in points], top),
        "top": short(top),
        "half": short(top // 2),
        "turns": count,
        "compactions": [_part(turn, count) for turn in session.compacted_at],
        "recaps": [
            {"number": place, "part": _part(recap.turn, count), "when": pause(recap)}
            for place, recap in recaps
            if recap.session_id == session.session_id
        ],
    }


def thinned(curve: Curve) -> list[Point]:
    """At most MOST_POINTS points: of each stretch the one with the largest context."""
    count = len(curve)
    if count <= MOST_POINTS:
        return list(curve)
    kept: list[Point] = []
    stretch = -1
    for place, point in enumerate(curve):
        if place * MOST_POINTS // count != stretch:
            stretch = place * MOST_POINTS // count
            kept.append(point)
        elif point.before > kept[-1].before:
            kept[-1] = point
    return kept


def _shown(point: Point) -> list[int | str]:
    return [point.turn + 1, moment(point.at), point.before, point.after]


def _area(sizes: Sequence[int], top: int) -> str:
    """A polygon in a square of 1000, from the lower left corner along the sizes to the lower right one."""
    step = 1000 / max(1, len(sizes) - 1)
    line = [f"{place * step:.1f},{1000 - size * 1000 / top:.1f}" for place, size in enumerate(sizes)]
    return " ".join(["0,1000", *line, "1000,1000"])


def _part(turns: int, count: int) -> str:
    """Where a number of turns stands on the line, in percent."""
    return f"{100 * min(max(turns - 1, 0), count - 1) / max(1, count - 1):.2f}"


# -- lists ---------------------------------------------------------------------------------------------------------


def _tools(found: FileFigures) -> list[View]:
    most = max((tool.raw_chars for tool in found.tools.values()), default=0) or 1
    return [
        {
            "name": in_line(name),
            "calls": f"{tool.calls:,}",
            "errors": f"{tool.errors:,}" if tool.errors else "",
            "before": short(tool.raw_chars),
            "after": short(tool.kept_chars),
            "kept": percent(tool.kept_chars, tool.raw_chars),
            "wide": round(tool.raw_chars * 1000 / most),
            "narrow": round(min(tool.kept_chars, tool.raw_chars) * 1000 / most),
        }
        for name, tool in largest_tools(found.tools, MOST_TOOLS)
    ]


def _trace(trace: TraceFound) -> View:
    return {
        "alpha": alpha(trace),
        "tools": ", ".join(map(in_line, trace.tools[:8])),
        "asked": trace.asked,
        "said": trace.said,
        "reflection": trace.reflection,
    }


# -- summaries and originals ---------------------------------------------------------------------------------------


def share(sizes: Iterable[int], room: int) -> int:
    """The most chars that each of these texts may have, so that all together have at most `room`."""
    left = sorted(sizes)
    total = 0
    for place, size in enumerate(left):
        if total + size * (len(left) - place) > room:
            return (room - total) // (len(left) - place)
        total += size
    return left[-1] if left else 0


def exhibit_view(exhibit: Exhibit, most: int) -> View:
    """One summary. most: chars of each original that are shown."""
    names = [in_line(original.tool) for original in exhibit.originals]
    tools = ", ".join(
        f"{name} \u00d7{names.count(name)}" if names.count(name) > 1 else name for name in dict.fromkeys(names)
    )
    raw, kept = exhibit.raw_chars, exhibit.kept_chars
    first, last = exhibit.turn + 1, exhibit.last_turn + 1
    turns = f"turn {first}" if first == last else f"turns {first} to {last}"
    where = ", ".join(part for part in (turns, moment(exhibit.at)) if part)
    return {
        "session": exhibit.session,
        "what": f"{where}: {tools}",
        "size": f"{short(raw)} \u2192 {short(kept)} ({percent(kept, raw)})",
        "request": exhibit.request,
        "summary": exhibit.summary,
        "originals": [_original(original, most) for original in exhibit.originals],
    }


def _original(original: Original, most: int) -> View:
    shown = original.text[:most]
    is_cut = original.is_cut or len(shown) < len(original.text)
    note = f"The first {len(shown):,} of {original.total_chars:,} characters. {original.ref} brings all of it back."
    return {
        "ref": original.ref,
        "tool": in_line(original.tool),
        "is_error": original.is_error,
        "chars": plural(original.total_chars, "character"),
        "args": original.args,
        "text": shown,
        "note": note if is_cut else "",
    }


def spend_note(all_found: Sequence[FileFigures]) -> str:
    """What it cost."""
    total = Spend()
    for found in all_found:
        total.join(found.spend)
    return spent(total, any(found.may_ask for found in all_found))
