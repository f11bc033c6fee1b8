"""What went wrong and how it summed up, in the output of anything that runs: shells, tests, compilers, linters."""

import re
from collections.abc import Sequence
from itertools import islice

from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.hot import CHANGED_WORDS, Lines
from afterturn.condense.extract.messages import error_lines, without_place
from afterturn.condense.extract.places import are_safe, places_in
from afterturn.condense.extract.render import room_for
from afterturn.condense.extract.weights import is_warning

# One test's failure, in the spelling of its runner.
_FAILED_TEST = re.compile(
    r"^((?:FAILED|ERROR) \S+(?:::\S+)+)|^((?:FAIL|ERROR): (?:\S+ \([\w.]+\)|\S+))|^\s*--- FAIL: (\S+)"
    r"|^test (\S+) \.\.\. FAILED"
    r"|^\s*(?:[\u00d7\u2717\u2716\u2715]|\u25cf) (\S.{2,160}?)(?: \(?\d+ ?ms\)?)?$"
    r"|^not ok \d+ -? ?(\S.{0,160})|^(\S+) [EF]$|^ {1,4}\d+\) (test \S.{0,160}|\S.{4,160})$"
    r"|^(\w[\w.]* \([\w.]+\)) \.\.\. (?:FAIL|ERROR)|^\[ +FAILED +\] (\S+)|^\s*FAIL\s{1,4}(\S+)"
    r"|^_{3,} (\S.{0,120}?) _{3,}$|^(?:\s*\d+/\d+ )?Test +#\d+: (\S+) \.*\*+Failed"
)
_IN_CLASS = re.compile(r"(FAIL: |ERROR: )?(\S.*) \((\w[\w.]*)\)")
_FAIL_WORDS = (" f\n", " e\n", "\n___")
_TESTS = re.compile(
    r"test|passed|passing|failing|examples?|specs?\b|suites?|FAILED|^(?:ok|FAIL)\s|BUILD|# (?:pass|fail)", re.IGNORECASE
)
_CHANGED = re.compile(
    r"\n(?:Applied edit to|(?:Successfully )?(?:[Cc]reated|[Uu]pdated|[Dd]eleted|[Ww]rote|[Mm]odified"
    r"|[Rr]emoved|[Mm]oved|[Rr]enamed|reformatted|rewrote)"
    r"(?: (?:file|to))?:?) (\S{1,300})"
)
_MAX_TOTALS = 8
_MOST_LOOKED_AT = 60
_MOST_LINES = 2000
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PLACES_SHARE = 75
# Some are told without their path.
_PLACES_ROOM = 85


def totals(lines: Lines) -> tuple[list[str], list[str]]:
    """Lines that sum up a run, the last ones first: they count for the whole.

    Of those that differ in numbers only, the last ones come first; the others are given apart, the first of each sort
    before those between.
    """
    sorts: dict[str, dict[str, None]] = {}
    for index in reversed(lines.totals[-_MOST_LOOKED_AT:]):
        line = lines.all[index].strip()
        if len(line) < 300:
            text = line.strip("=- ")
            sorts.setdefault(_NUMBER.sub("", text), {}).setdefault(text)
            if len(sorts) >= _MAX_TOTALS:
                break
    alike = [list(texts) for texts in sorts.values()]
    others = [*[texts[-1] for texts in alike if len(texts) > 1], *[text for texts in alike for text in texts[1:-1]]]
    return [texts[0] for texts in alike], others[:_MAX_TOTALS]


def failed_tests(lines: Lines, sums: Sequence[str]) -> list[str]:
    """Names of tests that failed, as their runner prints them; none where `sums` speak of no tests."""
    found: dict[str, None] = {}
    if not any(_TESTS.search(total) for total in sums):
        return []
    candidates = {*lines.suspects, *lines.holding(_FAIL_WORDS)}
    if "1) " in lines.text:
        candidates.update(at for at, line in enumerate(lines.all) if line[:1] == " " and ") " in line[:9])
    every = lines.all
    for index in sorted(candidates):
        line = every[index]
        if len(line) > 300:
            continue
        match = _FAILED_TEST.match(line.rstrip())
        if match is not None:
            name = next((part for part in match.groups() if part), "")
            if name and not name.endswith(":"):
                found.setdefault(name.rstrip())
        if len(found) >= 60:
            break
    # Runners print a bare name as they go and the full one with the failure.
    full = {name.rpartition(":")[2] for name in found if ":" in name}
    return [name for name in found if name not in full]


def problem_places(lines: Lines, room: int) -> list[str]:
    """`file:line` of errors first, then of any other line worth reading, grouped by file, installed files last.

    In all not many more chars than `room`.

    To the lines of errors belong the innermost frames of tracebacks, even in installed files.
    """
    frames = [lines.all[at] for end in lines.raised for at in range(max(0, end - 4), end) if 'File "' in lines.all[at]]
    hot = [lines.all[index] for index, weight in lines.errors if weight >= 2]
    near = places_in("\n".join([*hot[:1], *hot[-1:], *hot, *frames]))
    for path, place in places_in(lines.text, room).items():
        if path not in near:
            near[path] = place
        elif not place.vendored:
            near[path].joined.update(place.joined)
            near[path].lines.update(place.lines)
    own = [path for path in near if not near[path].vendored]
    innermost = [path for path in places_in("\n".join(frames)) if path not in own] if frames else []
    return [near[path].written() for path in dict.fromkeys([*own[:1], *innermost[-1:], *own, *near])]


def add_problems(lines: Lines, digest: Digest, *, with_places: bool = True, failing: bool = False) -> None:
    """All of it, as facts in order of value.

    `failing`: the run failed, so that something in the output says why.
    `with_places`: tell where; not if whoever reads the rest tells all places anyway.
    """
    sums, other_sums = totals(lines)
    failed = failed_tests(lines, sums)
    errors = error_lines(lines, [*failed, *sums, *other_sums])
    plain_ones = [text for message in errors if message.weight > 1 for text in message.written()]
    plain_ones += [message.often for message in errors if message.weight > 1 and message.often != message.text]
    news = (message for message in errors if message.weight > 1 and not message.again)
    digest.problems += sum(message.variants for message in news) + len(failed) // 4
    lesser = [message.text for message in errors if message.weight == 1 and not message.text.startswith("Traceback")]
    warnings = [text for text in lesser if is_warning(text)]
    changed = _changed(lines)

    def places() -> list[str]:
        return problem_places(lines, room_for(len(lines.text), digest.problems).facts * _PLACES_ROOM // 100)

    groups = [
        Group("changed", changed),
        Group("at", places if with_places else [], "; ", share=_PLACES_SHARE, cut=True, safe=are_safe(lines.text)),
    ]
    if failing or sums or errors:
        groups = [
            Group("totals", sums, " | ", share=50),
            Group("errors", plain_ones, " | ", share=50, cut=True),
            Group("failed", _short_names(failed), share=60),
            *groups,
            Group("told", located(lines) if failing and not plain_ones else [], " | ", share=50, cut=True),
            Group("warnings", warnings, " | ", share=50),
            Group("errors", plain_ones, " | ", share=80),
            Group("totals", other_sums, " | ", share=50),
        ]
    digest.facts.extend(group for group in groups if group.pieces)
    if len(lesser) > len(warnings):
        digest.names.append(Group("also", [text for text in lesser if not is_warning(text)], " | ", share=30))


def located(lines: Lines) -> list[str]:
    """What is told of places in files, in no words that errors are told with: findings of linters."""
    said = (text for line in lines.all[:_MOST_LINES] if ":" in line and (text := without_place(line)) != line)
    return list(dict.fromkeys(islice(said, _MAX_TOTALS)))


def _changed(lines: Lines) -> list[str]:
    """Paths that a line says were written."""
    if lines.words.isdisjoint(CHANGED_WORDS):
        return []
    named = dict.fromkeys(path.strip("\"'`.,:") for path in _CHANGED.findall("\n" + lines.text))
    return [path for path in named if "/" in path or "." in path]


def _short_names(names: list[str]) -> list[str]:
    """Tests of one file or class after another: it is told with the first of them only.

    `a.py::test_b` is split before the last name, `FAIL: test_b (a.Case)` before the class.
    """
    short: list[str] = []
    before = ""
    for name in names:
        in_class = _IN_CLASS.fullmatch(name)
        head, colon, last = name.rpartition(":") if name[-1:] != ")" else ("", "", "")
        if in_class is not None:
            head, last = (in_class[1] or "") + in_class[3].removesuffix("." + in_class[2]), in_class[2]
        elif not colon:
            head = ""
        short.append(last if head and head == before and last else name)
        before = head
    return short
