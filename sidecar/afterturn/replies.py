"""What all three jobs strip from a model's reply before they read it (condense.md, 'Checking a reply'; capture.md)."""

import re

from afterturn.fences import fence_kind

# An opener counts only at a line start: elsewhere a bullet talks about the tag.
_THINKING_TAG = re.compile(
    r"^[ \t]*<(?:think|thinking|reasoning)>|(</(?:think|thinking|reasoning)>)([ \t]*$)?", re.MULTILINE | re.IGNORECASE
)
_TEXT_INFO = ("markdown", "md", "text", "txt")


def without_thinking(text: str) -> str:
    """`text` without thinking blocks; an unclosed one takes the rest, an unopened one what is before its end."""
    if "<" not in text:
        return text
    kept: list[str] = []
    at = 0
    thinking = False
    for tag in _THINKING_TAG.finditer(text):
        if tag[1] is None:
            if not thinking:
                kept.append(text[at : tag.start()])
            thinking = True
        elif thinking or tag[2] is not None:
            if not thinking:
                kept.clear()
            thinking = False
            at = tag.end()
    if not thinking:
        kept.append(text[at:])
    return "".join(kept)


def unfenced(text: str) -> str:
    """`text` without a code fence around the whole of it; fences inside show that it is none, unless it says so."""
    lines = text.strip().split("\n")
    kind = fence_kind(lines[0])
    if len(lines) < 2 or not kind or lines[-1].strip().strip(kind) or fence_kind(lines[-1]) != kind:
        return text
    inner = lines[1:-1]
    fences = sum(fence_kind(line) == kind for line in inner)
    if fences and (fences % 2 or lines[0].strip().strip(kind).lower() not in _TEXT_INFO):
        return text
    return "\n".join(inner)
