"""Shell commands and whatever they run."""

import re

from afterturn.condense.extract.call import COMMAND, Call
from afterturn.condense.extract.command import main_pipelines
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.lenses import packages, vcs
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.problems import add_problems
from afterturn.condense.extract.shape import is_log, shape_of
from afterturn.condense.extract.sight import Sight, sight_of
from afterturn.condense.extract.weights import error_weight
from afterturn.condense.extract.words import words

# A running command is asked about by a handle.
_HANDLES = ("taskid", "bashid", "shellid", "sessionid", "processid", "description")
_PROGRAM_SHAPES = {
    **dict.fromkeys(words("cat sed head tail nl bat less more awk cut tac open"), "read"),
    **dict.fromkeys(words("grep rg ag ack egrep fgrep ugrep zgrep"), "hits"),
    **dict.fromkeys(words("ls find fd fdfind tree eza exa locate"), "paths"),
    "jq": "json",
    **dict.fromkeys(("curl", "wget", "http"), "shape"),
}
_GIT_SHAPES = {
    "diff": "diff",
    "show": "diff",
    "grep": "hits",
    "ls-files": "paths",
    "ls-tree": "paths",
    "blame": "read",
    "log": "log",
}
_GIT_FACTS = words(
    "status log commit push pull fetch merge rebase checkout switch branch stash add reset cherry-pick"
    " revert tag reflog mv rm clone"
)
# A line or so beside what the other commands print.
_ASIDE = words("wc pwd date whoami uname hostname file stat du")
# Output of these is text that was stored somewhere: an "error" in it is content, not news.
_TOLD_BY_SHAPE = words("diff json jsonl html numbered markdown")
_LONG_COMMAND = 80
_CHANGE_FOLDER = re.compile(r"cd [^\s;&|]{1,300} *(?:&&|;|\n) *(?=\S)")
_COUNT = re.compile(r" *\d+(?: +\d+){0,2} [\w./@+~-]+")
# The reading programs, as they begin a line to complain.
_COMPLAINT = re.compile(
    r"\n(?:cat: |sed: |head: |tail: |grep: |rg: |ls: |find: |/bin/|bash: |sh: |zsh: |fatal: |tree: |awk: )"
)
_FEW_LINES = 5
_SHORT = 300
_CONTENT = frozenset(("read", "hits", "paths", "diff", "log"))


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    command = call.arg(COMMAND) or call.raw
    digest = Digest(subject=_subject(command) or call.arg(_HANDLES), outcome=outcome_of(call, ran=True))
    if not call.body.strip():
        digest.outcome.append("no output")
        return digest
    view = sight_of(call, command, wanted)
    every = main_pipelines(command)
    shapes = _shapes_of(every)
    shape = next(iter(shapes)) if len(shapes) == 1 else ""
    failed = call.is_error or call.output.exit_code not in (None, "0")
    content = shape in _CONTENT and not any(is_log(word) for word in command.split())
    if not (content and (_complaints(view, digest) or not failed)):
        # What a diff holds is content; only what stands before it is news.
        news = Lines(view.text[:start]) if (start := _diff_start(view.text)) >= 0 else view.lines
        add_problems(news, digest, failing=failed)
    if "git" in shapes or "log" in shapes or (" changed" in view.text and vcs.finds(view)):
        of_problems, digest.facts = digest.facts, []
        vcs.read(view, digest)
        digest.facts = of_problems + digest.facts if failed else digest.facts + of_problems
    if "packages" in shapes:
        packages.read(view, digest)
    if len(every) > 1 and any(line[0][0] == "wc" for line in every):
        counted = [line.strip() for line in view.text.split("\n", _FEW_LINES)[:_FEW_LINES] if _COUNT.fullmatch(line)]
        digest.facts.append(Group("counts", counted, " | "))
    _look(view, digest, shape)
    return digest


def _diff_start(text: str) -> int:
    return 0 if text.startswith("diff --git ") else text.find("\ndiff --git ")


def _subject(command: str) -> str:
    """The command, without the change of folder that many begin with if it is long: the rest tells more."""
    match = _CHANGE_FOLDER.match(command)
    return command[match.end() :] if match is not None and len(command) > _LONG_COMMAND else command


def _look(view: Sight, digest: Digest, shape: str) -> None:
    if shape == "read" and view.call.output.chars < _SHORT and "\n" not in view.text.strip():
        look(view, digest, "plain")
    elif shape == "read":
        found = shape_of(view.text)
        look(view, digest, "code" if found in ("plain", "hits", "paths") else found)
    elif shape == "diff" and shape_of(view.text) != "diff":
        look(view, digest)
    elif shape in ("hits", "paths", "diff"):
        look(view, digest, shape)
    else:
        found = shape_of(view.text, marked=shape != "shape")
        # The end of a run says more than its shape, which is mixed.
        look(view, digest, found if found in _TOLD_BY_SHAPE or shape == "shape" else "plain")


def _shapes_of(every: list[list[list[str]]]) -> dict[str, None]:
    """What the main commands print, each shape once; "" for those that may print anything."""
    shapes: dict[str, None] = {}
    for pipeline in [line for line in every if line[0][0] not in _ASIDE] or every:
        found = _program_shape(pipeline[0])
        # What passes a filter is still what the first command printed: commits, paths, the output of a failed run. Only
        # text that was stored somewhere is in pieces then.
        if found in ("read", "diff") and any(_program_shape(line) == "hits" for line in pipeline[1:]):
            found = "hits"
        shapes.setdefault(found)
    return shapes


def _program_shape(line: list[str]) -> str:
    program = line[0]
    if program in ("git", "hg", "jj"):
        verb = next((word for word in line[1:] if not word.startswith("-") and "/" not in word and "=" not in word), "")
        if verb == "log" and any(word in ("-p", "--patch") for word in line):
            return "diff"
        return _GIT_SHAPES.get(verb, "git" if verb in _GIT_FACTS else "")
    if program in packages.PROGRAMS and any(word in packages.VERBS for word in line[1:4]):
        return "packages"
    if program == "sed" and any(word.startswith("-i") for word in line):
        return ""
    if program == "cat" and any(word.startswith((">", "<<")) for word in line):
        return ""
    return _PROGRAM_SHAPES.get(program, "")


def _complaints(view: Sight, digest: Digest) -> bool:
    """Add what the reading program itself complained of (`grep: x: No such file`), not what it read, if it did."""
    text = "\n" + view.text
    first: dict[str, int] = {}
    for match in _COMPLAINT.finditer(text):
        first.setdefault(match[0], match.start())
    complaints = [line for at in first.values() if error_weight(line := text[at + 1 : at + 400].partition("\n")[0])]
    if complaints:
        digest.facts.append(Group("errors", list(dict.fromkeys(complaints)), " | "))
    return bool(complaints)
