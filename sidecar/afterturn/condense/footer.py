"""The footer that lists the refs of a summary (seed per-bullet-summary-refs; the format is the seed's, to the byte)."""

from collections.abc import Sequence

from afterturn.ref_footer import ENDING, LEAD, RULE

_LEAD = f"\n\n{RULE}\n{LEAD}"


def footer(refs: Sequence[str], recovery_tool_name: str) -> str:
    """The footer for these short ids, in this order."""
    listed = ", ".join(f"`{ref}`" for ref in refs)
    return f"{_LEAD}{listed}\nUse `{recovery_tool_name}` {ENDING}"


def without_footer(summary_text: str) -> str:
    """A summary without the footer at its end; a text that has none stays as it is."""
    start = summary_text.rfind(_LEAD)
    if start < 0 or summary_text.count("\n", start) != _LEAD.count("\n") + 1:
        return summary_text
    return summary_text[:start]
