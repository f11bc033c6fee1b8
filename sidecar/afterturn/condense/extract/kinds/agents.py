"""Sub-agents, skills and questions to the user: the result is a report in prose."""

from afterturn.condense.extract.call import ASK, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines

_SHORT = 400


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    digest = Digest(subject=call.arg(ASK), outcome=outcome_of(call))
    if not call.body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, digest.subject, wanted)
    if call.output.chars <= _SHORT:
        digest.facts.append(Group("says", first_lines(view.lines.all, 3), " | ", cut=True))
        return digest
    look(view, digest, "markdown")
    return digest
