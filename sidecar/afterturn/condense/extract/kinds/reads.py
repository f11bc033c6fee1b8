"""Tools that show a file."""

from afterturn.condense.extract.call import COMMAND, PATH, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.messages import error_lines
from afterturn.condense.extract.names import names_near
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
        lines = view.lines.numbered
        add_problems(view.lines if lines.numbers is None else Lines("\n".join(lines.texts)), digest)
    look(view, digest, shape)
    lines = view.lines.numbered
    if lines.numbers is not None and (asked := _asked_line(call)) in lines.numbers:
        near = names_near(lines.texts, lines.numbers.index(asked))
        digest.names.insert(0, Group("near", list(dict.fromkeys(near)), " ", bare=True, share=40))
    return digest


def _asked_line(call: Call) -> str:
    """The number of the one line that the call asks for, as `open a.py 12` does; "-" if it asks for none."""
    words = call.arg(COMMAND).split()
    return call.arg(("linenumber",)) or (words[-1] if len(words) > 1 and words[0] in ("open", "goto") else "-")
