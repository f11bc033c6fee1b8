"""The report for programs: one JSON object a file (clients.md, 'Harness importers')."""

from typing import Any

import msgspec

from afterturn.replay.figures import Curve, FileFigures


def as_json(found: FileFigures) -> dict[str, Any]:
    """Counts over all sessions of the file, then what they count.

    `rawChars` and `keptChars` are the tool results as they were, and with what took their place; `refs` counts the
    results that were archived; `recaps`, `traces` and `warnings` are lists.
    """
    return {
        "file": found.file,
        "harness": found.harness,
        "sessions": len(found.sessions),
        "turns": found.total("turns"),
        "requests": found.total("requests"),
        "failedTurns": found.total("failed_turns"),
        "toolCalls": found.total("tool_calls"),
        "results": found.total("results"),
        "errors": found.total("errors"),
        "compactions": found.total("compactions"),
        "rawChars": found.raw_chars,
        "keptChars": found.kept_chars,
        "refs": found.total("refs"),
        "recaps": _plain(found.recaps),
        "traces": _plain(found.traces),
        "newTraces": found.new_traces,
        "warnings": [{"message": what, "count": count} for what, count in found.warnings.most_common()],
        "usage": _plain(found.spend) if found.spend.calls else None,
        "tookMs": found.took_ms,
        "tools": _plain(found.tools),
        "perSession": _plain(found.sessions),
    }


def _plain(value: Any) -> Any:
    """Names as the wire has them; a curve as its points."""
    return msgspec.to_builtins(value, enc_hook=_points)


def _points(curve: Curve) -> list[tuple[int, int | None, int, int]]:
    """Of each point its turn, its time (epoch ms, None where it is not known), the size before and the size after."""
    return [(point.turn, point.at or None, point.before, point.after) for point in curve]
