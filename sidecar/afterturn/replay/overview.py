"""The report on many files for a terminal: a line for each as it is done, and what it all came to."""

from collections import Counter
from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from afterturn.replay.figures import FileFigures, Spend, ToolFigures
from afterturn.replay.numbers import percent, plural, short
from afterturn.replay.terminal import print_end, print_tools, print_warnings
from afterturn.replay.wording import harness_name, spent, title
from afterturn.text import cut_width, width

_NAMES = ("", "turns", "calls", "before", "after", "kept", "recaps", "traces")
_WIDTHS = (-14, 7, 7, 8, 8, 7, 7, 7)
"""In columns; the first one is aligned to the left."""

_SHORTEST_TITLE = 12


class Totals(msgspec.Struct):
    """Sums over files."""

    files: int = 0
    may_ask: bool = False
    sessions: int = 0
    turns: int = 0
    tool_calls: int = 0
    refs: int = 0
    recaps: int = 0
    traces: int = 0
    new_traces: int | None = None
    took_ms: int = 0
    tools: dict[str, ToolFigures] = {}
    spend: Spend = msgspec.field(default_factory=Spend)
    warnings: Counter[str] = msgspec.field(default_factory=Counter[str])

    def add(self, found: FileFigures) -> None:
        """The next file."""
        self.files += 1
        self.may_ask = found.may_ask
        self.sessions += len(found.sessions)
        for name in ("turns", "tool_calls", "refs"):
            setattr(self, name, getattr(self, name) + found.total(name))
        self.recaps += len(found.recaps)
        self.traces += len(found.traces)
        if found.new_traces is not None:
            self.new_traces = (self.new_traces or 0) + found.new_traces
        self.took_ms += found.took_ms
        self.spend.join(found.spend)
        self.warnings.update(found.warnings)
        for name, tool in found.tools.items():
            self.tools.setdefault(name, ToolFigures()).join(tool)


class Overview:
    """Prints the lines and, at the end, the sums."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._totals = Totals()

    def file(self, found: FileFigures) -> None:
        """The next file is done."""
        if not self._totals.files:
            self._line(_NAMES, "", "dim")
        self._totals.add(found)
        cells = [
            harness_name(found.harness),
            f"{found.total('turns'):,}",
            f"{found.total('tool_calls'):,}",
            short(found.raw_chars),
            short(found.kept_chars),
            percent(found.kept_chars, found.raw_chars),
            f"{len(found.recaps):,}",
            f"{len(found.traces):,}",
        ]
        self._line(cells, title(found), "")

    def end(self) -> None:
        """All files are done."""
        totals, console = self._totals, self._console
        if not totals.files:
            return
        console.print()
        parts = [
            plural(totals.files, "file"),
            plural(totals.sessions, "session"),
            plural(totals.turns, "turn"),
            plural(totals.tool_calls, "tool call"),
            plural(totals.recaps, "recap"),
            plural(totals.traces, "trace"),
        ]
        console.print(Text(", ".join(parts), style="bold"))
        console.print()
        print_tools(console, totals.tools, totals.refs)
        print_warnings(console, totals.warnings)
        print_end(console, totals.took_ms, spent(totals.spend, totals.may_ask), totals.new_traces)

    def _line(self, cells: Sequence[str], about: str, style: str) -> None:
        line = ""
        for cell, columns in zip(cells, _WIDTHS, strict=True):
            space = " " * (abs(columns) - width(cell))
            line += cell + space if columns < 0 else space + cell
        room = self._console.width - width(line) - 2
        if room >= _SHORTEST_TITLE:
            line += "  " + cut_width(about, room)
        self._console.print(Text(line, style=style), no_wrap=True, crop=True)
