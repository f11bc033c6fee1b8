"""Output of no known shape: names, paths and the lines at its end."""

from collections.abc import Iterable
from itertools import chain

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import by_score, naming, paths_in
from afterturn.condense.extract.places import own_first
from afterturn.condense.extract.sight import Sight
from afterturn.condense.extract.tail import last_lines
from afterturn.text import cut_words

# So little is told whole.
_FEW_CHARS = 320


def read(view: Sight, digest: Digest) -> None:
    lines = view.lines.all
    digest.count_lines(lines)
    ends = last_lines(lines, 2 if view.call.output.chars > _FEW_CHARS else 8)
    if ends:
        order = [*range(len(ends), 0, -1)]
        # As totals are told, so that none is told twice.
        shown = [cut_words(line.strip("= "), 160) for line in reversed(ends)]
        digest.facts.append(Group("ends", shown, " | ", share=35, order=order, cut=True))
    _add_names(view, digest)


def _add_names(view: Sight, digest: Digest) -> None:
    """Paths and identifiers, the most useful first."""

    def paths() -> Iterable[str]:
        found = (path for path in paths_in(view.text) if path not in view.known)
        if view.wanted.isdisjoint(view.lines.counts):
            return own_first(found)
        every = list(found)
        return chain((path for path in every if _stem(path) in view.wanted), own_first(every))

    def names() -> Iterable[str]:
        return naming(by_score(view.lines.counts, wanted=view.wanted), view.known)

    digest.names.append(Group("paths", paths, share=50))
    digest.names.append(Group("names", names, " ", bare=True))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
