"""A second capture of an episode beside what is stored of it (capture.md, 'Reflection', 'Durability').

Which steps have to be scored again, and a rule that never makes a trace worse. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from afterturn.capture.judging import is_scored
from afterturn.capture.rows import TraceRow
from afterturn_protocol.traces import Reflection

Fate = Literal["same", "new"]
_SOURCES = ("none", "synth", "extracted", "adapter")


class Difference(Struct, frozen=True):
    """How a revision differs from the rows that are stored.

    fates: for each step "same" (its row is there with the same content) or "new" (no row, or other content).
    superseded: ids of rows that the revision does not have any more and that were not superseded before.
    """

    fates: Sequence[Fate]
    superseded: Sequence[str]


def difference(steps: Sequence[tuple[str, bytes]], known: Mapping[str, TraceRow]) -> Difference:
    """Compare steps, each a trace id and its content, with the rows of an episode by id."""
    fates: list[Fate] = []
    for trace_id, content in steps:
        row = known.get(trace_id)
        fates.append("same" if row is not None and row.content == content else "new")
    ids = {trace_id for trace_id, _ in steps}
    gone = [trace_id for trace_id, row in known.items() if trace_id not in ids and not row.trace.superseded]
    return Difference(fates, gone)


def better(old: Reflection, new: Reflection) -> Reflection:
    """The reflection that stays, of two for the same content.

    Other words from the host replace what was there. Else what came from the step itself goes before what a model
    wrote, that before nothing, scored before unscored, and new before old.
    """
    if new.source == "adapter" and new.text != old.text:
        return new
    return old if _rank(old) > _rank(new) else new


def _rank(reflection: Reflection) -> tuple[int, bool, bool]:
    source = _SOURCES.index(reflection.source) if reflection.source in _SOURCES else 0
    return source, is_scored(reflection), reflection.prompt_version is not None


def merged(old: TraceRow, new: TraceRow) -> TraceRow:
    """The row that stays, of two with one id. Value, priority and a person's rating are never capture's to change."""
    kept = replace(
        new.trace, value=old.trace.value, priority=old.trace.priority, r_human=old.trace.r_human, superseded=False
    )
    if old.content != new.content:
        return replace(new, trace=kept)
    kept = replace(kept, reflection=better(old.trace.reflection, new.trace.reflection))
    if new.summary_vector is not None or new.action_vector is not None:
        return replace(new, trace=kept)
    return TraceRow(
        trace=replace(kept, vectors=old.trace.vectors),
        content=new.content,
        summary_vector=old.summary_vector,
        action_vector=old.action_vector,
    )
