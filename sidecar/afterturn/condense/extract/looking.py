"""From a shape to the lens that reads it."""

from afterturn.condense.extract.digest import Digest
from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.lenses import code, data, diff, hits, markup, paths, plain
from afterturn.condense.extract.shape import shape_of
from afterturn.condense.extract.sight import Sight


def look(view: Sight, digest: Digest, shape: str = "") -> None:
    """Read the output with the lens of its shape, or of the given one."""
    shape = shape or shape_of(view.text)
    if shape == "numbered":
        view, shape = _without_numbers(view)
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


def _without_numbers(view: Sight) -> tuple[Sight, str]:
    """A numbered view of data is read as the data; of anything else, as numbered text."""
    pairs, _ = code.split_numbers(view.lines.all)
    first = next((text.strip() for _, text in pairs if text.strip()), "")
    if first[:1] not in ("{", "["):
        return view, "numbered"
    text = "\n".join(text for _, text in pairs)
    shape = shape_of(text)
    if shape not in ("json", "jsonl") or (shape == "json" and data.decode(text) is None):
        return view, "numbered"
    return Sight(view.call, Lines(text), view.wanted, view.known, text), shape


_LENSES = {
    "diff": diff.read,
    "html": markup.read,
    "markdown": markup.read,
    "numbered": code.read,
    "code": code.read,
    "hits": hits.read,
    "paths": paths.read,
}
