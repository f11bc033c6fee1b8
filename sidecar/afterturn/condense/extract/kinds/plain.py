"""Tools of no known kind: the shape of what they return decides."""

from afterturn.condense.extract.call import ASK, COMMAND, PATH, PATTERN, QUERY, URL, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.problems import add_problems
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines

_SHORT = 300


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    subject = (
        call.arg((*URL, *PATH, *PATTERN, *QUERY, *COMMAND, *ASK)) or call.raw or next(iter(call.args.values()), "")
    )
    digest = Digest(subject=subject, outcome=outcome_of(call, ran=True))
    if not call.body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, subject, wanted)
    if call.output.chars <= _SHORT:
        digest.facts.append(Group("says", first_lines(view.lines.all, 2), " | ", cut=True))
        return digest
    add_problems(view.lines, digest)
    look(view, digest)
    return digest
