"""Source text: what it imports, what it defines and where, which names it lives on."""

import re
from itertools import chain, islice

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import MAX_NAME_CHARS, by_score, is_common, looks_random, naming
from afterturn.condense.extract.outline import Outline, outline_of
from afterturn.condense.extract.sight import Sight

_MANY_OPTIONS = 5
# A definition that is named so seldom is worth no more than the ones before it.
_MOST_RANKED = 120
# Files that the text names in quotes, and options of a command line.
_PATH_LITERAL = re.compile(r"\.{0,2}/?(?:[\w@-]+/)+[\w.-]+\.\w{1,6}")
_OPTION = re.compile(r"--[a-z][a-z0-9]+(?:-[a-z0-9]+)*")


def read(view: Sight, digest: Digest) -> None:
    """Add extent, imports, definitions and the names that occur most."""
    lines = view.lines.numbered
    outline = outline_of(lines)
    if lines.numbers is None:
        digest.count_lines(lines.texts)
    else:
        digest.outcome.append(_extent([number for number in lines.numbers if number]))
    ranked = by_score(view.lines.counts, defined=outline.defined, wanted=view.wanted)
    best = list(islice(ranked, _MOST_RANKED)) if outline.defined or outline.headings or outline.keys else []
    _add_outline(outline, best, digest)
    _add_literals(view, outline, digest)
    words = chain(best, ranked)
    rest = naming((word for word in words if word not in outline.defined) if outline.defined else words, view.known)
    digest.names.append(Group("names", rest, " ", bare=True))


def _extent(numbers: list[str]) -> str:
    return f"lines {numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else f"line {numbers[0]}"


def _add_outline(outline: Outline, ranked: list[str], digest: Digest) -> None:
    place = {name: at for at, name in enumerate(ranked)}
    keys = {} if outline.defined or outline.headings else outline.keys
    for heading, found in (("defines", outline.defined), ("headings", outline.headings), ("keys", keys)):
        names = [name for name in found if not looks_random(name) and not is_common(name)]
        order = {name: at for at, name in enumerate(names)}
        best = sorted(names, key=lambda name: place.get(name, _MOST_RANKED))
        pieces = [f"{name} {found[name]}" if found[name] else name for name in best]
        digest.names.append(Group(heading, pieces, order=[order[name] for name in best], share=60))
    digest.names.append(Group("imports", list(outline.imports), share=30))


def _add_literals(view: Sight, outline: Outline, digest: Digest) -> None:
    """Files that the text names in quotes, and the options of a command line if it has many."""
    in_quotes = view.text.replace("'", '"').replace("`", '"').split('"') if "/" in view.text else []
    slashed = dict.fromkeys([text for text in in_quotes if "/" in text and "." in text and " " not in text])
    paths = [text for text in slashed if _PATH_LITERAL.fullmatch(text) is not None and text not in outline.imports]
    digest.names.append(Group("paths", paths, share=25))
    if view.text.count("--") >= _MANY_OPTIONS:
        text = view.text[:MAX_NAME_CHARS]
        # Looking back is left to us, so that the search can skip to the dashes.
        found = (match for match in _OPTION.finditer(text) if not _goes_on(text, match.start()))
        options = dict.fromkeys(match[0] for match in found)
        if len(options) >= _MANY_OPTIONS:
            digest.names.append(Group("options", list(options), share=25))


def _goes_on(text: str, at: int) -> bool:
    """Whether what stands at `at` is the rest of a word."""
    before = text[at - 1 : at]
    return before.isalnum() or before in ("_", "-")
