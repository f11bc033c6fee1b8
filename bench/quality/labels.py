"""A second extractor of facts, for all calls, so that recall is not only measured on the few labelled by hand.

It shares nothing with the product's extractor, on purpose, neither code nor patterns. It is simple: what it labels
is what a person would call the outcome of a call, and no more than a dozen facts for one call.
"""

import re
from typing import Any

from afterturn.replay.stream import Call

from .facts import Fact, plain

_READ = frozenset(
    ("awk", "bat", "cat", "head", "jq", "less", "more", "nl", "od", "sed", "strings", "tail", "wc", "xxd")
)
_SEARCH = frozenset(("ag", "fd", "find", "grep", "ls", "rg", "tree"))
_READ_TOOLS = ("read", "view", "open", "goto", "scroll", "fetch", "search_web", "websearch", "web_search", "task")
_SEARCH_TOOLS = ("grep", "glob", "search", "find", "ls", "list")
_EDIT_TOOLS = ("edit", "write", "create", "patch", "replace", "insert")
_PATH_ARGS = ("file_path", "filePath", "path", "filename")

_LOCATED = re.compile(r"(?P<file>[\w./@+-]*[\w+-]\.\w{1,8})(?::(?P<a>\d+)|\((?P<b>\d+)(?:,\d+)?\))(?::\d+)?:?\s*")
_STRONG = re.compile(
    r"^(?:npm error (?!path|workspace|location|command|code)|npm ERR! (?!path|code)|error(?:\[\w+\])?: |fatal: |E: )\S"
    r"|(?:^|: |\): )(?:fatal )?error(?: TS\d+)?: \S"
    r"|^(?:[\w]+\.)*[A-Z]\w*(?:Error|Exception|Warning): \S|^AssertionError$"
)
_WEAK = re.compile(
    r"\b(?:error|fatal|failed|failure|cannot|could not|unable to|not found|no such file|denied|refused|invalid)\b",
    re.IGNORECASE,
)
# Lines of a code frame, and a harness's way of saying that there was no error.
_NO_ERROR = re.compile(r">? ?\d+ ?[│|]|Error: \(none\)")
_EXIT = re.compile(
    r"(?:exit(?:ed with)?(?: code| status)?|return ?code|completed with exit code)\W{1,3}(-?\d+)", re.IGNORECASE
)
_TOTALS = re.compile(
    r"\b\d+ (?:passed|failed|failures?|errors?|exceptions?|skipped|warnings?|tests?|examples?|expected to fail)\b"
)
_FRAME = re.compile(r'^\s*File "([^"<>]+)", line (\d+)', re.MULTILINE)
_DIFFED = re.compile(r"^diff --git a/(\S+) b/\S+$|^ (?:create|delete) mode \d+ (\S+)$|^[MAD] (\S+)$", re.MULTILINE)
_MATCH = re.compile(r"^(?:(?P<file>[\w./@+-]+\.\w{1,8}):)(?P<line>\d+)[:-]", re.MULTILINE)


def second_extractor(call: Call) -> list[Fact]:
    """The facts of one call: of a command its errors, exit code, test totals, the places of the errors, and what it
    changed; of an edit the file; of a search its first places; of a read or a web page only that it failed."""
    text = call.result_text or ""
    role = _role(call)
    facts: list[Fact] = []
    if role == "edit":
        facts += [Fact("changed", path) for path in _paths(call.args)[:1]]
    if role == "search":
        facts += _matches(text)
    if role == "run" or call.is_error:
        facts += _exit(text) + _errors(text, failing=call.is_error or bool(_exit(text))) + _totals(text)
    if role == "run":
        changed = [next(group for group in found if group) for found in _DIFFED.findall(text)]
        facts += [Fact("changed", path) for path in dict.fromkeys(changed)][:5]
    return list(dict.fromkeys(facts))


def _role(call: Call) -> str:
    name = call.tool_name.lower()
    args: dict[str, Any] = call.args if isinstance(call.args, dict) else {}
    command = args.get("command", args.get("cmd"))
    if name == "str_replace_editor":
        return "read" if command == "view" else "edit"
    if any(name.startswith(word) or f"_{word}" in name for word in _READ_TOOLS):
        return "read"
    if any(name.startswith(word) for word in _EDIT_TOOLS) or name in ("multiedit", "apply_patch", "notebookedit"):
        return "edit"
    if any(name.startswith(word) for word in _SEARCH_TOOLS):
        return "search"
    if isinstance(command, str):
        return _role_of(command)
    return "run"


def _role_of(command: str) -> str:
    for part in re.split(r"&&|\|\||[;|\n]", command):
        words = part.split()
        while words and (words[0] in ("cd", "sudo", "time") or "=" in words[0]):
            words = [] if words[0] == "cd" else words[1:]
        if words:
            program = words[0].rsplit("/", 1)[-1]
            in_place = program == "sed" and any(word.startswith("-i") for word in words)
            if program in _READ and not in_place:
                return "read"
            return "search" if program in _SEARCH else "run"
    return "run"


def _paths(args: Any) -> list[str]:
    return [args[key] for key in _PATH_ARGS if isinstance(args.get(key), str)] if isinstance(args, dict) else []


def _matches(text: str) -> list[Fact]:
    return [Fact("location", f"{found['file']}:{found['line']}") for found in _MATCH.finditer(text)][:3]


def _exit(text: str) -> list[Fact]:
    """The last exit code in the head or the tail, unless it says that all is well."""
    codes = [found[1] for found in _EXIT.finditer(plain(text[:600]) + "\n" + plain(text[-600:]))]
    return [Fact("exit", codes[-1])] if codes and codes[-1] not in ("0", "-1") else []


def _errors(text: str, *, failing: bool) -> list[Fact]:
    """The first and the last error line without its place, and the places; weak signs count only in what failed."""
    lines = [plain(line).removeprefix("E ").removeprefix("Output: ") for line in re.split(r"[\r\n]", text)]
    lines = [line for line in lines if not _NO_ERROR.match(line)]
    found = [line for line in lines if len(line) < 600 and _STRONG.search(line)]
    if not found and failing:
        found = [line for line in lines if len(line) < 600 and _WEAK.search(line)]
    facts: list[Fact] = []
    for line in found[:1] + found[-1:]:
        place = _LOCATED.search(line)
        core = line[place.end() :] if place and place.start() < 4 else line
        facts.append(Fact("error", _head(core, 60)))
        if place:
            facts.append(Fact("location", f"{place['file']}:{place['a'] or place['b']}"))
    frames = _FRAME.findall(text)
    if found and frames:
        facts.append(Fact("location", f"{frames[-1][0]}:{frames[-1][1]}"))
    return facts


def _head(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return text[:limit].rsplit(" ", 1)[0]


def _totals(text: str) -> list[Fact]:
    """The counts of the last line that has any, in the last 3,000 characters."""
    for line in reversed(text[-3000:].split("\n")):
        counts = _TOTALS.findall(plain(line))
        if counts and len(line) < 300:
            return [Fact("totals", count) for count in counts]
    return []
