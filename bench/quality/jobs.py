"""The figures of the other two jobs (evaluation.md, 'Quality'): recap, alpha and search."""

from pathlib import Path

from bench.recap.made import recaps

from .alpha import graded
from .figures import Share
from .search import FIRST, queries, searched


def jobs_table(folder: Path, harness: str | None) -> str:
    """Runs all three and tells what came of it. folder: for their stores. harness: only what is of this one."""
    recap: dict[str, Share] = {}
    for made in recaps(harness):
        recap.setdefault(made.harness, Share()).add(int(not made.problems), 1)
    search: dict[str, Share] = {}
    for found in searched(folder / "search", queries()):
        name = found.query.file.partition("/")[0]
        if harness in (None, name):
            near = found.place is not None and found.place <= FIRST
            search.setdefault(name, Share()).add(int(near), 1)
    ordered, valid = Share(), Share()
    for each in graded(folder / "alpha"):
        ordered.add(int(each.ordered), 1)
        valid.add(int(each.valid), 1)
    names = sorted({*recap, *search})
    rows = [("harness", "recap", "search")]
    rows += [(name, _told(recap.get(name)), _told(search.get(name))) for name in names]
    rows += [("all", _told(_sum(recap)), _told(_sum(search))), ("to reach", "100%", ">=80%")]
    lines = [f"{name:<16}{first:<17}{second}".rstrip() for name, first, second in rows]
    lines.append(f"alpha: order {_told(ordered)}, validity {_told(valid)}; to reach 100%")
    return "\n".join(lines) + _LEGEND


_LEGEND = f"""

recap    at every gap over two minutes and at the end: short, names the task, claims nothing that no step shows
search   the right trace among the first {FIRST} of all, for queries written without knowledge of the search
alpha    the same step with a concrete, a generic, a contradicting and an empty reflection
"""


def _sum(shares: dict[str, Share]) -> Share:
    whole = Share()
    for share in shares.values():
        whole.add(share.part, share.whole)
    return whole


def _told(share: Share | None) -> str:
    return "-" if share is None or share.value is None else f"{share.part}/{share.whole} {share.value:.1%}"
