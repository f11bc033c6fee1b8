"""What the bullets of a call say, for tables of examples."""

from collections.abc import Sequence
from typing import Any

from afterturn.condense.extract import ToolView, bullets, words_of


def say(
    tool: str, args: Any, text: str, *, is_error: bool = False, status: str | None = None, later: Sequence[str] = ()
) -> str:
    lines = bullets(ToolView(tool, args, text, is_error, status), wanted=words_of("\n".join(later)))
    assert 1 <= len(lines) <= 3
    assert all(line.startswith("- ") and "\n" not in line for line in lines)
    return "\n".join(lines)


def check(said: str, *has: str, lacks: Sequence[str] = ()) -> None:
    """`said` holds every one of `has` and none of `lacks`."""
    assert [text for text in has if text not in said] == [], said
    assert [text for text in lacks if text in said] == [], said
