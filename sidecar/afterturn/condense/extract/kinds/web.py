"""Tools that fetch pages, search the web or drive a browser."""

from afterturn.condense.extract.call import ASK, COMMAND, QUERY, URL, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    subject = call.arg(URL) or call.arg(QUERY) or call.arg(ASK) or call.arg(COMMAND) or call.raw
    digest = Digest(subject=subject, outcome=outcome_of(call))
    if not call.body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, subject, wanted)
    if call.is_error or call.output.chars < 300:
        digest.facts.append(Group("says", first_lines(view.lines.all, 2), " | ", cut=True))
        return digest
    shape = shape_of(call.body)
    look(view, digest, shape if shape in ("json", "code", "numbered", "diff") else "html")
    return digest
