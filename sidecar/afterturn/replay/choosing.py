"""What a report shows where there is more than anybody reads."""

from collections.abc import Iterable, Mapping, Sequence

from afterturn.replay.figures import FileFigures, RecapFound, ToolFigures, TraceFound


def telling(recaps: Sequence[RecapFound], most: int) -> list[RecapFound]:
    """The ones at the end of a session and those after the longest pauses, in order; at most so many, no text twice."""
    different = {recap.text: recap for recap in recaps}.values()
    ranked = sorted(different, key=lambda recap: (recap.away_ms is None, recap.away_ms or 0), reverse=True)
    kept = {id(recap) for recap in ranked[:most]}
    return [recap for recap in recaps if id(recap) in kept]


def best(traces: Iterable[TraceFound]) -> list[TraceFound]:
    """By what their reflection weighs; then those that say what was asked, those that did most, the newest."""

    def rank(trace: TraceFound) -> tuple[bool, float, bool, int, int]:
        return trace.reflected, trace.alpha, bool(trace.asked), len(trace.tools), trace.at

    return sorted(traces, key=rank, reverse=True)


def largest_files(found: Sequence[FileFigures], most: int) -> list[FileFigures]:
    """The files by what their tools brought, at most so many, in the order they came in."""
    ranked = sorted(range(len(found)), key=lambda place: found[place].raw_chars, reverse=True)
    return [found[place] for place in sorted(ranked[:most])]


def largest_tools(tools: Mapping[str, ToolFigures], most: int) -> list[tuple[str, ToolFigures]]:
    """The tools by what they brought, largest first, at most so many; the last one may be all others."""
    ranked = sorted(tools.items(), key=lambda pair: pair[1].raw_chars, reverse=True)
    if len(ranked) <= most:
        return ranked
    rest = ToolFigures()
    for _, tool in ranked[most - 1 :]:
        rest.join(tool)
    return [*ranked[: most - 1], (f"{len(ranked) - most + 1} others", rest)]
