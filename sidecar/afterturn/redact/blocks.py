"""Block values: what YAML and Terraform put on the lines below a name."""

import re

_START = re.compile(r"[|>][+-]?\d?[+-]?[ \t]{0,8}(?:#[^\n]{0,80})?\r?\n(?:[ \t]{0,64}\r?\n){0,4}")
_INDENT = re.compile(r"[ \t]{1,64}(?=\S)")
_BEFORE_KEY = re.compile(r"[ \t]*(?:- )?[\"']?\Z")
_BEFORE = 80
# Chars of a value that are looked at before it is known to be a secret.
_LOOK = 512
_VARIABLE = re.compile(r"\"[ \t]{0,8}\{(?:[^{}\n]{0,120}\n){0,6}?[^{}\n]{0,120}?\bdefault[ \t]{0,8}=[ \t]{0,8}\"")


def yaml_block(text: str, key: int, at: int) -> tuple[int, int] | None:
    """Start and end of the first line of the block scalar at `at`, the value of the key at `key`; None if none is."""
    opened = _START.match(text, at)
    indent = _INDENT.match(text, opened.end()) if opened else None
    if not indent:
        return None
    start = max(0, key - _BEFORE)
    line = text.rfind("\n", start, key) + 1
    if (not line and start) or not _BEFORE_KEY.match(text, line, key):
        return None
    if len(indent[0]) <= key - line - (text[key - 1 : key] in ("'", '"')):
        return None
    end = text.find("\n", indent.end(), indent.end() + _LOOK)
    return indent.end(), (end if end >= 0 else min(len(text), indent.end() + _LOOK))


def block_end(text: str, start: int) -> int:
    """Where the block ends whose first line begins at `start`: lines as deep as it, and empty ones, belong to it."""
    indent = text[text.rfind("\n", max(0, start - _BEFORE), start) + 1 : start]
    end = text.find("\n", start)
    while end >= 0 and text.startswith(indent, end + 1):
        last = text.find("\n", end + 1)
        if last < 0:
            return len(text)
        end = last
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1] == "\r" else end


def variable_default(text: str, end: int) -> int | None:
    """Where the default begins of the Terraform variable whose name ends at `end`."""
    found = _VARIABLE.match(text, end)
    return found.end() if found else None
