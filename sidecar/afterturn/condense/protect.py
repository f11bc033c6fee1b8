"""Which calls are left verbatim (condense.md, 'Order of work', 2 and 3)."""

import re
from collections.abc import Sequence
from typing import Any, cast

_PATH_KEYS = ("path", "file_path", "filePath")
_REF_KEYS = ("refs", "ref", "toolCallIds", "toolCallId", "ids", "id")
_MAX_PATH = 4096


class Protection:
    """Which tools and paths are protected, made ready once for all the calls of a batch."""

    __slots__ = ("_paths", "_patterns", "_tools")

    def __init__(self, tools: Sequence[str], paths: Sequence[str]) -> None:
        r"""tools: names, exact or with `*`. paths: globs for whole paths, in which `\` reads as `/`.

        In a glob `*` and `?` stay within a segment, `**` goes across, `**/` is also no folder at all. Case counts.
        A path over 4,096 chars is never protected.
        """
        self._tools = frozenset(tool for tool in tools if "*" not in tool)
        self._patterns = [re.compile(_tool_regex(tool), re.DOTALL).fullmatch for tool in tools if "*" in tool]
        self._paths = [re.compile(_glob_regex(glob), re.DOTALL).fullmatch for glob in paths]

    def covers(self, tool_name: str, args: Any) -> bool:
        """Whether a call is protected by its tool or by the path in its args."""
        if tool_name in self._tools or any(matches(tool_name) for matches in self._patterns):
            return True
        if not self._paths or not isinstance(args, dict):
            return False
        named = cast(dict[str, Any], args)
        return any(isinstance(path := named.get(key), str) and self._covers_path(path) for key in _PATH_KEYS)

    def _covers_path(self, path: str) -> bool:
        return len(path) <= _MAX_PATH and any(matches(path.replace("\\", "/")) for matches in self._paths)


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


def _tool_regex(pattern: str) -> str:
    return ".*".join(map(re.escape, re.split(r"\*+", pattern)))


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
