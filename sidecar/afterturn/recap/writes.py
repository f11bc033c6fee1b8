"""Which files a tool call writes."""

import re
from functools import cache

from afterturn.recap.steps import arguments, command_of
from afterturn_protocol.base import ToolUse

_WRITERS = ("write", "edit", "create", "patch", "replace", "insert", "update_file", "notebook", "append", "save")
_NO_WRITERS = ("todo", "memory", "plan", "think", "task")
_READ_COMMANDS = ("view", "read", "open", "undo_edit")
_PATH_KEYS = (
    "file_path",
    "filePath",
    "path",
    "filename",
    "file",
    "notebook_path",
    "target_file",
    "absolute_path",
    "uri",
)
_READ = 200_000
_MAX_PATHS = 50


def written_paths(call: ToolUse) -> list[str]:
    """The paths that `call` writes, as it names them, in order; those of a shell as far as the line shows them."""
    command = command_of(call)
    if command is not None:
        patched = _patched(command) if "*** " in command else []
        return list(dict.fromkeys([*patched, *_shell_writes(command)]))[:_MAX_PATHS]
    name = call.name.lower()
    if not any(word in name for word in _WRITERS) or any(word in name for word in _NO_WRITERS):
        return []
    if isinstance(call.input, str):
        return _patched(call.input)
    named = arguments(call)
    if named.get("command") in _READ_COMMANDS:
        return []
    path = path_of(call)
    if path is not None:
        return [path]
    texts = [each for each in named.values() if isinstance(each, str)]
    return list(dict.fromkeys(path for text in texts[:10] for path in _patched(text)))[:_MAX_PATHS]


def path_of(call: ToolUse) -> str | None:
    """The one file or folder that a call's arguments name, to read it or to write it."""
    named = arguments(call)
    return next((value for key in _PATH_KEYS if isinstance(value := named.get(key), str) and value), None)


def _patched(text: str) -> list[str]:
    return list(dict.fromkeys(path for path in _patch().findall(text[:_READ]) if path != "/dev/null"))[:_MAX_PATHS]


def _shell_writes(command: str) -> list[str]:
    found = [path for match in _redirect().finditer(command) for path in match.groups() if path]
    return [path.strip("\"'") for path in found if not path.startswith(("/dev/", "&", "$", "/proc/"))]


@cache
def _patch() -> re.Pattern[str]:
    return re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ (?:b/)?)(\S.*?)\s*$", re.M)


@cache
def _redirect() -> re.Pattern[str]:
    # A here-document, `cat > file`, `tee file`, `sed -i ... file`: other redirections mostly catch output.
    return re.compile(
        r"\bcat\s*>>?\s*([\w./~+@-]+)|\bcat\s*<<[^\n>]{0,40}>>?\s*([\w./~+@-]+)|\btee\s+(?:-a\s+)?([\w./~+@-]+)"
        r"|\bsed\s+-i\S*\s+(?:-e\s+)?(?:'[^'\n]{0,400}'|\"[^\"\n]{0,400}\")\s+([\w./~+@-]+)"
        r"|^(?:create|edit)\s+([\w./~+@-]+\.\w+)",
        re.MULTILINE,
    )
