"""Tools that change files."""

import re

from afterturn.condense.extract.call import COMMAND, PATH, PATTERN, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.lenses import hits
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.problems import add_problems
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines, last_lines

_PATCH = ("patchtext", "patch", "diff", "input", "content")
_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ (?:b/)?)(\S.*?)\s*$", re.MULTILINE
)
_SHORT = 700


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    path = call.arg(PATH)
    patch = call.raw or next((call.args[name] for name in _PATCH if "\n" in call.args.get(name, "")), "")
    touched = list(dict.fromkeys(name for name in _PATCHED.findall(patch) if name != "/dev/null"))
    digest = Digest(
        subject=path or " ".join(touched) or call.arg(COMMAND) or patch or call.arg(PATTERN), outcome=outcome_of(call)
    )
    body = call.body
    if not body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, digest.subject, wanted)
    says = first_lines(view.lines.all, 1 if call.output.chars > _SHORT else 2)
    if call.is_error:
        # What was looked for stands in the middle, and after it why it was not found.
        says = list(dict.fromkeys([*says, *last_lines(view.lines.all, 1)]))
    if says:
        digest.facts.append(Group("says", says, " | ", share=50, cut=True))
    if call.is_error:
        return digest
    joined = hits.every_joined(view.lines.all)
    if joined is not None:
        add_problems(view.lines, digest, with_places=False)
        hits.tell(joined, view, digest)
        return digest
    shape = shape_of(body)
    # Diagnostics stand beside the view of the edited lines, which is content.
    shown = view.lines.numbered
    if shown.numbers is None:
        add_problems(view.lines, digest, with_places=shape != "hits")
    else:
        said = [text for text, number in zip(shown.texts, shown.numbers, strict=True) if not number]
        add_problems(Lines("\n".join(said)), digest)
    if call.output.chars <= _SHORT:
        return digest
    if shape == "diff":
        look(view, digest, shape)
        return digest
    look(view, digest, "code" if shape in ("plain", "numbered", "code") else shape)
    return digest
