"""Output of no known shape: names, paths and the lines at its end."""

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.names import paths_in, rank_names
from afterturn.condense.extract.places import is_vendored
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
        shown = [cut_words(line, 160) for line in reversed(ends)]
        digest.facts.append(Group("ends", shown, " | ", share=35, order=order, cut=True))
    add_names(view, digest, lines)


def add_names(view: Sight, digest: Digest, lines: list[str]) -> None:
    """Paths and identifiers of `lines`, the most useful first."""

    def paths() -> list[str]:
        return _by_use([path for path in paths_in(lines[:3000]) if path not in view.known], view.wanted)[:200]

    def names() -> list[str]:
        return rank_names("\n".join(lines), wanted=view.wanted, known=view.known)

    digest.names.append(Group("paths", paths, share=50))
    digest.names.append(Group("names", names, " ", bare=True))


def _by_use(paths: list[str], wanted: frozenset[str]) -> list[str]:
    return sorted(paths, key=lambda path: (path.rpartition("/")[2].partition(".")[0] not in wanted, is_vendored(path)))
