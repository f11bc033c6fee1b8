"""Tools that fetch pages, search the web or drive a browser."""

import re

from afterturn.condense.extract.call import ASK, COMMAND, QUERY, URL, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines

# Tools that read a page for the agent answer in words, also when they could not do it.
_REFUSED = re.compile(
    r"\bI(?: apologi[sz]e|(?: am|'m) (?:unable|not able|sorry)|(?: cannot| can't| could not| do not have)) "
)
_SHORT = 300
_FEW_LINES = 20


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    subject = call.arg(URL) or call.arg(QUERY) or call.arg(ASK) or call.arg(COMMAND) or call.raw
    digest = Digest(subject=subject, outcome=outcome_of(call))
    if not call.body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, subject, wanted)
    refused = [line.strip() for line in view.lines.all[:_FEW_LINES] if _REFUSED.search(line[:400]) is not None]
    if call.is_error or call.output.chars < _SHORT or refused:
        digest.facts.append(Group("says", [*refused, *first_lines(view.lines.all, 2)], " | ", cut=True))
        return digest
    shape = shape_of(call.body)
    look(view, digest, shape if shape in ("json", "code", "numbered", "diff") else "html")
    return digest
