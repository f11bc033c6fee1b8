"""Source text: what it imports, what it defines and where, which names it lives on."""

import re

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import MAX_NAME_CHARS, by_score, is_common, looks_random, naming
from afterturn.condense.extract.numbering import split_numbers
from afterturn.condense.extract.outline import Outline, outline_of
from afterturn.condense.extract.sight import Sight

_MAX_LINES = 8000
_MANY_OPTIONS = 5
# A definition that is named so seldom is worth no more than the ones before it.
_MOST_RANKED = 120
# Files that the text names in quotes, and options of a command line.
_PATH_LITERAL = re.compile(r"[\"'`](\.{0,2}/?(?:[\w@-]+/)+[\w.-]+\.\w{1,6})[\"'`]")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9]+(?:-[a-z0-9]+)*")


def read(view: Sight, digest: Digest) -> None:
    """Add extent, imports, definitions and the names that occur most."""
    lines = split_numbers(view.lines.all)
    outline = outline_of(lines)
    if lines.numbers is None:
        digest.count_lines(lines.texts)
    else:
        digest.outcome.append(_extent([number for number in lines.numbers if number]))
    ranked = by_score(view.lines.counts, defined=outline.defined, wanted=view.wanted)
    _add_outline(outline, ranked, digest)
    _add_literals(view, outline, digest)
    rest = naming((name for name in ranked if name not in outline.defined), view.known)
    digest.names.append(Group("names", lambda: rest, " ", bare=True))


def _extent(numbers: list[str]) -> str:
    return f"lines {numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else f"line {numbers[0]}"


def _add_outline(outline: Outline, ranked: list[str], digest: Digest) -> None:
    place = {name: at for at, name in enumerate(ranked[:_MOST_RANKED])}
    keys = {} if outline.defined or outline.headings else outline.keys
    for heading, found in (("defines", outline.defined), ("headings", outline.headings), ("keys", keys)):
        names = [name for name in found if not looks_random(name) and not is_common(name)]
        order = {name: at for at, name in enumerate(names)}
        best = sorted(names, key=lambda name: (place.get(name, _MOST_RANKED), order[name]))
        pieces = [f"{name} {found[name]}" if found[name] else name for name in best]
        digest.names.append(Group(heading, pieces, order=[order[name] for name in best], share=60))
    digest.names.append(Group("imports", list(outline.imports), share=30))


def _add_literals(view: Sight, outline: Outline, digest: Digest) -> None:
    """Files that the text names in quotes, and the options of a command line if it has many."""
    lines = view.lines.all[:_MAX_LINES] if "/" in view.text else []
    quoting = "\n".join([line for line in lines if "/" in line and len(line) < 400])
    paths = dict.fromkeys(path for path in _PATH_LITERAL.findall(quoting) if path not in outline.imports)
    digest.names.append(Group("paths", list(paths), share=25))
    if view.text.count("--") >= _MANY_OPTIONS:
        options = dict.fromkeys(_OPTION.findall(view.text[:MAX_NAME_CHARS]))
        if len(options) >= _MANY_OPTIONS:
            digest.names.append(Group("options", list(options), share=25))
