"""Which calls are left verbatim (condense.md, 'Order of work', 2 and 3)."""

import json
from collections.abc import Sequence
from typing import Any, cast

from afterturn.condense.globs import NameGlob, PathGlob

_PATH_KEYS = ("path", "file_path", "filePath")
_REF_KEYS = ("refs", "ref", "toolCallIds", "toolCallId", "ids", "id")
_MAX_PATH = 4096


class Protection:
    """Which tools and paths are protected, made ready once for all the calls of a batch."""

    __slots__ = ("_paths", "_patterns", "_tools")

    def __init__(self, tools: Sequence[str], paths: Sequence[str]) -> None:
        """tools: names, exact or with `*`. paths: globs for whole paths. A path over 4,096 chars is never protected."""
        self._tools = frozenset(tool for tool in tools if "*" not in tool)
        self._patterns = [NameGlob(tool) for tool in tools if "*" in tool]
        self._paths = [PathGlob(glob) for glob in paths]

    def covers(self, tool_name: str, args: Any) -> bool:
        """Whether a call is protected by its tool or by the path in its args."""
        if tool_name in self._tools or any(pattern.matches(tool_name) for pattern in self._patterns):
            return True
        if not self._paths:
            return False
        named = _named(args)
        return any(isinstance(path := named.get(key), str) and self._covers_path(path) for key in _PATH_KEYS)

    def _covers_path(self, path: str) -> bool:
        return len(path) <= _MAX_PATH and any(glob.matches(path) for glob in self._paths)


def recovered_refs(args: Any) -> list[str]:
    """The refs that a call of the recovery tool asked for, in order, as they were written."""
    named = _named(args)
    for key in _REF_KEYS:
        value = named.get(key)
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return [ref for ref in cast(list[Any], value) if isinstance(ref, str)]
    return []


def _named(args: Any) -> dict[str, Any]:
    """Arguments by name, also where a host hands on the JSON text that its model wrote; none where there are none."""
    if isinstance(args, str) and args.lstrip().startswith("{"):
        try:
            args = json.loads(args)
        except (ValueError, RecursionError):
            return {}
    return cast(dict[str, Any], args) if isinstance(args, dict) else {}
