"""Forms of a step's errors that can be compared with those of other steps (capture.md, 'Vectors, tags, signatures')."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from afterturn.text import cut, one_line
from afterturn_protocol.traces import ToolCallDTO

MAX_SIGNATURES = 4
_SHORTEST, _LONGEST = 6, 160
_LETTERS = 4
_SCANNED_CHARS = 8_000
_MOST_PER_PATTERN = 32
_STATUSES = (
    "Bad Request|Unauthorized|Forbidden|Not Found|Conflict|Unprocessable Entity|Too Many Requests|"
    "Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout"
)
# Each with literals of which a text must hold one for it to be tried: most outputs hold none.
_PATTERNS = (
    (("rror: ", "Exception: ", "Warning: "), r"\b[A-Z]\w{0,60}(?:Error|Exception|Warning): [^\n]{4,160}"),
    (
        ("rror: ", "ERROR: ", "atal: ", "FATAL: ", "panic: ", "]: "),
        r"\b(?:error|Error|fatal|FATAL|ERROR|panic)(?:\[\w{1,12}\])?: [^\n]{4,160}",
    ),
    (("xit code ", "xit status "), r"\b[Ee]xit (?:code|status) [1-9]\d{0,3}\b"),
    (
        ("Request", "Unauthorized", "Forbidden", "Not Found", "Conflict", "Entity", "Server Error", "Gateway", "Unava"),
        rf"\b[45]\d\d (?:{_STATUSES})\b",
    ),
)
_LITERALS = frozenset(each for literals, _ in _PATTERNS for each in literals)
# Few chars of a text are capitals, so one pass from one to the next costs less than one for each literal.
_CAPITALISED = re.compile("|".join(re.escape(each) for each in sorted(_LITERALS) if not each[0].islower()))
_UNCAPITALISED = tuple(each for each in sorted(_LITERALS) if each[0].islower())
_PHRASES = (
    "not found",
    "o such file or directory",
    "ermission denied",
    "undefined reference",
    "onnection refused",
)
_PHRASE = re.compile("|".join(_PHRASES))
_LETTER = re.compile("[A-Za-z]")


class Telltales(Struct, frozen=True):
    """Which literals have to be looked for: patterns, each with its own, and phrases."""

    patterns: Sequence[tuple[Sequence[str], str]]
    phrases: Sequence[str]


_ALL = Telltales(_PATTERNS, _PHRASES)


def telltales(texts: Iterable[str]) -> Telltales:
    """What these texts hold; looking through all of them at once costs less than through each."""
    text = "\n".join(texts)
    held = {*_CAPITALISED.findall(text), *[each for each in _UNCAPITALISED if each in text]}
    patterns = [([each for each in literals if each in held], pattern) for literals, pattern in _PATTERNS]
    return Telltales([pair for pair in patterns if pair[0]], [each for each in _PHRASES if each in text])


def error_texts(calls: Sequence[ToolCallDTO], agent_text: str) -> list[str]:
    """The texts of a step that can tell of errors: what the agent wrote only where a call failed.

    Prose is full of sentences that look like errors.
    """
    texts = [text for call in calls for text in (call.error_code, call.output) if isinstance(text, str)]
    return [*texts, agent_text] if any(call.error_code for call in calls) else texts


def signatures_of(calls: Sequence[ToolCallDTO], agent_text: str, among: Telltales = _ALL) -> list[str]:
    """At most 4 signatures of 6 to 160 chars, the most telling first. among: what the texts can hold."""
    scores: dict[str, int] = {}
    shown: dict[str, str] = {}
    texts = error_texts(calls, agent_text) if among.patterns or among.phrases else ()
    for text in texts:
        for found in _found(text, among):
            key = found.lower()
            shown.setdefault(key, found)
            scores[key] = max(scores.get(key, 0), _weight(found))
    for call in calls:
        code = one_line(call.error_code) if call.error_code else ""
        if _SHORTEST <= len(code) <= _LONGEST and _is_telling(code):
            shown.setdefault(code.lower(), code)
            scores.setdefault(code.lower(), 2)
    ranked = sorted(scores, key=lambda key: -scores[key])
    return [shown[key] for key in ranked[:MAX_SIGNATURES]]


def _found(text: str, among: Telltales) -> Iterator[str]:
    # An error stands at the end of a long output at least as often as at its start.
    if len(text) > 2 * _SCANNED_CHARS:
        text = text[:_SCANNED_CHARS] + "\n" + text[-_SCANNED_CHARS:]
    for literals, pattern in among.patterns:
        if not any(map(text.__contains__, literals)):
            continue
        for count, found in enumerate(re.finditer(pattern, text)):
            if count == _MOST_PER_PATTERN:
                break
            yield from _fit(found[0])
    if not any(map(text.__contains__, among.phrases)):
        return
    for count, found in enumerate(_PHRASE.finditer(text)):
        if count == _MOST_PER_PATTERN:
            break
        # What was not found stands before it on its line: `cat: /x/y: No such file or directory`.
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.end()]
        parts = line[-2 * _LONGEST :].rsplit(": ", 2)
        if len(parts) > 1:
            yield from _fit(": ".join(parts[-2:]))


def _fit(found: str) -> Iterator[str]:
    signature = cut(one_line(found), _LONGEST)
    if len(signature) >= _SHORTEST and _is_telling(signature):
        yield signature


def _is_telling(signature: str) -> bool:
    return len(_LETTER.findall(signature)) >= _LETTERS


def _weight(signature: str) -> int:
    """How much a signature says: a class of error, a code and a place say more than a plain sentence."""
    weight = 3 if "Error" in signature or "Exception" in signature else 0
    weight += 2 if re.search(r"\bE[A-Z]{3,}\b", signature) else 0
    weight += 2 if re.search(r"[\w.-]/[\w.-]|\w\.\w{1,4}\b", signature) else 0
    weight += 1 if re.search(r"\b\d{3}\b|_", signature) else 0
    return weight - (1 if len(signature) > 120 else 0)
