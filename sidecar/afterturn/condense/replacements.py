"""What stands in place of a result in the host's history (condense.md, 'Replacements').

Each names its ref and the tool that brings the original back. A replacement that is not shorter than its result is
none: the result then stays verbatim.
"""

from collections.abc import Sequence

from afterturn.condense.bullets import with_label
from afterturn.text import cut_at_line


def digest_replacement(bullets: Sequence[str], ref: str, recovery_tool_name: str) -> str:
    """The bullets of one call, its ref on the first of them, and where the original is.

    bullets: without labels, each perhaps of several lines; at least one.
    """
    marked = with_label(bullets[0], f"`{ref}`")
    return "\n".join([marked, *bullets[1:], _recovery(ref, recovery_tool_name)])


def duplicate_replacement(ref: str, first_ref: str, recovery_tool_name: str) -> str:
    """A pointer to the first result with the same output."""
    return f"- `{ref}` same output as `{first_ref}`\n{_recovery(ref, recovery_tool_name)}"


def spill_replacement(text: str, chars: int, ref: str, preview_bytes: int, recovery_tool_name: str) -> str:
    """The head of a big result, its size and its ref.

    text: the redacted result, or enough of its head. chars: size of the whole result.
    """
    lead = f"- `{ref}` {chars} chars of output, of which this is the head"
    return "\n".join([lead, _recovery(ref, recovery_tool_name), preview(text, preview_bytes)]).rstrip("\n")


def preview(text: str, limit: int) -> str:
    """The head of a text in at most `limit` bytes of UTF-8, cut at a line end where there is one."""
    fitting = text[:limit]
    size = len(fitting.encode("utf-8", "surrogatepass"))
    if size > limit:
        fitting = fitting.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")
    if len(fitting) == len(text):
        return text
    return cut_at_line(text[: len(fitting) + 1], len(fitting)).rstrip("\n")


def shorter(replacement: str, result_chars: int) -> str | None:
    """The replacement, or None if it saves nothing."""
    return replacement if len(replacement) < result_chars else None


def _recovery(ref: str, recovery_tool_name: str) -> str:
    return f"[full output: {recovery_tool_name} {ref}]"
