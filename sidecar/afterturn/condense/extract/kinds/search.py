"""Tools that search files."""

from afterturn.condense.extract.call import COMMAND, PATH, PATTERN, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.lenses import hits
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import nothing_found, outcome_of
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    pattern = call.arg(PATTERN) or call.arg(COMMAND) or call.raw
    where = call.arg(PATH) or call.arg(("include", "glob"))
    digest = Digest(
        subject=f"{pattern} in {where}" if where and where != pattern else pattern, outcome=outcome_of(call)
    )
    body = call.body
    if nothing_found(call):
        return digest
    if not body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, pattern, wanted)
    if call.is_error or (call.output.chars < 200 and "\n" not in body.strip() and ":" not in body):
        digest.facts.append(Group("says", first_lines(view.lines.all, 2), " | ", cut=True))
        return digest
    joined = hits.every_joined(view.lines.all)
    if joined is not None:
        hits.tell(joined, view, digest)
        return digest
    shape = shape_of(body)
    look(view, digest, shape if shape in ("json", "markdown", "paths") else "hits")
    return digest
