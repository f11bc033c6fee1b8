"""From a shape to the lens that reads it."""

from afterturn.condense.extract.digest import Digest
from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.lenses import code, data, diff, hits, markup, paths, plain
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import Sight


def look(view: Sight, digest: Digest, shape: str = "") -> None:
    """Read the output with the lens of its shape, or of the given one."""
    shape = shape or shape_of(view.text)
    if shape in ("numbered", "table"):
        view, shape = _without_numbers(view, shape)
    if shape == "json":
        value = data.decode(view.text)
        if value is None:
            data.read_broken_json(view, digest)
        else:
            data.read_json(view, digest, value)
    elif shape == "jsonl":
        data.read_broken_json(view, digest)
    elif shape == "table":
        data.read_table(view, digest)
    else:
        _LENSES.get(shape, plain.read)(view, digest)


def _without_numbers(view: Sight, shape: str) -> tuple[Sight, str]:
    """A numbered view of data is read as the data; of anything else, as numbered text."""
    lines = view.lines.numbered
    if lines.numbers is None:
        return view, shape
    text = "\n".join(lines.texts).strip()
    found = shape if shape == "table" else shape_of(text)
    if found not in ("json", "jsonl", "table") or (found == "json" and data.decode(text) is None):
        return view, "numbered"
    return Sight(view.call, Lines(text), view.wanted, view.known, text), found


_LENSES = {
    "diff": diff.read,
    "html": markup.read,
    "markdown": markup.read,
    "numbered": code.read,
    "code": code.read,
    "hits": hits.read,
    "paths": paths.read,
}
