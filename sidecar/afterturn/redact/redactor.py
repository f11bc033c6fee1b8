"""The redactor: text in, the same text without its secrets out, and how many of each type there were."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from afterturn.redact.clean import SHORT, is_clean

# Chars scanned in one go: `re` holds the interpreter lock for as long as one call takes.
PIECE = 65_536
CUSTOM = "custom"
# A match of an extra pattern that begins in a piece may end so many chars behind it.
_EXTRA_CHARS = 1024
# What is replaced ends words that stood next to it, which can show the next secret; more passes find that too.
_PASSES = 6


class PatternError(ValueError):
    """An extra pattern that is no regular expression.

    index: its place in the list, from 0. pattern: as given. problem: what is wrong with it, as `re` says it.
    """

    def __init__(self, index: int, pattern: str, problem: str) -> None:
        super().__init__(f"redaction.extraPatterns[{index}] is no regular expression: {problem}: {pattern[:80]!r}")
        self.index = index
        self.pattern = pattern
        self.problem = problem


class Redactor:
    """Replaces secrets by typed markers, `[REDACTED:github-token]` (store.md, 'Redaction').

    Pure, and safe to share between threads. The time is linear in the length of the text. Redacting a result again
    changes nothing.
    """

    __slots__ = ("_extra",)

    def __init__(self, extra_patterns: Sequence[str] = ()) -> None:
        """extra_patterns: regular expressions whose matches are replaced too, as type "custom". Raises PatternError."""
        extra: list[re.Pattern[str]] = []
        for index, pattern in enumerate(extra_patterns):
            try:
                extra.append(re.compile(pattern))
            except (re.error, OverflowError, RecursionError) as error:
                raise PatternError(index, pattern, str(error)) from error
        self._extra = tuple(extra)

    def redact(self, text: str) -> tuple[str, dict[str, int]]:
        """The text without its secrets, and how many of each type there were. A clean text comes back as it is."""
        if len(text) <= SHORT and not self._extra and is_clean(text):
            return text, {}
        from afterturn.redact.parted import Seen, is_parted
        from afterturn.redact.span import outside_markers

        counts: dict[str, int] = {}
        known: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        for _ in range(_PASSES):
            found: list[Any] = []
            if is_parted(text):
                seen = Seen(text)
                found = list(outside_markers(text, seen.within(self._found(seen.text, ({}, {})))))
                text = _replaced(text, found, counts)
            more = list(self._found(text, known))
            text = _replaced(text, more, counts)
            if not found and not more:
                break
        return text, counts

    def _found(self, text: str, known: tuple[dict[str, Any], dict[str, Any]]) -> Iterator[Any]:
        """The spans to replace, in order, none over another. known: names and places seen before in such a text."""
        from afterturn.redact.scan import BACK, Piece, Progress, spans
        from afterturn.redact.span import has_markers, merged, outside_markers

        names, places = known
        progress = Progress(names, [0, 0], places, {})
        marked = has_markers(text)
        pending: list[Any] = []
        given = start = 0
        while start < len(text):
            stop = min(start + PIECE, len(text))
            piece = Piece.of(text, start, stop, progress)
            found = itertools.chain(spans(piece, given), self._extra_spans(text, start, stop))
            pending += outside_markers(text, found) if marked else found
            # What comes later may still begin up to BACK chars before its place.
            until = len(text) if stop == len(text) else max(given, stop - BACK)
            for span in merged(pending):
                if span.end > until:
                    until = min(until, span.start)
                    break
                yield span
                given = span.end
            given = max(given, until)
            # Kept as they were found: what names a merged one depends on all of it.
            pending = [span for span in pending if span.end > given]
            start = stop

    def redact_json(self, value: Any) -> tuple[Any, dict[str, int]]:
        """A JSON value without its secrets, and their counts. A new value; what was given stays as it was."""
        from afterturn.redact.structure import redact_structure

        return redact_structure(value, self.redact)

    def _extra_spans(self, text: str, start: int, stop: int) -> Iterator[Any]:
        if not self._extra:
            return
        from afterturn.redact.span import BY_SETTING, Span

        for pattern in self._extra:
            for found in pattern.finditer(text, start, min(stop + _EXTRA_CHARS, len(text))):
                if found.start() >= stop:
                    break
                if found.end() > found.start():
                    yield Span(found.start(), found.end(), BY_SETTING, CUSTOM)


def _replaced(text: str, spans: list[Any], counts: dict[str, int]) -> str:
    """The text with markers in place of the spans, which are counted."""
    from afterturn.redact.span import marker

    if not spans:
        return text
    parts: list[str] = []
    given = 0
    for span in spans:
        parts += (text[given : span.start], marker(span.type))
        counts[span.type] = counts.get(span.type, 0) + 1
        given = span.end
    return "".join([*parts, text[given:]])
