"""Which calls are left verbatim (condense.md, 'Order of work', 2 and 3)."""

import re
from collections.abc import Sequence
from typing import Any, cast

_PATH_KEYS = ("path", "file_path", "filePath")
_REF_KEYS = ("refs", "ref", "toolCallIds", "toolCallId", "ids", "id")
_MAX_PATH = 4096


def is_protected(tool_name: str, args: Any, tools: Sequence[str], paths: Sequence[str]) -> bool:
    """Whether a call is protected by its tool (exact, or with `*`) or by the path in its args."""
    if any(_tool_matches(tool_name, pattern) for pattern in tools):
        return True
    if not paths or not isinstance(args, dict):
        return False
    named = cast(dict[str, Any], args)
    return any(
        isinstance(path := named.get(key), str) and any(path_matches(path, glob) for glob in paths)
        for key in _PATH_KEYS
    )


def path_matches(path: str, glob: str) -> bool:
    r"""Whether the whole path matches: `*` and `?` within a segment, `**` across, `**/` also no folder.

    `\` in the path reads as `/`; case counts. A path over 4,096 chars matches nothing.
    """
    if len(path) > _MAX_PATH:
        return False
    return re.fullmatch(_glob_regex(glob), path.replace("\\", "/"), re.DOTALL) is not None


def recovered_refs(args: Any) -> list[str]:
    """The refs that a call of the recovery tool asked for, in order, as they were written."""
    if not isinstance(args, dict):
        return []
    named = cast(dict[str, Any], args)
    for key in _REF_KEYS:
        value = named.get(key)
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return [ref for ref in cast(list[Any], value) if isinstance(ref, str)]
    return []


def _tool_matches(tool_name: str, pattern: str) -> bool:
    if "*" not in pattern:
        return tool_name == pattern
    return re.fullmatch(".*".join(map(re.escape, re.split(r"\*+", pattern))), tool_name, re.DOTALL) is not None


def _glob_regex(glob: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            parts.append("(?:.*/)?")
            at += 3
        elif glob.startswith("**", at):
            parts.append(".*")
            at += 2
        else:
            char = glob[at]
            parts.append("[^/]*" if char == "*" else "[^/]" if char == "?" else re.escape(char))
            at += 1
    return "".join(parts)
