"""Tools that list files."""

from afterturn.condense.extract.call import COMMAND, PATH, PATTERN, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import nothing_found, outcome_of
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    pattern, where = call.arg(PATTERN), call.arg(PATH)
    subject = f"{pattern} in {where}" if pattern and where and pattern != where else pattern or where
    digest = Digest(subject=subject or call.arg(COMMAND) or call.raw, outcome=outcome_of(call))
    if nothing_found(call):
        return digest
    if not call.body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, subject, wanted)
    if call.is_error:
        digest.facts.append(Group("says", first_lines(view.lines.all, 2), " | ", cut=True))
        return digest
    look(view, digest, "json" if shape_of(call.body) == "json" else "paths")
    return digest
