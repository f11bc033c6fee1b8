"""What a summary says that its source does not, and refs that stand where they should not."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from afterturn.replay.stream import Call

from .facts import plain
from .tokens import flat

# The one form in which a bullet may hold a count of the product's own (afterturn.condense.extract says so).
_COUNTED = re.compile(r"\(\d+ lines\)")
_REF = re.compile(r"`([tb]\d+)`")
_LEADING = re.compile(r"^\s*[-*]\s+`(t\d+)`\s?")
_QUOTED = re.compile(r"`([^`\n]{3,})`|\"([^\"\n]{3,})\"|(?<![\w])'([^'\n]{3,})'(?![\w])|“([^”\n]{3,})”")
_PATH = re.compile(r"(?:[\w.@~+-]*/)+[\w.@+-]*\w|\b[\w-]+\.[A-Za-z]{1,5}\b(?=:\d)")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]{2,}(?![\w])")
_NAME = re.compile(r"[\w./@+~-]*[\w+-]\.[A-Za-z]\w{0,7}\b|\b[A-Z]\w*file\b")
_GIVEN = re.compile(r"(?P<file>[\w./@+~-]*[\w+-]\.[A-Za-z]\w{0,7}|\b[A-Z]\w*file)(?P<lines>(?::|: |\()\d[\d:,() -]*)")
_LINE_NUMBER = re.compile(r"^\s*(?:L|Line )?0*(\d+)(?=[:\t→|│ -])", re.MULTILINE)
_CUT = "…"


class Segment(NamedTuple):
    """The lines of a summary that belong to one ref: from the bullet it stands on to the next ref."""

    ref: str
    text: str


def segments(body: str) -> list[Segment]:
    """The segments of a summary without its footer; lines before the first ref belong to none and are left out."""
    found: list[Segment] = []
    for line in body.split("\n"):
        lead = _LEADING.match(line)
        if lead and (not found or lead[1] != found[-1].ref):
            found.append(Segment(lead[1], line[lead.end() :]))
        elif found:
            found[-1] = Segment(found[-1].ref, f"{found[-1].text}\n{_LEADING.sub('', line)}")
    return found


def made_up(text: str, call: Call, known_refs: Sequence[str] = ()) -> list[str]:
    """Literals of a summary of `call` that are neither in its name, its arguments nor its result.

    Looked at are quoted strings, paths, hashes, numbers of three digits and more, and refs. Whitespace does not
    count, a text cut with `…` is compared piece by piece, and a count of lines in its fixed form is let pass.
    """
    source = _squeezed(f"{call.tool_name}\n{flat(call.args)}\n{call.result_text or ''}")
    text = plain(text)
    wrong = [ref for ref in _REF.findall(text) if ref not in known_refs]
    text = _REF.sub(" ", text)
    for found in _QUOTED.finditer(text):
        quoted = next(group for group in found.groups() if group)
        wrong += [piece for piece in quoted.split(_CUT) if len(piece.strip()) > 2 and _squeezed(piece) not in source]
    uncounted = _COUNTED.sub(" ", text)
    for pattern in (_PATH, _HASH, _NUMBER):
        wrong += [literal for literal in pattern.findall(uncounted) if not _stands(literal, source)]
    return list(dict.fromkeys(wrong))


def misplaced(text: str, call: Call) -> list[str]:
    """Lines that a summary gives for a file, as ``file:12, 34``, which its source does not give for that file.

    The source gives a line for a file when the number stands after the file's name with no other file between that
    the summary names, or when the arguments name the file and the number begins a line of the result.
    """
    told = {found["file"].rsplit("/", 1)[-1] for found in _GIVEN.finditer(plain(text))}
    given = {(name, line) for name, lines in _places(plain(call.result_text or ""), told) for line in lines}
    numbered = set(_LINE_NUMBER.findall(call.result_text or ""))
    named = {path.rsplit("/", 1)[-1] for path in _NAME.findall(plain(flat(call.args)))}
    wrong: list[str] = []
    for found in _GIVEN.finditer(plain(text)):
        name = found["file"].rsplit("/", 1)[-1]
        for line in _lines(found["lines"]):
            if (name, line) not in given and not (name in named and line in numbered):
                wrong.append(f"{name}:{line}")
    return list(dict.fromkeys(wrong))


def _places(source: str, told: set[str]) -> list[tuple[str, set[str]]]:
    """Each of the files in the text with the numbers that stand between it and the next one."""
    names = [found for found in _NAME.finditer(source) if found[0].rsplit("/", 1)[-1] in told]
    ends = [*(found.start() for found in names), len(source)][1:]
    return [
        (found[0].rsplit("/", 1)[-1], set(re.findall(r"\d+", source[found.end() : end])))
        for found, end in zip(names, ends, strict=True)
    ]


def _lines(run: str) -> list[str]:
    """The line numbers of ``12, 34:5, (6,7), 8-9``: of each place the first number, of a range both."""
    found: list[str] = []
    for place in re.split(r", (?=[\d(])", run):
        numbers = re.findall(r"\d+", place)
        found += numbers[:2] if "-" in place else numbers[:1]
    return found


def _stands(literal: str, source: str) -> bool:
    return _squeezed(literal) in source or literal.replace(",", "") in source


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", plain(text))


def wrong_refs(result: dict[str, Any], calls: Sequence[Call]) -> list[str]:
    """Refs in a result's summary that do not stand on a bullet of their own call; and a footer that is not its refs.

    A bullet is of its call when no literal in it is foreign to that call: not to its name, arguments or result.
    """
    body, _, footer = result["summaryText"].rpartition("\n\n---\n")
    refs = [ref["shortId"] for ref in result["refs"]]
    wrong = [] if _REF.findall(footer.split("\n", 1)[0]) == refs else ["footer"]
    by_ref = {item["shortId"]: item for item in result["items"] if item["state"] == "condensed"}
    for segment in segments(body):
        item = by_ref.get(segment.ref)
        if item is None or segment.ref not in refs or made_up(segment.text, calls[item["index"]], refs):
            wrong.append(segment.ref)
    return wrong
