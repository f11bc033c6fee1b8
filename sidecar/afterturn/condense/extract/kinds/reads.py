"""Tools that show a file."""

from afterturn.condense.extract.call import COMMAND, PATH, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.messages import error_lines
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.problems import add_problems
from afterturn.condense.extract.shape import is_log, shape_of_file
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines

_EXTENT = ("offset", "limit", "startline", "endline", "viewrange", "lines")
_IMAGE = ("[image", "data:image/", "<image", "image/", "[Image")


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    path = call.arg(PATH) or call.arg(COMMAND) or call.raw
    extent = " ".join(
        f"{name}={call.args[name]}" for name in _EXTENT if name in call.args and len(call.args[name]) < 30
    )
    digest = Digest(subject=f"{path} {extent}".strip(), outcome=outcome_of(call))
    body = call.body
    if not body.strip():
        digest.outcome.append("empty" if not call.output.notes else "")
        return digest
    view = sight_of(call, path, wanted)
    if call.is_error or (call.output.chars < 400 and "\n" not in body.strip()):
        digest.facts.append(
            Group(
                "says",
                [message.text for message in error_lines(view.lines)] or first_lines(view.lines.all, 2),
                " | ",
                cut=True,
            )
        )
        return digest
    if body.lstrip()[:12].startswith(_IMAGE):
        digest.outcome.append("image")
        return digest
    shape = shape_of_file(path, body)
    if is_log(path):
        add_problems(view.lines, digest)
    look(view, digest, shape)
    return digest
