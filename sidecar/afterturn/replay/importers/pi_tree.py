"""The tree of a pi session file, v2 and v3: which of its entries lie on the path to the last one."""

from typing import Any

import msgspec

from afterturn.replay.importers.fields import obj, optional, text
from afterturn.replay.json_values import decoded_values
from afterturn.replay.source import Source


class _Link(msgspec.Struct, rename="camel"):
    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    target_id: str | None = None
    replacement: Any = ""


class Tree:
    """Reads the links of all entries once; a few tens of bytes are kept of each."""

    __slots__ = ("_branch", "_on_path", "_parents", "omitted")

    def __init__(self, source: Source) -> None:
        self.omitted: set[str] = set()
        """Entries that a later edit took out of the context."""
        self._parents: dict[str, str | None] = {}
        self._branch: dict[str, str] = {}
        leaf: str | None = None
        for _, line in source.lines():
            link = _link(line)
            if link is None or link.type == "session":
                continue
            if link.id:
                # A parent that cannot be read must not cut the path: what stood before takes its place.
                known = link.parent_id is None or link.parent_id in self._parents
                self._parents[link.id] = link.parent_id if known else leaf
                leaf = link.id
            if link.type == "context_edit" and link.target_id and link.replacement is None:
                self.omitted.add(link.target_id)
        self._on_path: set[str] = set()
        while leaf is not None and leaf not in self._on_path:
            self._on_path.add(leaf)
            leaf = self._parents.get(leaf)

    def branch(self, entry_id: str) -> str | None:
        """The first entry of the branch that an entry lies on, None on the path; asked of each entry, in file order."""
        if entry_id in self._on_path or entry_id not in self._parents:
            return None
        parent = self._parents[entry_id] or ""
        return self._branch.setdefault(entry_id, self._branch.get(parent, entry_id))


def _link(line: bytes | None) -> _Link | None:
    if line is None or not line.strip():
        return None
    try:
        return msgspec.json.decode(line, type=_Link)
    except (ValueError, RecursionError):  # a lone surrogate, which only the slower decoder takes
        decoded = decoded_values(line)
        entry = obj(decoded[0] if decoded else None)
        return _Link(
            text(entry.get("type")),
            optional(entry.get("id")),
            optional(entry.get("parentId")),
            optional(entry.get("targetId")),
            entry.get("replacement", ""),
        )
