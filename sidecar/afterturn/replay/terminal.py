"""The report for a terminal.

`rich` knows widths of characters, terminals without colour and NO_COLOR; that is its trade and not ours.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Never

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from afterturn.replay.chart import BOTH, ONLY_BEFORE, bars, buckets, column_of
from afterturn.replay.choosing import best, largest_tools, telling
from afterturn.replay.figures import FileFigures, ToolFigures
from afterturn.replay.numbers import lasted, percent, plural, short
from afterturn.replay.wording import (
    about,
    alpha,
    harness_name,
    in_line,
    in_tokens,
    pause,
    spent,
    title,
    traces_note,
    warning_lines,
)
from afterturn.text import clean

MOST_TOOLS = 12
MOST_RECAPS = 6
MOST_TRACES = 5
MOST_WARNINGS = 5
_ROWS = 8
_WIDEST = 120
_NARROWEST = 40
_AXIS = 7
_RECAP, _COMPACTION = "\u25c6", "\u00d7"
_SHORTEST_BAR, _LONGEST_BAR, _BESIDE_BAR = 8, 30, 70
_ROOM_FOR_COUNTS = 64
_INDENT, _GAP, _LONGEST_NAME = 2, 3, 28


class _Console(Console):
    def on_broken_pipe(self) -> Never:
        """Leave it to the command, as for its other outputs; `rich` would end the process."""
        raise BrokenPipeError


def make_console() -> Console:
    """A console on stdout: as wide as the terminal or COLUMNS says, else 100, and at most _WIDEST."""
    terminal = shutil.get_terminal_size((100, 24))
    columns, lines = min(terminal.columns, _WIDEST), terminal.lines
    # With the height, because without it `rich` takes every dumb terminal for one of 80 columns.
    width = max(_NARROWEST, columns)
    return _Console(highlight=False, markup=False, emoji=False, width=width, height=lines)


def print_report(console: Console, found: FileFigures) -> None:
    """Everything about one file."""
    _print(console, _head(found, console))
    _print(console, _curve(found, console.width))
    print_tools(console, found.tools, found.total("refs"))
    _print(console, _recaps(found, console))
    _print(console, _traces(found, console.width))
    print_warnings(console, found.warnings)
    print_end(console, found.took_ms, spent(found.spend, found.may_ask), found.new_traces)


def print_tools(console: Console, tools: Mapping[str, ToolFigures], refs: int) -> None:
    """What became of the results, by tool."""
    _print(console, _tools(tools, refs, console.width))


def print_warnings(console: Console, warnings: Counter[str]) -> None:
    """What went less well, the most frequent first."""
    for line in warning_lines(warnings, MOST_WARNINGS):
        console.print(Text("  ! ", style="yellow").append(line, style="default"))
    if warnings:
        console.print()


def print_end(console: Console, took_ms: int, cost: str, new_traces: int | None) -> None:
    """How long it took, what it cost, and what stays."""
    stays = "Nothing is kept." if new_traces is None else f"{plural(new_traces, 'new trace')} in your store."
    console.print(Text(f"Replayed in {lasted(took_ms)}. {cost} {stays}", style="dim"))


def _print(console: Console, pieces: Iterable[RenderableType]) -> None:
    for piece in pieces:
        console.print(piece)


def _indented(text: Text, columns: int, console: Console) -> Iterable[Text]:
    """The text in lines that begin further right; unlike those of `Padding` they end where their words end."""
    for line in text.wrap(console, console.width - columns):
        line.rstrip()
        yield Text(" " * columns).append_text(line)


def _heading(name: str, said: str) -> Text:
    return Text(name, style="bold").append(f"  {said}", style="not bold")


def _head(found: FileFigures, console: Console) -> Iterable[RenderableType]:
    yield _heading(harness_name(found.harness), title(found))
    for line in about(found):
        yield from _indented(Text(line, style="dim"), 2, console)
    yield ""


# -- the context over time -----------------------------------------------------------------------------------------


def _curve(found: FileFigures, width: int) -> Iterable[RenderableType]:
    session, columns = found.main, width - _AXIS - 2
    count = len(session.curve)
    peaks = buckets(session.curve, count, columns)
    lines = bars(peaks, _ROWS)
    if count < 2 or not lines:
        return
    which = f"of the longest of {len(found.sessions):,} sessions: " if len(found.sessions) > 1 else ""
    yield _heading("CONTEXT", f"{which}characters in the conversation after each turn")
    top = short(max(before for before, _ in peaks))
    for row, line in enumerate(lines):
        label = top if row == 0 else ""
        yield Text().append(f"{label:>{_AXIS - 1}} \u2502", style="dim").append_text(_coloured(line))
    yield Text("0".rjust(_AXIS - 1) + " \u2514" + "\u2500" * len(peaks), style="dim")
    recaps = [recap.turn for recap in found.recaps if recap.session_id == session.session_id]
    marks = _marks({_RECAP: recaps, _COMPACTION: session.compacted_at}, count, columns)
    if marks:
        yield Text(" " * (_AXIS + 1) + marks, style="cyan")
    yield _legend(marks)
    yield ""


def _coloured(line: str) -> Text:
    text = Text()
    for before, chars in groupby(line, lambda char: char == ONLY_BEFORE):
        text.append("".join(chars), style="yellow" if before else "green")
    return text


def _marks(places: Mapping[str, Iterable[int]], count: int, columns: int) -> str:
    """Signs below the columns of the turns that they come after. count: of all turns."""
    marks = [" "] * columns
    for sign, turns in places.items():
        for turn in turns:
            marks[column_of(max(0, turn - 1), count, columns)] = sign
    return "".join(marks).rstrip()


def _legend(marks: str) -> Text:
    legend = Text(" " * (_AXIS + 1)).append(ONLY_BEFORE, style="yellow").append(" as it was   ")
    legend.append(BOTH, style="green").append(" with afterturn")
    for sign, noun in ((_RECAP, "recap"), (_COMPACTION, "compaction")):
        if sign in marks:
            legend.append(f"   {sign} ", style="cyan").append(noun)
    return legend


# -- what was kept -------------------------------------------------------------------------------------------------


def _tools(tools: Mapping[str, ToolFigures], refs: int, width: int) -> Iterable[RenderableType]:
    if not tools:
        return
    raw = sum(tool.raw_chars for tool in tools.values())
    kept = sum(tool.kept_chars for tool in tools.values())
    bring = "brings its original" if refs == 1 else "bring the originals"
    said = f"{raw:,} characters became {kept:,} ({percent(kept, raw)}), {in_tokens(raw, kept)}"
    yield _heading("TOOL RESULTS", f"{said}; {plural(refs, 'ref')} {bring} back")
    shown = largest_tools(tools, MOST_TOOLS)
    counts = ("calls", "failed") if width >= _ROOM_FOR_COUNTS else ()  # sizes come first
    head = (*counts, "before", "after", "kept")
    rows = [_numbers(tool)[-len(head) :] for _, tool in shown]
    bar = min(_LONGEST_BAR, width - _BESIDE_BAR)
    bars_at = [bar] if bar >= _SHORTEST_BAR else []
    others = [max(map(len, column)) for column in zip(head, *rows, strict=True)] + bars_at
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, header_style="dim", show_edge=False)
    room = width - _INDENT - sum(others) - _GAP * len(others)  # only a name may be cut, never a number
    table.add_column("tool", overflow="ellipsis", no_wrap=True, max_width=min(_LONGEST_NAME, room))
    for name in head:
        table.add_column(name, justify="right", no_wrap=True)
    most = max(tool.raw_chars for tool in tools.values())
    for (name, tool), row in zip(shown, rows, strict=True):
        table.add_row(Text(in_line(name)), *row, *(_bar(tool, most, columns) for columns in bars_at))
    yield Padding(table, (0, 0, 0, _INDENT), expand=False)
    yield ""


def _numbers(tool: ToolFigures) -> tuple[str, ...]:
    failed = f"{tool.errors:,}" if tool.errors else ""
    sizes = short(tool.raw_chars), short(tool.kept_chars), percent(tool.kept_chars, tool.raw_chars)
    return (f"{tool.calls:,}", failed, *sizes)


def _bar(tool: ToolFigures, most: int, columns: int) -> Text:
    before = round(tool.raw_chars * columns / most) if most else 0
    after = min(before, round(tool.kept_chars * columns / most) if most else 0)
    return Text(BOTH * after, style="green").append(ONLY_BEFORE * (before - after), style="yellow")


# -- recaps and traces ---------------------------------------------------------------------------------------------


def _recaps(found: FileFigures, console: Console) -> Iterable[RenderableType]:
    if not found.recaps:
        return
    yield _heading("RECAPS", "what a person coming back after a pause would have read")
    shown = telling(found.recaps, MOST_RECAPS)
    for recap in shown:
        yield Text().append(f"  {_RECAP} ", style="cyan").append(pause(recap), style="dim")
        yield from _indented(Text(clean(recap.text)), 4, console)
    left = len(found.recaps) - len(shown)
    if left:
        yield Text(f"    and {left:,} more", style="dim")
    yield ""


def _traces(found: FileFigures, width: int) -> Iterable[RenderableType]:
    if not found.traces:
        return
    yield _heading("TRACES", traces_note(found))
    table = Table(box=None, padding=(0, 1), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="magenta")
    table.add_column(overflow="ellipsis", no_wrap=True, width=max(20, width - 12))
    for trace in best(found.traces)[:MOST_TRACES]:
        said = trace.reflection or trace.said
        tools = f"[{', '.join(map(in_line, trace.tools[:5]))}]" if trace.tools else ""
        lines = [line for line in (trace.asked, f"{tools} \u2192 {said}".strip() if said else tools) if line]
        for place, line in enumerate(lines):
            table.add_row(alpha(trace) if place == 0 else "", Text(line, style="dim" if place else ""))
    yield Padding(table, (0, 0, 0, 2), expand=False)
    yield ""
