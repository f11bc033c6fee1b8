"""Refs as callers write them (condense.md, 'resolveRef')."""

import re

from afterturn.condense.ports import RefQuery

_SHORT = re.compile(r"([tb])([1-9][0-9]{0,17})")
_TIMED = re.compile(r"(?s)(.+)@(-?[0-9]{1,18})")


def short_id(number: int) -> str:
    """The short ref with this number."""
    return f"t{number}"


def block_id(number: int) -> str:
    """The ref of the block with this number."""
    return f"b{number}"


def parse_ref(ref: str) -> RefQuery:
    """Every way `ref` can be read: `tN`, `bN`, `id@resultTimestamp` (split at the last `@`), a raw toolCallId.

    Backticks and blanks around it are left off, because agents copy them along.
    """
    bare = ref.strip().strip("`").strip()
    found = _SHORT.fullmatch(bare)
    if found is not None:
        number = int(found[2])
        return RefQuery(raw=bare, short=number) if found[1] == "t" else RefQuery(raw=bare, block=number)
    timed = _TIMED.fullmatch(bare)
    if timed is not None:
        return RefQuery(raw=bare, call_id=timed[1], at=int(timed[2]))
    return RefQuery(raw=bare)


def label_of(tool_call_id: str, result_timestamp: int | None) -> str:
    """What tells the occurrences of a toolCallId apart; resolves to exactly that one."""
    return tool_call_id if result_timestamp is None else f"{tool_call_id}@{result_timestamp}"
