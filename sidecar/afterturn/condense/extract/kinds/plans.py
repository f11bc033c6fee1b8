"""Tools that keep a plan or a list of tasks: the result only confirms what the arguments say."""

from typing import Any, cast

from afterturn.condense.extract.call import ASK, Call
from afterturn.condense.extract.digest import Digest, Group
from afterturn.condense.extract.lenses.data import decode
from afterturn.condense.extract.looking import look
from afterturn.condense.extract.outcome import outcome_of
from afterturn.condense.extract.sight import sight_of
from afterturn.condense.extract.tail import first_lines

_CONFIRMATION = 500
_TEXTS = ("content", "title", "subject", "step", "description")


def extract(call: Call, wanted: frozenset[str]) -> Digest:
    digest = Digest(subject=call.arg(ASK), outcome=outcome_of(call))
    items = _items(decode(call.body))
    if items:
        digest.names.append(Group("tasks", items, " | "))
        return digest
    view = sight_of(call, digest.subject, wanted)
    if call.output.chars <= _CONFIRMATION:
        says = first_lines(view.lines.all, 2)
        if says:
            digest.facts.append(Group("says", says, " | ", cut=True))
        return digest
    says = [line.partition(". ")[0] for line in first_lines(view.lines.all, 1)]
    digest.facts.append(Group("says", says, share=50, cut=True))
    look(view, digest, "markdown")
    return digest


def _items(value: Any) -> list[str]:
    """`status: text` of each task of a JSON list, the unfinished first."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        value = fields.get("todos", fields.get("tasks"))
    if not isinstance(value, list):
        return []
    unfinished: list[str] = []
    done: list[str] = []
    for row in cast("list[Any]", value):
        fields = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
        text = next((fields[name] for name in _TEXTS if isinstance(fields.get(name), str)), None)
        status = fields.get("status")
        if isinstance(text, str) and isinstance(status, str):
            (done if status in ("completed", "done") else unfinished).append(f"{status}: {text[:120]}")
    return unfinished + done
