"""Tools that fetch pages, search the web or drive a browser."""

import re

from afterturn.condense.extract.call import ASK, COMMAND, QUERY, URL, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines
from afterturn.condense.extract.words import holds_any
from afterturn.text import cut_words

# Tools that read a page for the agent answer in words, also when they could not do it.
_REFUSED = re.compile(
    r"\bI(?: apologi[sz]e|(?: am|'m) (?:unable|not able|sorry)|(?: cannot| can't| could not| do not have)) "
)
# A sentence that says what the page does not tell.
_MISSING = re.compile(
    r"\b(?:(?:do|does|did)(?: not|n't) (?:\w+ly )?(?:contain|include|describe|provide|mention|specify|show|list"
    r"|appear|have)"
    r"|[Nn]o [\w -]{1,40} (?:is|are|was|were) (?:included|found|mentioned|provided|given|available|listed)"
    r"|cannot (?:locate|find|determine|access)|(?:was|were|is|are) not (?:found|available|included|mentioned))\b"
)
# One of these is in every such sentence; to look for them is quicker than the pattern.
_MISSING_WORDS = (
    *(" not ", "n't ", "cannot ", "found", "included", "mentioned", "provided", "given", "available", "listed"),
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SHORT = 300
_FEW_LINES = 20
# A longer result is a page and no answer.
_ANSWER_CHARS = 6000
_LINE_CHARS = 600
_SAID_CHARS = 120


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    subject = call.arg(URL) or call.arg(QUERY) or call.arg(ASK) or call.arg(COMMAND) or call.raw
    digest = Digest(subject=subject, outcome=outcome_of(call))
    if not call.body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, subject, wanted)
    refused = [line.strip() for line in view.lines.all[:_FEW_LINES] if _refuses(line[:400])]
    if call.is_error or call.output.chars < _SHORT or refused:
        digest.facts.append(Group("says", [*refused, *first_lines(view.lines.all, 2)], " | ", cut=True))
        return digest
    if call.output.chars < _ANSWER_CHARS:
        digest.facts.append(Group("missing", _missing(view.lines.all)))
    shape = shape_of(call.body)
    look(view, digest, shape if shape in ("json", "code", "numbered", "diff") else "html")
    return digest


def _refuses(line: str) -> bool:
    return ("I " in line or "I'" in line) and _REFUSED.search(line) is not None


def _missing(lines: list[str]) -> list[str]:
    """The first sentence that says what is missing, shortened; or none."""
    for line in lines:
        text = line[:_LINE_CHARS]
        if holds_any(text, _MISSING_WORDS) and _MISSING.search(text) is not None:
            said = next((said for said in _SENTENCE.split(text) if _MISSING.search(said)), "")
            return [cut_words(said.strip(), _SAID_CHARS)] if said else []
    return []
