"""Whether a reflection that a model wrote names only what its episode holds (capture.md, 'Reflection').

Looked up are hashes, paths and numbers of three or more digits.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from afterturn.capture.steps import Step
from afterturn.grounding import Source

# Each begins only where no char of its own comes before, so that a long run is read once and not from each char.
_PATH = re.compile(r"(?<![\w@~+./\\-])(?:[A-Za-z]:)?[\w@~+.-]*(?:[/\\]+[\w@~+.-]+)+[/\\]?")
_FILE = re.compile(
    r"(?<![\w@~+./\\-])[\w+-][\w+.-]*\.(?:py|pyi|tsx?|m?jsx?|cjs|jsonl?|md|rst|rs|go|cc?|h|cpp|hpp|java|kt|rb|php|sh"
    r"|ya?ml|toml|lock|txt|cfg|ini|conf|html?|s?css|sql|xml|csv|tsv|log|ipynb|swift|cs|lua|proto|gradle|env|patch|diff)"
    r"(?![\w/\\])"
)
_HASH = re.compile(r"(?<!\w)(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?!\w)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<!\d)\d{3,}(?!\d)")
_CLOSING_TAG = re.compile(r"</[A-Za-z][\w-]*>")
_GROUPED = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")


class Grounds:
    """All that an episode says, to look literals up in."""

    __slots__ = ("_source",)

    def __init__(self, text: str) -> None:
        self._source = Source(text)

    @classmethod
    def of(cls, steps: Sequence[Step], more: Sequence[str]) -> "Grounds":
        """The grounds of an episode: its steps as they were before any cut, and further texts."""
        texts: list[str] = list(more)
        for step in steps:
            texts += (step.user_text, step.agent_text, step.thinking or "", step.given or "", step.turn_id)
            for call in step.calls:
                texts += (call.name, call.error_code or "", call.tool_call_id or "")
                texts += (call.thinking_before or "", call.assistant_text_before or "")
                texts += (*_leaves(call.input), *_leaves(call.output))
        return cls("\n".join(texts))

    def hold(self, text: str) -> bool:
        """Whether every literal of `text` that can be checked occurs in the episode."""
        return next(self.missing(text), None) is None

    def missing(self, text: str) -> Iterator[str]:
        """The literals of `text` that the episode does not hold."""
        untagged = _CLOSING_TAG.sub(" ", text) if "</" in text else text
        for found in (*_PATH.finditer(untagged), *_FILE.finditer(untagged)):
            path = _bare(found[0])
            if path and _is_path(path) and not self._source.holds(path):
                yield path
        for found in _HASH.finditer(text):
            if not (self._source.holds_start(found[0]) or self._source.holds_start(found[0].lower())):
                yield found[0]
        # A comma between digits may group thousands or part a list; either reading will do.
        numbers = _HASH.sub(" ", text)
        lacking = [self._lacking(reading) for reading in (numbers, _GROUPED.sub("", numbers))]
        yield from min(lacking, key=len)

    def _lacking(self, text: str) -> list[str]:
        return [digits for digits in _NUMBER.findall(text) if not self._source.holds_number(digits)]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield key
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in cast("Sequence[Any]", value):
            yield from _leaves(item)
    elif value is not None:
        yield str(value)


def _is_path(path: str) -> bool:
    """Two or three plain words with slashes between them are more often prose than a path, and dates are numbers."""
    parts = [part for part in re.split(r"[/\\]+", path) if part]
    if path[0] in "/\\~." or path[1:2] == ":":
        return any(char.isalpha() for char in path)
    plain = len(parts) <= 3 and all(part.isalpha() for part in parts)
    return not plain and not all(part.isdigit() for part in parts)


def _bare(path: str) -> str:
    path = path.removeprefix("./").rstrip(".,;:")
    return path[:-1] if len(path) > 1 and path[-1] in "/\\" else path
