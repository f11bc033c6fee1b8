"""When condensing is not worth it (condense.md, 'Order of work', 6 and 9). Sizes are chars."""

from collections.abc import Iterable


def is_trivial(raw_chars: int, min_batch_chars: int) -> bool:
    """Whether what is left of a batch is too small to be condensed; a minimum of 0 turns the check off."""
    return raw_chars < min_batch_chars


def is_oversized(summary_chars: int, kept: Iterable[tuple[int, int | None]]) -> bool:
    """Whether a summary, or the replacements together, would not be smaller than the results.

    kept: for each summarised call the size of its result and of its replacement, None if the result stays.
    """
    raw_chars = kept_chars = 0
    for result, replacement in kept:
        raw_chars += result
        kept_chars += result if replacement is None else replacement
    return summary_chars > raw_chars or kept_chars >= raw_chars


def empty_reason(states: Iterable[str]) -> str:
    """Why nothing is left to summarise: "deduplicated", "protected" or "empty"."""
    seen = set(states)
    if "duplicate" in seen:
        return "deduplicated"
    return "protected" if seen & {"protected", "recovered"} else "empty"
